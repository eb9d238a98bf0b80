//! `process.ipc`: the cost of talking to another process.

pub(super) mod definition;
mod end;
pub(super) mod findings;
pub(super) mod mechanism;

use super::placement::{PLACEMENT, Placement, Sides};
use crate::prelude::*;
use definition::{BANDWIDTH, DESIGN, MECHANISM, MESSAGE, ROUND_TRIP};
use mechanism::Mechanism;
use platform::partner::Partner;
use std::hint::black_box;

/// The cost of talking to another process.
pub(crate) struct Ipc;

const KIB: u64 = 1 << 10;

/// Round trips before the first that is timed, where none takes a time slice.
const WARMING_ROUNDS: u32 = 200;

impl Experiment for Ipc {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// Messages of several sizes for the means that carry them, of the only size for the others.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let sizes: &[u64] = match setting.profile {
            Profile::Quick => &[1, 4 * KIB, 64 * KIB],
            Profile::Standard => &[1, 4 * KIB, 64 * KIB, 256 * KIB],
            Profile::Thorough => &[
                1,
                64,
                256,
                KIB,
                4 * KIB,
                16 * KIB,
                64 * KIB,
                256 * KIB,
                1024 * KIB,
            ],
        };
        let mut points = Vec::new();
        for &means in Mechanism::ALL {
            for &placement in Placement::ALL {
                let exchange = |message: u64| {
                    Point::new()
                        .at(MECHANISM, means)
                        .at(MESSAGE, Bytes(message))
                        .at(PLACEMENT, placement)
                };
                match means.fixed_message() {
                    Some(Bytes(only)) => points.push(exchange(only)),
                    None if waits_for_slices(means, placement) => points.push(exchange(sizes[0])),
                    None => points.extend(sizes.iter().copied().map(exchange)),
                }
            }
        }
        points
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (mechanism, placement) = (point.level(MECHANISM)?, point.level(PLACEMENT)?);
        let message = point.level(MESSAGE)?.0 as usize;
        let sides = placement.take(sampler)?;
        let waits_for_slices = waits_for_slices(mechanism, placement);
        let warming_rounds = if waits_for_slices { 1 } else { WARMING_ROUNDS };
        time_round_trips(mechanism, message, sides, warming_rounds, sampler)?;
        if mechanism.streams() && !waits_for_slices {
            time_stream(mechanism, message, sides, sampler)?;
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// True if each side spins until the scheduler takes the processor away from it.
fn waits_for_slices(mechanism: Mechanism, placement: Placement) -> bool {
    mechanism.spins() && placement == Placement::OneCore
}

/// Times single round trips to a partner and back.
fn time_round_trips(
    mechanism: Mechanism,
    message: usize,
    sides: Sides,
    warming_rounds: u32,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let (mut own, mut others) = mechanism.connect()?;
    let mut buffer = mechanism.message(message)?;
    let mut answer = buffer.clone();
    let _partner = Partner::start(sides.there, move || {
        while others.receive(&mut answer).is_ok() && others.send(&answer).is_ok() {}
    })?;
    let mut round = || {
        own.send(&buffer)?;
        own.receive(&mut buffer)
    };
    (0..warming_rounds).try_for_each(|_| round())?;
    sampler.latencies(ROUND_TRIP, round)
}

/// Times the receiving of messages that a partner sends back-to-back.
fn time_stream(
    mechanism: Mechanism,
    message: usize,
    sides: Sides,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let (mut own, mut others) = mechanism.connect()?;
    let outgoing = mechanism.message(message)?;
    let mut incoming = outgoing.clone();
    let _partner = Partner::start(sides.there, move || {
        while others.send(black_box(&outgoing)).is_ok() {}
    })?;
    sampler.repeat(BANDWIDTH, message as f64, |messages| {
        (0..messages).try_for_each(|_| own.receive(black_box(&mut incoming)))
    })
}

#[cfg(test)]
mod tests {
    use super::Ipc;
    use crate::made_up::setting;
    use crate::prelude::*;

    #[test]
    fn the_quick_profile_has_few_points_and_the_others_have_them_too() {
        let quick = Ipc.points(&setting(Profile::Quick));
        assert!(quick.len() <= 28, "{}", quick.len());
        let standard = Ipc.points(&setting(Profile::Standard));
        assert!(quick.iter().all(|point| standard.contains(point)));
    }
}
