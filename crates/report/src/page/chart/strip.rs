//! The small picture in a row of a table: the interval as a bar and each process as a dot, as
//! deviations from the centre, so that rows of all magnitudes can be compared by their noise.

use super::svg::{Dots, Px, Svg};
use instrument::results::Estimate;

/// Width and height in pixels.
const WIDTH: f64 = 132.0;
const HEIGHT: f64 = 16.0;
/// A strip never shows more than this to either side.
const WIDEST: f64 = 0.5;

/// The scale that the strips of one table share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    /// The deviation at either edge, over the centre.
    pub(crate) reach: f64,
}

impl Strip {
    /// A scale that fits three in four of `estimates`; what lies further stands at its ends.
    pub(crate) fn for_all<'e>(estimates: impl Iterator<Item = &'e Estimate>) -> Self {
        let mut furthest: Vec<f64> = estimates.filter_map(furthest).collect();
        furthest.sort_by(f64::total_cmp);
        // A few wild rows must not flatten all others.
        let most = furthest.get(furthest.len() * 3 / 4).copied().unwrap_or(0.0);
        let nice = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
        Self {
            reach: nice
                .into_iter()
                .find(|reach| most <= *reach)
                .unwrap_or(WIDEST),
        }
    }

    /// The strip of one estimate; `None` where it has no centre to deviate from.
    pub(crate) fn draw(self, estimate: &Estimate) -> Option<String> {
        let x = |value: f64| {
            let deviation = deviation(estimate, value)?;
            let part = (deviation / self.reach).clamp(-1.0, 1.0);
            Some(WIDTH / 2.0 + part * (WIDTH / 2.0 - 3.0))
        };
        x(estimate.centre)?;
        let mut svg = Svg::default();
        svg.open(
            "svg",
            &[
                ("class", &"strip"),
                ("viewBox", &format!("0 0 {} {}", Px(WIDTH), Px(HEIGHT))),
                ("aria-hidden", &"true"),
            ],
        );
        let ends = estimate
            .interval
            .and_then(|interval| Some((x(interval.low)?, x(interval.high)?)));
        if let Some((from, to)) = ends {
            let bar = format!(
                "M{} 3H{}V13H{}z",
                Px(from),
                Px(to.max(from + 1.0)),
                Px(from)
            );
            svg.element("path", &[("class", &"iv"), ("d", &bar)]);
        }
        let mut dots = Dots::default();
        for at in estimate.by_process.iter().filter_map(|value| x(*value)) {
            dots.add(at, HEIGHT / 2.0);
        }
        if !dots.is_empty() {
            svg.element("path", &[("class", &"dots"), ("d", &dots)]);
        }
        svg.close("svg");
        Some(svg.finish())
    }
}

fn deviation(estimate: &Estimate, value: f64) -> Option<f64> {
    let deviation = (value - estimate.centre) / estimate.centre.abs();
    deviation.is_finite().then_some(deviation)
}

fn furthest(estimate: &Estimate) -> Option<f64> {
    let ends = estimate
        .interval
        .into_iter()
        .flat_map(|interval| [interval.low, interval.high]);
    let values = ends.chain(estimate.by_process.iter().copied());
    values
        .filter_map(|value| deviation(estimate, value))
        .map(f64::abs)
        .reduce(f64::max)
}
