//! The costs of calls, alone and side by side.

use super::call::Call;
use super::definition::{RATE, point};
use crate::estimates::{grade, ratio, time_ns};
use crate::optimisation::Optimisation;
use crate::prelude::*;
use instrument::results::PointResult;

/// The rate of a call in a loop at optimisation 3.
pub(in crate::process) fn rate<'r>(results: &'r Results, call: Call) -> Option<&'r Estimate> {
    at_level(results, call, Optimisation::FULL)?.sound(RATE)
}

/// The results of a call in a loop of this optimisation level.
pub(super) fn at_level<'r>(
    results: &'r Results,
    call: Call,
    optimisation: Optimisation,
) -> Option<&'r PointResult> {
    let wanted = point(call, optimisation);
    results.points.iter().find(|result| result.point == wanted)
}

/// The time of a call.
pub(super) fn cost(results: &Results, call: Call) -> Option<Quantity> {
    time_ns(rate(results, call)?, 1.0)
}

/// The time of `call` over that of `other`.
pub(super) fn times(results: &Results, call: Call, other: Call) -> Option<Quantity> {
    ratio(rate(results, other)?, rate(results, call)?)
}

/// Two calls side by side.
pub(super) struct Compared {
    /// The time of the first.
    pub cost: Quantity,
    /// The time of the second.
    pub other: Quantity,
    /// The first over the second.
    pub times: Quantity,
}

/// A finding on two calls.
pub(super) fn comparison(
    results: &Results,
    key: &str,
    (call, other): (Call, Call),
    say: impl FnOnce(&Compared) -> Sentence,
) -> Option<Finding> {
    let compared = Compared {
        cost: cost(results, call)?,
        other: cost(results, other)?,
        times: times(results, call, other)?,
    };
    let finding = Finding::new(key, say(&compared))
        .beside("cost", compared.cost)
        .beside("other", compared.other)
        .beside("times", compared.times);
    Some(finding.graded(grade(&compared.times, 1.0)))
}
