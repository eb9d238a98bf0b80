//! The curves of bandwidth against block size.

use super::findings::levels_found;
use super::{BLOCK_SIZE, FIRST_WRITE, READ, WRITE};
use crate::memory::caches;
use crate::memory::pages::{self, PAGES};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale, Mark};
use instrument::quantity::Unit;
use instrument::results::Results;

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let marks = marks(results);
    let figure = |metric: &str, title: &str| {
        let pages = [pages::base(results.machine), pages::huge(results.machine)];
        let lines = pages.into_iter().flatten().map(|pages| {
            results.series(
                &pages,
                metric,
                BLOCK_SIZE,
                &[(PAGES, pages.as_str().into())],
            )
        });
        Figure {
            key: metric.into(),
            title: title.into(),
            kind: FigureKind::Curve,
            x: FigureAxis {
                title: "block size".into(),
                unit: Some(Unit::Bytes),
                scale: FigureScale::Logarithmic,
            },
            y: FigureAxis {
                title: "bandwidth".into(),
                unit: Some(Unit::BytesPerSecond),
                scale: FigureScale::Logarithmic,
            },
            series: lines.collect(),
            marks: marks.clone(),
        }
    };
    vec![
        figure(READ, "Reading memory"),
        figure(WRITE, "Writing memory"),
        figure(FIRST_WRITE, "Writing memory for the first time"),
    ]
}

/// The capacities found and those documented.
fn marks(results: &Results) -> Vec<Mark> {
    let levels =
        pages::base(results.machine).map_or_else(Vec::new, |pages| levels_found(results, &pages));
    caches::marks(&levels, results.machine)
}
