//! Three threads of three priorities, timed from inside.

use super::refused;
use crate::prelude::*;
use crate::threads::inversion::{
    HIGH_BEGINS, HIGH_ENDS, HIGH_LOCKS, Inversion, LOW_ENDS, MIDDLE_BEGINS, MIDDLE_ENDS,
    MIDDLE_OVERTAKES, PROTOCOL, Protocol,
};
use crate::threads::kind::UserThreads;
use std::time::Duration;
use uthread::Priority;
use uthread_workload::Lanes;

const SLICE: Duration = Duration::from_micros(200);
/// About five slices.
const STEPS: u64 = 500_000;
/// Longer than a slice, as in the report.
const SHORT_STEPS: u64 = 150_000;

impl UserThreads for Inversion {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let protocol = point.level(PROTOCOL)?;
        let workload = uthread_workload::Inversion {
            slice: SLICE,
            steps: STEPS,
            low_steps: match protocol {
                Protocol::DecayShort => SHORT_STEPS,
                _ => STEPS,
            },
            protocol: match protocol {
                Protocol::None | Protocol::Decay | Protocol::DecayShort => uthread::Protocol::None,
                Protocol::Inheritance => uthread::Protocol::Inheritance,
                Protocol::Ceiling => uthread::Protocol::Ceiling(Priority::Red),
            },
            decay: protocol.decays(),
        };
        for _ in 0..sampler.samples() {
            let lanes = workload.run().map_err(refused)?;
            report(&lanes, sampler);
        }
        Ok(())
    }
}

/// Reports the moments, counted from that at which the low thread has the lock.
fn report(lanes: &Lanes, sampler: &mut Sampler<'_>) {
    let moments = [
        (LOW_ENDS, lanes.low.ends_ns),
        (HIGH_BEGINS, lanes.high.begins_ns),
        (HIGH_LOCKS, lanes.high.ready_ns),
        (HIGH_ENDS, lanes.high.ends_ns),
        (MIDDLE_BEGINS, lanes.middle.begins_ns),
        (MIDDLE_ENDS, lanes.middle.ends_ns),
    ];
    for (metric, at_ns) in moments {
        sampler.value(metric, at_ns.saturating_sub(lanes.low.ready_ns) as f64);
    }
    let overtakes = lanes.middle.ends_ns < lanes.high.ends_ns;
    sampler.value(MIDDLE_OVERTAKES, f64::from(u8::from(overtakes)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{sampled, setting, values};

    #[test]
    fn every_protocol_gives_its_order_here() {
        for point in Inversion.points(&setting(Profile::Quick)) {
            let protocol = point.level(PROTOCOL).expect("it has one");
            let is_overtaken = matches!(protocol, Protocol::None | Protocol::Decay);
            // A busy machine takes the processor away in the middle of a round, and the order is another.
            let has_its_order = (0..20).any(|_| {
                let overtakes = values(&sampled(&Inversion, &point, &[]), MIDDLE_OVERTAKES);
                overtakes.iter().all(|value| (*value > 0.5) == is_overtaken)
            });
            assert!(has_its_order, "{point}");
        }
    }
}
