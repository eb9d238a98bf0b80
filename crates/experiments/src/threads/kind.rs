//! User threads and kernel threads side by side, as several experiments compare them.

use crate::figures::{axis_of, curves, scale_of};
use crate::prelude::*;

pub(super) const KIND: AxisOf<Kind> = AxisOf::new("kind", "kind of threads");
pub(super) const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

/// The kinds of threads.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Kernel,
}

/// The point of one kind with so many threads.
pub(super) fn point(kind: Kind, threads: u64) -> Point {
    Point::new().at(KIND, kind).at(THREADS, Count(threads))
}

/// The points of each kind with these numbers of threads.
pub(super) fn points(user: &[u64], kernel: &[u64]) -> Vec<Point> {
    let user = user.iter().map(|threads| point(Kind::User, *threads));
    let kernel = kernel.iter().map(|threads| point(Kind::Kernel, *threads));
    user.chain(kernel).collect()
}

/// Sound estimates of `metric` for one kind by the number of threads.
pub(super) fn curve<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    kind: Kind,
) -> Vec<(Count, &'r Estimate)> {
    results.along(THREADS, metric, &[KIND.at(kind)])
}

/// `metric` of both kinds by the number of threads.
pub(super) fn figure(results: &Results, metric: Metric<&'static str>, title: &str) -> Figure {
    let series = |kind: &Kind| results.series(kind.name(), metric, THREADS, &[KIND.at(*kind)]);
    let axes = (axis_of(THREADS), scale_of(metric));
    let series = Kind::ALL.iter().map(series).collect();
    curves(metric, title, axes, series, Vec::new())
}
