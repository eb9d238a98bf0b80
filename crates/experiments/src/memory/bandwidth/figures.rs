//! The curves of bandwidth against block size.

use super::findings::caches_found;
use super::{BLOCK_SIZE, Backing, FIRST_WRITE, PAGES, READ, WRITE};
use crate::figures::{axis_of, curves, logarithmic};
use crate::memory::hierarchy::marks;
use crate::memory::pages::Pages;
use crate::prelude::*;

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let base = Pages::base(results.machine);
    let found = base.map_or_else(Vec::new, |base| caches_found(results, base));
    let marks = marks(&found, results.machine);
    let figure = |metric: Metric<&'static str>, title: &str| {
        let series = Pages::of_machine(results.machine).map(|pages| {
            let levels = [PAGES.at(Backing::Pages(pages))];
            results.series(&pages.to_string(), metric, BLOCK_SIZE, &levels)
        });
        let axes = (
            axis_of(BLOCK_SIZE),
            logarithmic("bandwidth", Unit::BytesPerSecond),
        );
        curves(metric, title, axes, series.collect(), marks.clone())
    };
    vec![
        figure(READ, "Reading memory"),
        figure(WRITE, "Writing memory"),
        figure(FIRST_WRITE, "Writing memory for the first time"),
    ]
}
