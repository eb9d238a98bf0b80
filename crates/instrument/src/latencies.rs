//! The latencies of single operations, net of the clock that timed them.

use hdrhistogram::Histogram;

/// Single operations that take longer count as one minute.
const LONGEST_NS: u64 = 60_000_000_000;
/// Readings of the clock that are this rare do not show its steps: an interrupt may fall into any.
const RARE: f64 = 0.001;
/// Timings within this share of a step are one multiple of it: whole ns are rounded, and a step is not one.
const ROUNDED_TO: f64 = 0.75;
/// The share of readings of the clock that are not interrupted.
const UNINTERRUPTED: f64 = 0.99;

/// Timings of single operations. Next to each the clock alone is timed: its cost under the same conditions, and
/// the steps in which it goes, which may be longer than an operation.
pub(crate) struct Latencies {
    operations: Histogram<u64>,
    clock: Histogram<u64>,
}

/// Timings of one multiple of a step.
struct Group {
    count: f64,
    mean_ns: f64,
}

impl Latencies {
    pub fn new() -> Self {
        let histogram = || {
            Histogram::new_with_max(LONGEST_NS, 3)
                .expect("three significant digits are within what a histogram offers")
        };
        Self {
            operations: histogram(),
            clock: histogram(),
        }
    }

    /// Adds the time from one reading of the clock to the next with an operation in between, and without one.
    pub fn add(&mut self, operation_ns: u64, clock_ns: u64) {
        self.operations.saturating_record(operation_ns);
        self.clock.saturating_record(clock_ns);
    }

    /// Number of operations.
    pub fn count(&self) -> u64 {
        self.operations.len()
    }

    /// The latencies of an operation at these quantiles, from 0 to 1, in ns.
    ///
    /// A timing by a clock that goes in steps is a multiple of a step. The timings of one multiple are taken as
    /// spread evenly over a step, as in the median of grouped data: the error is at most a tenth of a step.
    pub fn quantiles_ns<const N: usize>(&self, quantiles: [f64; N]) -> [f64; N] {
        let (cost_ns, step_ns) = self.clock_cost_and_step_ns();
        let groups = groups(&self.operations, step_ns);
        let all = self.count() as f64;
        quantiles.map(|quantile| {
            let (rank, mut below) = (quantile * all, 0.0);
            let mut gross_ns = 0.0;
            for group in &groups {
                let place = ((rank - below) / group.count).min(1.0);
                gross_ns = group.mean_ns + step_ns * (place - 0.5);
                below += group.count;
                if rank <= below {
                    break;
                }
            }
            (gross_ns - cost_ns).max(0.0)
        })
    }

    /// The cost of a reading of the clock, and the length of its steps.
    fn clock_cost_and_step_ns(&self) -> (f64, f64) {
        let clock = &self.clock;
        let uninterrupted = clock.len() as f64 * UNINTERRUPTED;
        let (mut count, mut sum_ns) = (0.0, 0.0);
        for value in clock.iter_recorded() {
            if count >= uninterrupted {
                break;
            }
            let here = (value.count_at_value() as f64).min(uninterrupted - count);
            count += here;
            sum_ns += here * value.value_iterated_to() as f64;
        }
        let cost_ns = if count > 0.0 { sum_ns / count } else { 0.0 };
        // A cost that is always the same is a multiple of a step, which the operations may show.
        let by_operations = || least_gap_ns(&self.operations).filter(|gap| *gap < cost_ns + 1.0);
        let step_ns = least_gap_ns(clock).or_else(by_operations);
        (cost_ns, step_ns.unwrap_or(1.0))
    }
}

/// The least difference between usual timings; `None` if all are alike.
fn least_gap_ns(timings: &Histogram<u64>) -> Option<f64> {
    let all = timings.len() as f64;
    // Whole ns are rounded: multiples of one step may differ by 1 ns.
    let mut usual = groups(timings, 2.0);
    usual.retain(|group| group.count > all * RARE);
    let gaps = usual
        .windows(2)
        .map(|pair| pair[1].mean_ns - pair[0].mean_ns);
    gaps.reduce(f64::min)
}

/// The timings in groups that begin `width_ns` apart, in ascending order.
fn groups(timings: &Histogram<u64>, width_ns: f64) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut first_ns = f64::NEG_INFINITY;
    for value in timings.iter_recorded() {
        let count = value.count_at_value() as f64;
        let ns = timings.median_equivalent(value.value_iterated_to()) as f64;
        match groups.last_mut() {
            Some(group) if ns - first_ns < ROUNDED_TO * width_ns => {
                group.mean_ns += (ns - group.mean_ns) * count / (group.count + count);
                group.count += count;
            }
            _ => {
                first_ns = ns;
                groups.push(Group { count, mean_ns: ns });
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::Latencies;
    use proptest::prelude::*;

    /// The latencies of operations of `operation_ns` that a clock with steps of `step_ns` times, each of whose
    /// readings takes `cost_ns`.
    fn timed(operation_ns: f64, step_ns: f64, cost_ns: f64) -> Latencies {
        let shown = |ns: f64| ((ns / step_ns).floor() * step_ns) as u64;
        let mut latencies = Latencies::new();
        // Starts that fall evenly into the steps: whole steps and the golden section of one from start to start.
        let apart_ns = step_ns * ((1000.0 / step_ns).ceil() + 0.618_034);
        for number in 0..20_000 {
            let start_ns = 1e6 + f64::from(number) * apart_ns;
            let until = |ns: f64| shown(start_ns + ns) - shown(start_ns);
            latencies.add(until(operation_ns + cost_ns), until(cost_ns));
        }
        latencies
    }

    proptest! {
        #[test]
        fn a_coarse_clock_moves_the_median_by_a_tenth_of_its_step(
            operation_ns in 1.0..2000.0_f64,
            step_ns in 1.0..120.0_f64,
            cost_ns in 5.0..60.0_f64,
        ) {
            let [median_ns] = timed(operation_ns, step_ns, cost_ns).quantiles_ns([0.5]);
            let error_ns = (median_ns - operation_ns).abs();
            // A clock of 1 ns is rounded like all; the histogram keeps three digits.
            let most_ns = 0.12 * step_ns + 0.5 + operation_ns / 1000.0;
            prop_assert!(error_ns <= most_ns, "{median_ns} of {operation_ns}");
        }
    }

    #[test]
    fn quantiles_ascend_and_interruptions_do_not_move_the_clock() {
        let mut latencies = timed(7.0, 10.01, 23.0);
        for _ in 0..150 {
            latencies.add(50_000, 80_000);
        }
        let [p5, p50, p95, p99_9] = latencies.quantiles_ns([0.05, 0.5, 0.95, 0.999]);
        assert!((p50 - 7.0).abs() < 1.0, "{p50}");
        assert!(
            p5 <= p50 && p50 <= p95 && p95 < p99_9,
            "{p5} {p50} {p95} {p99_9}"
        );
        assert!((p99_9 / 50_000.0 - 1.0).abs() < 0.01, "{p99_9}");
    }

    #[test]
    fn a_clock_that_never_steps_costs_nothing() {
        let mut latencies = Latencies::new();
        latencies.add(1234, 0);
        let [median_ns] = latencies.quantiles_ns([0.5]);
        assert!((median_ns - 1234.0).abs() < f64::EPSILON, "{median_ns}");
    }
}
