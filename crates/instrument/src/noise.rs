//! Noise: named and measured doubts about a number, with advice.

use crate::definition::{Definition, Metric};
use crate::estimate::Estimate;
use crate::quantity::{VAGUE, significant};
use crate::sample::Batch;
use crate::statistics::{modes, trend};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason to doubt a point's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// The value rose or fell steadily from process to process.
    Drift {
        /// Name of the metric.
        metric: String,
        /// Change from the first process to the last, as a share of the centre.
        change: f64,
    },
    /// The processes form groups: the centre may be a value that no process shows.
    SeveralModes {
        /// Name of the metric.
        metric: String,
        /// The centre of each group in the metric's unit.
        centres: Vec<f64>,
    },
    /// The timed loop had not reached a steady state after the warm-up.
    NotWarm,
    /// The time ran out before the interval reached the target width.
    TargetMissed {
        /// Name of the metric.
        metric: String,
        /// Half the interval's width over the centre; `None` if there is no interval.
        reached: Option<f64>,
        /// The target for the same value.
        target: f64,
    },
}

impl Warning {
    /// True if the warning concerns `metric`: it names that metric, or concerns the whole point.
    pub fn touches(&self, metric: &str) -> bool {
        match self {
            Self::Drift { metric: named, .. }
            | Self::SeveralModes { metric: named, .. }
            | Self::TargetMissed { metric: named, .. } => named == metric,
            Self::NotWarm => true,
        }
    }

    /// Label of one or two words for the margin of a table.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Drift { .. } => "drift",
            Self::SeveralModes { .. } => "several modes",
            Self::NotWarm => "not warm",
            Self::TargetMissed { .. } => "wide",
        }
    }

    /// Advice for the reader.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Drift { .. } => {
                "let the machine settle and measure again: heat, memory in use and the file \
                 system's state change over minutes"
            }
            Self::SeveralModes { .. } => {
                "look at the dots of each process; memory layout or a second speed of the \
                 processor are usual causes"
            }
            Self::NotWarm => "use a longer profile (`--profile standard`)",
            Self::TargetMissed { .. } => {
                "give it more time (`--budget`, `--profile standard`) or a quieter machine"
            }
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| significant(share * 100.0, 2);
        match self {
            Self::Drift { metric, change } => {
                let direction = if *change < 0.0 { "fell" } else { "rose" };
                // The centre lies between both ends, so that a larger change is no share of it.
                let by = if change.abs() < 1.0 {
                    format!("{} %", percent(change.abs()))
                } else {
                    "more than its own value".into()
                };
                write!(f, "{metric} {direction} by {by} from start to end")
            }
            Self::SeveralModes { metric, centres } => {
                let shown: Vec<_> = centres
                    .iter()
                    .map(|centre| significant(*centre, 3))
                    .collect();
                write!(
                    f,
                    "the processes gave several values of {metric}: {}",
                    shown.join(" and ")
                )
            }
            Self::NotWarm => write!(f, "the loop had not settled when it was measured"),
            Self::TargetMissed {
                metric,
                reached,
                target,
            } => {
                let Some(reached) = reached else {
                    return write!(f, "{metric} has too few processes for an interval");
                };
                let not = if *reached > VAGUE { "not " } else { "" };
                let (known, target) = (percent(reached.min(VAGUE)), percent(*target));
                write!(
                    f,
                    "{metric} is {not}known to ±{known} %, and the target is ±{target} %"
                )
            }
        }
    }
}

/// A trend is called drift if chance produces it less often than this.
const DRIFT_PROBABILITY: f64 = 0.01;
/// A smaller drift is below the differences that matter in practice.
const DRIFT_CHANGE: f64 = 0.02;
/// Modes closer to each other than this are below the differences that matter in practice.
const MODE_DISTANCE: f64 = 0.05;

/// The warnings that follow from the batches of one point and their estimates. The activity of other
/// programs, preemptions and changes of the clock's speed are inside the interval and no warning: what
/// they were during the whole run is on the record.
pub fn judge(definition: &Definition, estimates: &[Estimate], batches: &[Batch]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = not_warm(batches).into_iter().collect();
    for estimate in estimates {
        if let Some(metric) = definition.metric(&estimate.metric) {
            warnings.extend(drift(metric, estimate));
            warnings.extend(several_modes(metric, estimate));
        }
    }
    warnings
}

/// A burst of another program makes single processes seem cold, and the estimate does not rest on them.
fn not_warm(batches: &[Batch]) -> Option<Warning> {
    let cold = batches.iter().filter(|batch| !batch.warm).count();
    (2 * cold > batches.len()).then_some(Warning::NotWarm)
}

fn drift(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let probability = trend::mann_kendall(&estimate.by_process)?;
    let slope = trend::theil_sen_slope(&estimate.by_process)?;
    let change = slope * (estimate.by_process.len() - 1) as f64 / estimate.centre;
    // The interval covers a drift that is smaller than it.
    let covered = 2.0 * estimate.relative_half_width()?;
    let is_large = change.is_finite() && change.abs() > covered.max(DRIFT_CHANGE);
    (probability < DRIFT_PROBABILITY && is_large).then(|| Warning::Drift {
        metric: metric.name.clone(),
        change,
    })
}

fn several_modes(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let several = modes::several(&estimate.by_process);
    let mut centres = several.or_else(|| Some(uncovered_halves(estimate)?.to_vec()))?;
    // Modes that a reader would call one value are shown as one.
    let apart = MODE_DISTANCE * estimate.centre.abs();
    centres.dedup_by(|next, kept| *next - *kept <= apart);
    let all_finite = centres.iter().all(|centre| centre.is_finite());
    (centres.len() > 1 && all_finite).then(|| Warning::SeveralModes {
        metric: metric.name.clone(),
        centres,
    })
}

/// The centres of two halves of the processes, if the interval leaves out one of them: its centre then
/// lies within one half and looks well known.
fn uncovered_halves(estimate: &Estimate) -> Option<[f64; 2]> {
    let interval = estimate.interval?;
    let centres = modes::halves(&estimate.by_process)?;
    let is_left_out = |centre: &f64| !interval.contains(*centre);
    centres.iter().any(is_left_out).then_some(centres)
}

#[cfg(test)]
mod tests {
    use super::{Warning, judge};
    use crate::experiment::{Better, Definition, Metric};
    use crate::made_up::{self, definition};
    use crate::quantity::Unit;
    use crate::results::Estimate;
    use crate::sample::{Batch, Disturbance, Reading};
    use crate::statistics::modes;

    #[test]
    fn a_drift_beyond_the_value_has_no_percentage() {
        let drift = |change| {
            let metric = "cost".into();
            Warning::Drift { metric, change }.to_string()
        };
        assert_eq!(drift(-0.128), "cost fell by 13 % from start to end");
        assert_eq!(
            drift(387.27),
            "cost rose by more than its own value from start to end"
        );
    }

    fn batch(cost_ns: f64) -> Batch {
        Batch {
            samples: vec![made_up::cost(vec![(cost_ns * 1e6) as u64], &[])],
            warm: true,
            wall_ns: 10_000_000,
            ..Batch::default()
        }
    }

    fn labels(batches: &[Batch]) -> Vec<&'static str> {
        let definition = definition();
        let estimates = Estimate::all(&definition, batches);
        judge(&definition, &estimates, batches)
            .iter()
            .map(Warning::label)
            .collect()
    }

    /// One batch in each pass.
    fn in_passes(costs_ns: impl IntoIterator<Item = f64>) -> Vec<Batch> {
        made_up::in_passes(costs_ns.into_iter().map(batch))
    }

    fn quiet() -> Vec<Batch> {
        in_passes([100.0, 100.2, 99.9, 100.1, 100.0, 99.8])
    }

    #[test]
    fn only_doubts_beyond_the_interval_are_warnings() {
        let mut batches = quiet();
        for batch in &mut batches {
            batch.disturbance = Disturbance {
                stolen_ns: Some(5_000_000),
                others_ns: Some(9_000_000),
            };
        }
        assert_eq!(labels(&batches), Vec::<&str>::new());
    }

    #[test]
    fn a_point_is_not_warm_if_more_than_half_of_its_processes_were_not() {
        let with_cold = |count: usize| {
            let mut batches = quiet();
            batches[..count].iter_mut().for_each(|it| it.warm = false);
            labels(&batches)
        };
        assert_eq!(with_cold(3), Vec::<&str>::new());
        assert_eq!(with_cold(4), ["not warm"]);
    }

    #[test]
    fn a_steady_rise_is_drift() {
        let rising = (0..20).map(|step| 100.0 + f64::from(step));
        assert!(labels(&in_passes(rising)).contains(&"drift"));
    }

    #[test]
    fn modes_that_nearly_agree_are_shown_as_one() {
        let speeds = [100.0, 101.0, 150.0];
        let costs = (0..60).map(|index| speeds[index % 3] + (index / 3) as f64 * 1e-3);
        let batches = in_passes(costs);
        let estimates = Estimate::all(&definition(), &batches);
        assert_eq!(
            modes::several(&estimates[0].by_process).map(|all| all.len()),
            Some(3)
        );
        let warnings = judge(&definition(), &estimates, &batches);
        let centres = warnings.iter().find_map(|warning| match warning {
            Warning::SeveralModes { centres, .. } => Some(centres.as_slice()),
            _ => None,
        });
        assert!(
            matches!(centres, Some([low, high]) if high - low > 49e6),
            "{warnings:?}"
        );
    }

    /// The centre lies within the lower half: without the warning it would look well known.
    #[test]
    fn halves_that_the_interval_leaves_out_are_two_modes() {
        let halves = |distance: f64| {
            let cost = |index: u32| {
                let slower = index % 2 == 1;
                100.0 + f64::from(index) * 0.5 + if slower { distance } else { 0.0 }
            };
            let two_in_each = |index: u32| Batch {
                pass: Some(index / 2),
                ..batch(cost(index))
            };
            let batches: Vec<Batch> = (0..10).map(two_in_each).collect();
            let estimates = Estimate::all(&definition(), &batches);
            assert!(estimates[0].is_within(0.05), "{estimates:?}");
            labels(&batches)
        };
        assert_eq!(halves(10.0), ["several modes"]);
        assert_eq!(halves(1.0), Vec::<&str>::new());
    }

    #[test]
    fn values_about_zero_give_no_warning_that_is_no_number() {
        let definition = Definition {
            metrics: vec![Metric::new("cost", "cost", Unit::Count, Better::Neither)],
            ..definition()
        };
        let mut batches = in_passes([1.0; 12]);
        for (batch, step) in batches.iter_mut().zip(0..) {
            batch.samples[0].reading = Reading::Value(f64::from(step) - 5.5);
        }
        let estimates = Estimate::all(&definition, &batches);
        for warning in judge(&definition, &estimates, &batches) {
            let text = serde_json::to_string(&warning).expect("plain data");
            assert!(!text.contains("null"), "{text}");
        }
    }

    #[test]
    fn a_warning_touches_its_own_metric_or_all() {
        let drift = Warning::Drift {
            metric: "read".into(),
            change: 0.1,
        };
        assert!(drift.touches("read") && !drift.touches("write"));
        assert!(Warning::NotWarm.touches("write"));
    }
}
