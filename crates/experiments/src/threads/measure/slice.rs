//! Two threads that only ticks interrupt.

use super::refused;
use crate::prelude::*;
use crate::threads::kind::UserThreads;
use crate::threads::slice::{ENOUGH, GOT, GOT_P99, IN_TICKS, SLICE, Slice, TICK, TICK_P99};
use instrument::statistics::summary::quantile;
use std::time::Duration;
use uthread_workload::Slices;

/// Slices up to this long are watched often enough for their percentiles. Of longer ones a process
/// watches few, so that a visit stays short.
const LONGEST_OF_MANY: Duration = Duration::from_millis(1);
/// The fewest slices that a process watches.
const FEWEST: usize = 5;

impl UserThreads for Slice {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(slice_us) = point.level(SLICE)?;
        let slice = Duration::from_micros(slice_us);
        let count = if slice <= LONGEST_OF_MANY {
            ENOUGH
        } else {
            FEWEST
        };
        let turns = Slices { slice, count }.run().map_err(refused)?;
        let got: Vec<f64> = turns.iter().map(|turn| turn.slice_ns).collect();
        let ticks: Vec<f64> = turns.iter().map(|turn| turn.tick_ns).collect();
        let medians = quantile(&got, 0.5).zip(quantile(&ticks, 0.5));
        let (got_ns, tick_ns) = medians.ok_or_else(|| unsupported("no tick ended a slice"))?;
        sampler.value(GOT, got_ns);
        sampler.value(TICK, tick_ns);
        sampler.value(IN_TICKS, tick_ns / (got_ns + tick_ns));
        if turns.len() >= ENOUGH {
            for (metric, times) in [(GOT_P99, got), (TICK_P99, ticks)] {
                if let Some(p99_ns) = quantile(&times, 0.99) {
                    sampler.value(metric, p99_ns);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{count, sampled, values};

    #[test]
    fn slices_and_ticks_are_seen_here_and_percentiles_only_of_many() {
        for (slice_us, percentiles) in [(200, 1), (16_000, 0)] {
            let point = Point::new().at(SLICE, Count(slice_us));
            let samples = sampled(&Slice, &point, &[GOT, TICK, IN_TICKS]);
            let share = values(&samples, IN_TICKS)[0];
            assert!(share > 0.0 && share < 1.0, "{point}: {share}");
            for metric in [GOT_P99, TICK_P99] {
                assert_eq!(count(&samples, metric), percentiles, "{point}");
            }
        }
    }
}
