//! User threads and kernel threads side by side, as several experiments compare them.

use crate::figures::{curves, lines};
use crate::prelude::*;

pub(super) const KIND: AxisOf<Kind> = AxisOf::new("kind", "kind of threads");
pub(super) const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Kernel,
}

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
    metric: Metric,
    kind: Kind,
) -> Vec<(Count, &'r Estimate)> {
    results.along(THREADS, metric, &[KIND.at(kind)])
}

/// `metric` of both kinds by the number of threads.
pub(super) fn figure(results: &Results, metric: Metric, title: &str) -> Figure {
    let lines = lines(results, metric, THREADS, KIND, &[]);
    curves(metric, title, (THREADS, metric), lines)
}

/// An experiment that needs user threads for its measurement. Each implements it next to its
/// measurement, in `measure/`, so that stored results can be read on every system.
pub(super) trait UserThreads {
    /// Measures one point, as `Experiment::measure` does.
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError>;
}

#[cfg(not(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    all(windows, target_arch = "x86_64")
)))]
impl<E> UserThreads for E {
    fn take(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported(
            "user-level threads are available only on Linux on x86-64 and aarch64, and on Windows on x86-64".into(),
        ))
    }
}
