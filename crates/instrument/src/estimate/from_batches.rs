//! Computes the estimates of a point from its samples.

use super::centre::{Centre, Process, raw};
use super::{Estimate, FEWEST_PASSES, FEWEST_PROCESSES, Percentiles, Verdict};
use crate::definition::{Definition, Metric};
use crate::quantity::Unit;
use crate::sample::{Batch, Reading, Sample};
use crate::statistics::{Estimated, summary};

/// Accepted range of net cost over raw cost. Outside it the time does not grow with the work: the
/// compiler removed the loop, or the cost explodes.
const LINEAR_RANGE: std::ops::RangeInclusive<f64> = 0.5..=1.5;

impl Estimate {
    /// One estimate for each metric of `definition` that has samples in these batches.
    pub fn all(definition: &Definition, batches: &[Batch]) -> Vec<Self> {
        let estimate = |metric| Self::from_batches(metric, batches);
        definition.metrics.iter().filter_map(estimate).collect()
    }

    /// Estimates `metric` from the batches of one point; `None` if they hold no sample of it.
    pub fn from_batches(metric: &Metric, batches: &[Batch]) -> Option<Self> {
        let processes = Process::all(&metric.name, batches);
        let samples: Vec<&Sample> = processes
            .iter()
            .flat_map(|process| process.samples.iter().copied())
            .collect();
        let Centre {
            prediction,
            pass_of,
            impossible,
        } = Centre::of(&processes)?;
        let cost = prediction.estimated;
        let timed = samples.iter().any(|sample| sample.reading.is_timed());
        let in_unit = |cost| {
            if timed {
                from_cost(metric.unit, cost)
            } else {
                cost
            }
        };
        let (cpu_share, system_share) = shares(&samples);
        let mut estimate = Self {
            metric: metric.name.clone(),
            unit: metric.unit,
            centre: in_unit(cost.centre),
            interval: cost.interval.and_then(|interval| interval.map(in_unit)),
            raw: raw(&processes).filter(|_| timed).map(in_unit),
            uncorrected: (timed && prediction.passes > 0).then(|| in_unit(prediction.uncorrected)),
            processes: prediction.by_process.len(),
            passes: prediction.passes,
            samples: samples.len(),
            impossible,
            disturbed: if timed || metric.unit == Unit::Nanoseconds {
                prediction.disturbed
            } else {
                Some(0.0)
            },
            by_next_clock: prediction.by_next_clock,
            clock_slope: if timed { prediction.slope } else { Some(0.0) },
            by_process: prediction.by_process.into_iter().map(in_unit).collect(),
            pass_of,
            cpu_share,
            system_share,
            percentiles: percentiles(&samples),
            verdict: Verdict::Sound,
        };
        // A metric can be a difference of two times: it is recorded as a value, but the timing
        // errors can exceed it too.
        let is_cost = timed || metric.unit == Unit::Nanoseconds;
        estimate.verdict = estimate.judge(metric, is_cost.then_some(&cost), &samples);
        Some(estimate)
    }

    fn judge(&self, metric: &Metric, cost: Option<&Estimated>, samples: &[&Sample]) -> Verdict {
        let is_printed = self.passes == 0;
        let is_too_few = self.passes < FEWEST_PASSES || self.processes < FEWEST_PROCESSES;
        if is_too_few && !is_printed {
            return Verdict::TooFew;
        }
        let Some(cost) = cost else {
            return Verdict::Sound;
        };
        let lost = cost.interval.is_some_and(|interval| interval.low <= 0.0);
        if cost.centre <= 0.0 || lost {
            return Verdict::BelowResolution;
        }
        if metric.beats_bound(self.centre) {
            let bound = metric
                .bound
                .map_or_else(String::new, |bound| metric.unit.show(bound, 3));
            return Verdict::Broken(format!("beyond what physics allows ({bound})"));
        }
        match growth(samples) {
            Some(growth) if !LINEAR_RANGE.contains(&growth) => {
                Verdict::Broken("the time did not grow with the work".into())
            }
            _ => Verdict::Sound,
        }
    }
}

/// Median over the samples of net cost divided by raw cost: 1 if time grows with work.
fn growth(samples: &[&Sample]) -> Option<f64> {
    let ratios: Vec<f64> = samples
        .iter()
        .filter(|sample| matches!(sample.reading, Reading::Legs(_)))
        .flat_map(|sample| sample.reading.costs())
        .map(|cost| cost.net_ns / cost.raw_ns)
        .filter(|ratio| ratio.is_finite())
        .collect();
    summary::median(&ratios)
}

/// Converts a cost in ns per unit of work to the unit of its metric.
fn from_cost(unit: Unit, cost_ns: f64) -> f64 {
    match unit {
        Unit::BytesPerSecond | Unit::OperationsPerSecond => 1e9 / cost_ns,
        _ => cost_ns,
    }
}

/// CPU time over wall time, and the kernel's share of the CPU time, over all timed samples.
fn shares(samples: &[&Sample]) -> (Option<f64>, Option<f64>) {
    let mut wall_ns = 0;
    let mut user_ns = 0;
    let mut system_ns = 0;
    for sample in samples {
        if let Some(sample_wall_ns) = sample.reading.wall_ns() {
            wall_ns += sample_wall_ns;
            user_ns += sample.usage.user_ns;
            system_ns += sample.usage.system_ns;
        }
    }
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    (
        share(user_ns + system_ns, wall_ns),
        share(system_ns, user_ns + system_ns),
    )
}

fn percentiles(samples: &[&Sample]) -> Option<Percentiles> {
    let read = |pick: fn(&Reading) -> Option<f64>| {
        let values = samples.iter().filter_map(|sample| pick(&sample.reading));
        summary::median(&values.collect::<Vec<_>>())
    };
    macro_rules! percentile {
        ($field:ident) => {
            read(|reading| match reading {
                Reading::Latencies { $field, .. } => Some(*$field),
                _ => None,
            })
        };
    }
    Some(Percentiles {
        p5_ns: percentile!(p5_ns)?,
        p50_ns: percentile!(p50_ns)?,
        p95_ns: percentile!(p95_ns)?,
        p99_ns: percentile!(p99_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::definition::{Better, Metric};
    use crate::estimate::{Estimate, Verdict};
    use crate::made_up::in_passes;
    use crate::quantity::Unit;
    use crate::sample::{Batch, Legs, Reading, Sample};
    use platform::usage::Usage;

    fn metric(unit: Unit) -> Metric {
        Metric::new("value", "value", unit, Better::Higher)
    }

    fn batch(readings: &[Reading]) -> Batch {
        let sample = |reading: &Reading| Sample {
            metric: "value".into(),
            reading: reading.clone(),
            usage: Usage {
                user_ns: 300,
                system_ns: 100,
                ..Usage::default()
            },
            at_ns: 0,
        };
        Batch {
            samples: readings.iter().map(sample).collect(),
            ..Batch::default()
        }
    }

    fn leg(short_ns: u64, long_ns: u64) -> Reading {
        Reading::Legs(Legs {
            iterations: 20,
            work: 1.0,
            wall_ns: vec![long_ns],
            short_iterations: 10,
            short_wall_ns: vec![short_ns],
            ..Legs::default()
        })
    }

    fn estimate(metric: &Metric, batches: &[Batch]) -> Estimate {
        Estimate::from_batches(metric, batches).unwrap()
    }

    #[test]
    fn a_rate_is_the_inverse_of_a_cost_and_its_interval_stays_in_order() {
        let batches = [98, 99, 100, 101, 102].map(|ns| batch(&[leg(10 * ns, 20 * ns)]));
        let estimate = estimate(&metric(Unit::BytesPerSecond), &in_passes(batches));
        let interval = estimate.interval.unwrap();
        assert!((estimate.centre - 1e7).abs() < 2e5, "{estimate:?}");
        assert!(interval.low < estimate.centre && estimate.centre < interval.high);
        assert_eq!(estimate.verdict, Verdict::Sound);
        assert_eq!(estimate.cpu_share, Some(0.2));
        assert_eq!(estimate.system_share, Some(0.25));
    }

    #[test]
    fn each_process_counts_once_however_many_samples_it_gave() {
        let with_samples = |count| {
            let costs = [100, 110, 120, 130, 140];
            let samples = |ns| vec![leg(ns, 2 * ns); if ns == 100 { count } else { 1 }];
            let batches = in_passes(costs.map(|ns| batch(&samples(ns))));
            estimate(&metric(Unit::Nanoseconds), &batches)
        };
        let (one, many) = (with_samples(1), with_samples(9));
        assert_eq!(one.by_process, many.by_process);
        assert_eq!((many.processes, many.samples), (5, 13));
    }

    #[test]
    fn what_no_measurement_can_give_is_broken_or_below_resolution() {
        let judged = |metric: &Metric, legs: [(u64, u64); 5]| {
            let batches = legs.map(|(short_ns, long_ns)| batch(&[leg(short_ns, long_ns)]));
            estimate(metric, &in_passes(batches))
        };
        let below = judged(
            &metric(Unit::Nanoseconds),
            [95, 104, 98, 97, 96].map(|long_ns| (100, long_ns)),
        );
        assert!(below.centre < 0.0, "it is not clamped");
        assert_eq!(below.verdict, Verdict::BelowResolution);
        // Twice the iterations take hardly more time.
        let folded = judged(
            &metric(Unit::Nanoseconds),
            [1000, 1001, 1002, 1001, 1000].map(|ns| (ns, ns + 20)),
        );
        let beyond_physics = judged(
            &metric(Unit::BytesPerSecond).bounded(1e6),
            [100, 101, 102, 101, 100].map(|ns| (10 * ns, 20 * ns)),
        );
        for broken in [folded, beyond_physics] {
            assert!(matches!(broken.verdict, Verdict::Broken(_)), "{broken:?}");
        }
    }

    #[test]
    fn a_value_that_is_not_timed_is_kept_as_it_is() {
        let batches = [0.0; 5].map(|value| batch(&[Reading::Value(value)]));
        let estimate = estimate(&metric(Unit::Share), &in_passes(batches));
        assert!(estimate.centre.abs() < f64::EPSILON);
        assert!(estimate.is_within(0.05));
        assert_eq!((estimate.raw, estimate.cpu_share), (None, None));
    }

    #[test]
    fn a_derived_time_that_reaches_zero_is_below_resolution() {
        let verdict = |values: [f64; 5]| {
            let batches = values.map(|value| batch(&[Reading::Value(value)]));
            estimate(&metric(Unit::Nanoseconds), &in_passes(batches)).verdict
        };
        assert_eq!(
            verdict([5.0, -4.0, 6.0, 5.0, 4.0]),
            Verdict::BelowResolution
        );
        assert_eq!(verdict([5.0, 5.1, 5.2, 5.1, 5.0]), Verdict::Sound);
    }

    /// Ten processes of one metric that a leg of some 10 µs times, each in a separate pass. In the one
    /// at `odd`, the short legs took so long that the fixed cost is larger than a leg.
    fn legs(odd: Option<u32>, ns_of_an_operation: u64) -> Vec<Batch> {
        let of_pass = |pass: u32| {
            let wall_ns = 100 * ns_of_an_operation + u64::from(pass);
            let short_ns = match odd {
                Some(odd) if odd == pass => 3 * wall_ns,
                _ => wall_ns / 10,
            };
            let legs = Legs {
                iterations: 100,
                work: 1.0,
                wall_ns: vec![wall_ns; 16],
                short_iterations: 10,
                short_wall_ns: vec![short_ns; 4],
                ..Legs::default()
            };
            Batch {
                pass: Some(pass),
                ..batch(&[Reading::Legs(legs)])
            }
        };
        (0..10).map(of_pass).collect()
    }

    #[test]
    fn one_process_below_zero_does_not_hide_the_others() {
        let metric = metric(Unit::Nanoseconds);
        let shared = estimate(&metric, &legs(Some(3), 50));
        assert_eq!((shared.impossible, shared.processes), (16, 9));
        assert_eq!(shared.verdict, Verdict::Sound);
        assert!((shared.centre - 50.0).abs() < 1.0 && shared.is_within(0.05));
        assert_eq!(shared.pass_of, [0, 1, 2, 4, 5, 6, 7, 8, 9]);

        let apart = estimate(&metric, &legs(None, 10));
        assert_eq!(apart.impossible, 0);
        let effect = shared.ratio_to(&apart).unwrap();
        assert!(effect.interval.unwrap().low > 4.5, "{effect:?}");
    }

    #[test]
    fn a_process_a_thousand_times_the_others_is_left_out() {
        let mut batches = legs(None, 50);
        batches[4] = Batch {
            pass: Some(4),
            ..legs(None, 90_000).swap_remove(4)
        };
        let found = estimate(&metric(Unit::Nanoseconds), &batches);
        assert_eq!((found.impossible, found.processes), (16, 9));
        assert!(found.uncorrected.unwrap() < 60.0, "{found:?}");
    }

    #[test]
    fn a_printed_value_is_sound_and_has_no_interval() {
        let printed = [batch(&[Reading::Value(42.0)])];
        let found = estimate(&metric(Unit::Nanoseconds), &printed);
        assert_eq!((found.interval, found.passes), (None, 0));
        assert_eq!(found.verdict, Verdict::Sound);
        let other = estimate(
            &metric(Unit::Nanoseconds),
            &[batch(&[Reading::Value(21.0)])],
        );
        for ratio in [found.ratio_to(&other), found.ratio_within(&other)] {
            let ratio = ratio.unwrap();
            assert_eq!((ratio.centre, ratio.interval), (2.0, None));
        }
    }

    #[test]
    fn timings_without_references_show_no_disturbance_and_a_count_has_none() {
        let timed = estimate(&metric(Unit::Nanoseconds), &legs(None, 50));
        assert_eq!(timed.disturbed, None);
        let counted = [3.0; 5].map(|count| batch(&[Reading::Value(count)]));
        let counted = estimate(&metric(Unit::Count), &counted);
        assert_eq!(counted.disturbed, Some(0.0));
    }

    #[test]
    fn without_samples_there_is_no_estimate() {
        let metric = metric(Unit::Nanoseconds);
        assert_eq!(Estimate::from_batches(&metric, &[]), None);
        let empty = [Batch::default()];
        assert_eq!(Estimate::from_batches(&metric, &empty), None);
    }
}
