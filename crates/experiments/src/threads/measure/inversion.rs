//! Three threads of three priorities, timed from inside.

use super::super::inversion::{CEILING, INHERITANCE, MIDDLE_OVERTAKES, MOMENTS, NONE, PROTOCOL};
use super::{refused, unknown};
use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;
use std::time::Duration;
use uthread::workload::{Inversion, Lanes};
use uthread::{Priority, Protocol};

const SLICE: Duration = Duration::from_micros(200);
/// Some five slices.
const STEPS: u64 = 500_000;

pub(in super::super) fn inversion(
    point: &Point,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let protocol = match point.choice(PROTOCOL)? {
        NONE => Protocol::None,
        INHERITANCE => Protocol::Inheritance,
        CEILING => Protocol::Ceiling(Priority::Red),
        other => return Err(unknown("protocol", other)),
    };
    let workload = Inversion {
        slice: SLICE,
        steps: STEPS,
        protocol,
    };
    for _ in 0..sampler.samples() {
        let lanes = workload.run().map_err(refused)?;
        for (metric, time_ns) in moments(&lanes) {
            sampler.value(metric, time_ns)?;
        }
        let overtakes = lanes.middle.ends_ns < lanes.high.ends_ns;
        sampler.value(MIDDLE_OVERTAKES, f64::from(u8::from(overtakes)))?;
    }
    Ok(())
}

/// The moments, counted from that at which the low thread has the lock.
fn moments(lanes: &Lanes) -> [(&'static str, f64); MOMENTS.len()] {
    let start = lanes.low.ready_ns;
    let times = [
        lanes.low.ends_ns,
        lanes.high.begins_ns,
        lanes.high.ready_ns,
        lanes.high.ends_ns,
        lanes.middle.begins_ns,
        lanes.middle.ends_ns,
    ];
    let mut index = 0;
    MOMENTS.map(|(metric, _)| {
        let time_ns = times[index].saturating_sub(start) as f64;
        index += 1;
        (metric, time_ns)
    })
}
