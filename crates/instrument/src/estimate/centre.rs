//! The centre of a metric at a point, with its interval, on the scale of costs.

use crate::core_state::{core_states, full_speed};
use crate::sample::{Batch, FullSpeed, Reading, Sample};
use crate::statistics::Estimated;
use crate::statistics::prediction::{self, Clocks, Leg, Prediction, Visit, disturbed, predict};
use crate::statistics::summary::{self, median, median_absolute_deviation};

/// A smaller share of CPU time in the wall time means that the work mostly waits, for a disk or for
/// another processor. The speed of this processor then says little about its cost.
const LEAST_CPU_SHARE: f64 = 0.4;

/// The value of a metric at a point.
pub(super) struct Centre {
    /// In ns per unit of work, or the value of what is not timed. A printed value has no passes, and its
    /// `uncorrected` means nothing.
    pub prediction: Prediction,
    /// The pass of each process; empty for a printed value.
    pub pass_of: Vec<u32>,
    /// The number of timings that no work can have. They are left out.
    pub impossible: usize,
}

impl Centre {
    /// `None` without processes.
    pub fn of(processes: &[Process<'_>]) -> Option<Self> {
        let passes: Option<Vec<u32>> = processes.iter().map(|of| of.batch.pass).collect();
        match passes {
            Some(passes) => Self::predicted(processes, &passes),
            None => Self::printed(processes),
        }
    }

    /// The interval predicts the value of another run
    /// ([`crate::statistics::prediction`]).
    fn predicted(processes: &[Process<'_>], passes: &[u32]) -> Option<Self> {
        let samples: Vec<&Sample> = processes
            .iter()
            .flat_map(|process| process.samples.iter().copied())
            .collect();
        let possible = possible(&samples);
        let uses_the_processor = uses_the_processor(&samples);
        let mut impossible = 0;
        let (mut visits, mut pass_of, mut speeds) = (Vec::new(), Vec::new(), Vec::new());
        for (process, pass) in processes.iter().zip(passes) {
            let core_type = process.batch.full_speed.and_then(|it| it.core_type);
            let full_speed = full_speed(processes.iter().map(|process| process.batch), core_type);
            let mut legs = legs(&process.samples, full_speed);
            let all = legs.len();
            legs.retain(|leg| possible.is_none_or(|possible| possible.contains(leg.cost)));
            impossible += all - legs.len();
            if !legs.is_empty() {
                speeds.extend(full_speed);
                pass_of.push(*pass);
                visits.push(Visit {
                    pass: *pass as usize,
                    legs,
                });
            }
        }
        let centre = if is_work(&samples, uses_the_processor) {
            prediction::Centre::LowerQuartile
        } else {
            prediction::Centre::Median
        };
        // Decided for the point as a whole: otherwise the correction would rest on the few
        // processes that happened to wait less.
        let clocks = clocks(&speeds).filter(|_| uses_the_processor);
        let mut prediction = predict(&visits, centre, clocks.as_ref())?;
        if possible.is_none() {
            prediction.disturbed = disturbed_timings(processes);
        }
        Some(Self {
            prediction,
            pass_of,
            impossible,
        })
    }

    /// A printed value: nobody knows its error.
    fn printed(processes: &[Process<'_>]) -> Option<Self> {
        let by_process = medians(processes, net)?;
        let centre = summary::median(&by_process)?;
        Some(Self {
            prediction: Prediction {
                estimated: Estimated {
                    centre,
                    interval: None,
                },
                by_process,
                ..Prediction::default()
            },
            pass_of: Vec::new(),
            impossible: 0,
        })
    }
}

/// The timings of one process.
fn legs(samples: &[&Sample], full_speed: Option<FullSpeed>) -> Vec<Leg> {
    let costs = samples.iter().flat_map(|sample| net(sample));
    let cores = core_states(samples, full_speed);
    let leg = |(cost, core)| Leg { cost, core };
    costs.zip(cores).map(leg).collect()
}

/// The share of all timings of these processes that were disturbed: a value that is derived from times
/// is so by the same.
fn disturbed_timings(processes: &[Process<'_>]) -> Option<f64> {
    let cores = processes.iter().flat_map(|process| {
        let samples = process.batch.samples.iter();
        let timed = samples.filter(|sample| sample.reading.is_timed());
        timed.flat_map(|sample| core_states(&[sample], process.batch.full_speed))
    });
    disturbed(cores.collect())
}

/// The clocks of the run and of those before it; `None` if they are not known.
fn clocks(speeds: &[FullSpeed]) -> Option<Clocks> {
    let longest = |of: &FullSpeed| of.longest_chain_ns.unwrap_or(of.chain_ns) / of.chain_ns;
    let earlier = |of: &FullSpeed| {
        let [fastest, slowest] = of.earlier_chain_ns?.into();
        Some([fastest / of.chain_ns, slowest / of.chain_ns])
    };
    Some(Clocks {
        longest: speeds.iter().map(longest).reduce(f64::max)?,
        earlier: speeds.iter().filter_map(earlier).flatten().collect(),
    })
}

/// The costs that are possible among these timings; `None` for values that are not timed.
fn possible(samples: &[&Sample]) -> Option<Possible> {
    let costs: Vec<f64> = samples.iter().flat_map(|sample| net(sample)).collect();
    let are_timed = samples.iter().all(|sample| sample.reading.is_timed());
    are_timed.then(|| Possible::among(&costs))
}

/// True if the samples are timings of work that the processor does: other programs only lengthen it.
/// Operations that wait, for a disk or another process, vary by themselves.
fn is_work(samples: &[&Sample], uses_the_processor: bool) -> bool {
    let is_timed = |sample: &&Sample| sample.reading.is_timed();
    let has_legs = |sample: &&Sample| matches!(sample.reading, Reading::Legs(_));
    samples.iter().any(has_legs) || (samples.iter().all(is_timed) && uses_the_processor)
}

/// True if the samples did not mostly wait.
fn uses_the_processor(samples: &[&Sample]) -> bool {
    let wall_ns = |sample: &&Sample| match sample.reading {
        Reading::Latencies { count, p50_ns, .. } => count as f64 * p50_ns,
        ref other => other.wall_ns().unwrap_or(0) as f64,
    };
    let all_ns: f64 = samples.iter().map(wall_ns).sum();
    let cpu_ns: u64 = samples
        .iter()
        .map(|sample| sample.usage.user_ns + sample.usage.system_ns)
        .sum();
    cpu_ns as f64 >= LEAST_CPU_SHARE * all_ns
}

fn net(sample: &Sample) -> Vec<f64> {
    match sample.reading {
        Reading::Value(value) => vec![value],
        ref timed => timed.costs().iter().map(|cost| cost.net_ns).collect(),
    }
}

/// The median over the processes of each process's median raw cost, with the costs that a timing pays once;
/// `None` for a value that is not timed.
pub(super) fn raw(processes: &[Process<'_>]) -> Option<f64> {
    let raw = |sample: &Sample| {
        let costs = sample.reading.costs().into_iter();
        costs.map(|cost| cost.raw_ns).collect()
    };
    summary::median(&medians(processes, raw)?)
}

/// The median of each process; `None` if one has none.
fn medians(processes: &[Process<'_>], read: impl Fn(&Sample) -> Vec<f64>) -> Option<Vec<f64>> {
    let median = |process: &Process<'_>| {
        let values = process.samples.iter().flat_map(|sample| read(sample));
        summary::median(&values.collect::<Vec<_>>())
    };
    let medians: Option<Vec<f64>> = processes.iter().map(median).collect();
    medians.filter(|medians| !medians.is_empty())
}

/// The samples of one metric that one process took.
pub(super) struct Process<'b> {
    pub batch: &'b Batch,
    pub samples: Vec<&'b Sample>,
}

impl<'b> Process<'b> {
    /// Those that took samples of this metric.
    pub fn all(metric: &str, batches: &'b [Batch]) -> Vec<Self> {
        let of_batch = |batch: &'b Batch| {
            let samples = batch.samples.iter();
            let samples = samples.filter(|sample| sample.metric == metric).collect();
            Self { batch, samples }
        };
        let processes = batches.iter().map(of_batch);
        processes.filter(|of| !of.samples.is_empty()).collect()
    }
}

/// No timing differs by as much from the others of its point, whatever interrupts it.
const MOST: f64 = 1000.0;

/// If half of the costs lie within this share of the median, noise does not reach zero. Else a
/// negative cost is one of many around zero, and leaving it out would make the others seem dear.
const STEADY: f64 = 0.5;

/// The costs of a point that are possible, from the least to the greatest.
///
/// A cost at or below zero is impossible where the others are steady: the fixed cost of its process
/// was taken for larger than a whole leg.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Possible {
    /// Exclusive.
    above: f64,
    at_most: f64,
}

impl Possible {
    /// From all costs of the point.
    fn among(costs: &[f64]) -> Self {
        let usual = median(costs).filter(|usual| *usual > 0.0);
        let spread = median_absolute_deviation(costs);
        let is_steady = |usual: f64| spread.is_some_and(|spread| spread <= STEADY * usual);
        Self {
            above: match usual {
                Some(usual) if is_steady(usual) => 0.0,
                _ => f64::NEG_INFINITY,
            },
            at_most: usual.map_or(f64::INFINITY, |usual| MOST * usual),
        }
    }

    /// True also for what is not a number, which is no matter of size.
    fn contains(&self, cost: f64) -> bool {
        !(cost <= self.above || cost > self.at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::{Centre, Possible, Prediction, Process};
    use crate::made_up::{cost, full_speed, quiet};
    use crate::sample::{Batch, FullSpeed, Reading, Sample};

    fn predicted(batches: &[Batch], metric: &str) -> Prediction {
        Centre::of(&Process::all(metric, batches))
            .unwrap()
            .prediction
    }

    /// Legs of a core-bound cost of 100 µs at the highest clock, where the chain takes 1000 ns and the
    /// additions as long, and a value that is derived from them.
    fn clocked(pass: u32, chain_ns: u64, width_ns: u64, earlier: Option<(f64, f64)>) -> Batch {
        let wall_ns = (0..6).map(|leg| 100 * chain_ns + leg).collect();
        let mut timed = cost(wall_ns, &[(width_ns, quiet(chain_ns)); 6]);
        timed.usage.user_ns = 600 * chain_ns;
        Batch {
            samples: vec![timed, Sample::new("derived", Reading::Value(3.0))],
            pass: Some(pass),
            full_speed: Some(FullSpeed {
                longest_chain_ns: Some(1140.0),
                earlier_chain_ns: earlier,
                ..full_speed(1000.0, 1.0)
            }),
            ..Batch::default()
        }
    }

    #[test]
    fn two_references_bring_a_cost_to_the_highest_clock_of_the_run() {
        let stepping = |pass| {
            let chain_ns = [1000, 1140][pass as usize % 2];
            clocked(pass, chain_ns, chain_ns, None)
        };
        let batches: Vec<Batch> = (0..10).map(stepping).collect();
        let found = predicted(&batches, "cost");
        let cost = found.estimated;
        assert!((cost.centre / 1e5 - 1.0).abs() < 0.005, "{cost:?}");
        assert!(cost.is_within(0.03), "{cost:?}");
        assert_eq!(found.disturbed, Some(0.0));
    }

    #[test]
    fn the_clocks_of_earlier_runs_widen_the_interval() {
        let reach = |earlier| {
            let batches: Vec<Batch> = (0..10)
                .map(|pass| clocked(pass, 1000, 1000, earlier))
                .map(|mut batch| {
                    batch.full_speed.as_mut().unwrap().longest_chain_ns = None;
                    batch
                })
                .collect();
            predicted(&batches, "cost").by_next_clock
        };
        assert!(reach(None) < 1e-12);
        assert!(reach(Some((1000.0, 1000.0))) < 1e-12);
        assert!((reach(Some((900.0, 1000.0))) + 0.9_f64.ln() / 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_derived_value_is_disturbed_as_the_timings_of_its_processes() {
        let batches: Vec<Batch> = (0..10)
            .map(|pass| clocked(pass, 1000, if pass < 3 { 1500 } else { 1000 }, None))
            .collect();
        assert_eq!(predicted(&batches, "derived").disturbed, Some(0.3));
        let timed = predicted(&batches, "cost").disturbed;
        assert!(timed.is_some_and(|share| share <= 0.3), "{timed:?}");
    }

    #[test]
    fn one_process_that_waits_less_is_no_reason_to_correct_a_cost_of_waiting() {
        let found = |busy_share: u64| {
            let of_pass = |pass: u32| {
                let chain_ns = [1000, 1140][pass as usize % 2];
                let mut batch = clocked(pass, chain_ns, chain_ns, None);
                let share = if pass == 6 { busy_share } else { 20 };
                batch.samples[0].usage.user_ns = 6 * chain_ns * share;
                batch
            };
            predicted(&(0..10).map(of_pass).collect::<Vec<_>>(), "cost")
        };
        assert_eq!(found(20).slope, None);
        assert_eq!(found(50).estimated, found(20).estimated);
    }

    fn left_out(costs: &[f64]) -> Vec<f64> {
        let possible = Possible::among(costs);
        let costs = costs.iter().copied();
        costs.filter(|cost| !possible.contains(*cost)).collect()
    }

    #[test]
    fn one_negative_cost_among_steady_ones_is_impossible() {
        assert_eq!(left_out(&[52.0, 55.0, -11.9, 60.0, 48.0, 53.0]), [-11.9]);
        assert_eq!(left_out(&[52.0, 55.0, 0.0, 60.0]), [0.0]);
    }

    #[test]
    fn costs_around_zero_are_noise() {
        assert_eq!(left_out(&[0.5, -0.4, 0.9, 0.1, -0.2, 1.2]), [0.0; 0]);
        assert_eq!(left_out(&[-3.0, -2.0, 1.0]), [0.0; 0]);
    }

    #[test]
    fn a_thousand_times_the_others_is_impossible_and_a_hundred_times_is_not() {
        assert_eq!(left_out(&[10.0, 11.0, 12.0, 11e3 + 5.0, 900.0]), [0.0; 0]);
        assert_eq!(left_out(&[10.0, 11.0, 12.0, 11e4, 900.0]), [11e4]);
    }
}
