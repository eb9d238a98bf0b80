//! Noise: what casts doubt on a number, named, measured and with advice.

use crate::experiment::{Definition, Metric};
use crate::quantity::significant;
use crate::results::Estimate;
use crate::sample::Batch;
use crate::statistics::{modes, trend};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that casts doubt on a point's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// The hypervisor gave CPU time to others.
    Stolen {
        /// Stolen time over wall time.
        share: f64,
    },
    /// Other processes used the processors.
    OtherLoad {
        /// Their CPU time over wall time, 1 being one processor in full use.
        share: f64,
    },
    /// The scheduler took the processor away while it was wanted.
    Preempted {
        /// Involuntary context switches per second of measured wall time.
        per_second: f64,
    },
    /// The processor's clock changed its speed.
    FrequencyChanged {
        /// The lowest seen, in Hz.
        lowest_hz: f64,
        /// The highest seen, in Hz.
        highest_hz: f64,
    },
    /// The value rose or fell steadily from process to process.
    Drift {
        /// Which metric.
        metric: String,
        /// Change from the first process to the last, over the centre.
        change: f64,
    },
    /// The processes fall into groups: the centre may be a value that no process shows.
    SeveralModes {
        /// Which metric.
        metric: String,
        /// The middle of each group in the metric's unit.
        centres: Vec<f64>,
    },
    /// The timed loop had not settled when its samples were taken.
    NotWarm,
    /// The time was used up before the interval was as narrow as wanted.
    TargetMissed {
        /// Which metric.
        metric: String,
        /// Half the interval's width over the centre; `None` where there is no interval at all.
        reached: Option<f64>,
        /// What was wanted.
        target: f64,
    },
}

/// Above this part of the wall time, stolen time can move a centre by more than its interval in the
/// finest profile.
const STOLEN_SHARE: f64 = 0.01;
/// Above this, somebody else works on the machine; below it are the kernel's own threads.
const OTHER_LOAD_SHARE: f64 = 0.10;
/// Kernel threads bound to a processor preempt a few times a second on a quiet machine.
const PREEMPTIONS_PER_SECOND: f64 = 50.0;
/// A change of clock speed by more than this shows in every figure that is bound by the processor.
const FREQUENCY_CHANGE: f64 = 0.03;
/// A trend is called drift when chance gives it less often than this.
const DRIFT_PROBABILITY: f64 = 0.01;
/// A drift by less than this is smaller than the differences people act on.
const DRIFT_CHANGE: f64 = 0.02;
/// Modes closer to each other than this are smaller than the differences people act on.
const MODE_DISTANCE: f64 = 0.05;

impl Warning {
    /// Whether it touches `metric`: it names that metric, or all of the point.
    pub fn touches(&self, metric: &str) -> bool {
        match self {
            Self::Drift { metric: named, .. }
            | Self::SeveralModes { metric: named, .. }
            | Self::TargetMissed { metric: named, .. } => named == metric,
            _ => true,
        }
    }

    /// One or two words for the margin of a table.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Stolen { .. } => "stolen time",
            Self::OtherLoad { .. } => "other load",
            Self::Preempted { .. } => "preempted",
            Self::FrequencyChanged { .. } => "clock speed",
            Self::Drift { .. } => "drift",
            Self::SeveralModes { .. } => "several modes",
            Self::NotWarm => "not warm",
            Self::TargetMissed { .. } => "wide",
        }
    }

    /// What a person can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Stolen { .. } => "measure when the host is quieter, or on a dedicated host",
            Self::OtherLoad { .. } => "stop other programs; `oscope doctor` names the busiest",
            Self::Preempted { .. } => {
                "keep other programs off this processor, for instance with isolcpus"
            }
            Self::FrequencyChanged { .. } => {
                "set the governor to `performance` and switch turbo off"
            }
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
            Self::Stolen { share } => {
                write!(f, "the hypervisor took {} % of the time", percent(*share))
            }
            Self::OtherLoad { share } => {
                write!(
                    f,
                    "other programs used {} % of a processor",
                    percent(*share)
                )
            }
            Self::Preempted { per_second } => {
                write!(
                    f,
                    "preempted {} times a second",
                    significant(*per_second, 2)
                )
            }
            Self::FrequencyChanged {
                lowest_hz,
                highest_hz,
            } => write!(
                f,
                "the clock ran between {} and {} GHz",
                significant(lowest_hz / 1e9, 3),
                significant(highest_hz / 1e9, 3)
            ),
            Self::Drift { metric, change } => {
                let direction = if *change < 0.0 { "fell" } else { "rose" };
                write!(
                    f,
                    "{metric} {direction} by {} % from start to end",
                    percent(change.abs())
                )
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
                reached: Some(reached),
                target,
            } => write!(
                f,
                "{metric} is known to ±{} %, where ±{} % was wanted",
                percent(*reached),
                percent(*target)
            ),
            Self::TargetMissed {
                metric,
                reached: None,
                ..
            } => {
                write!(f, "{metric} has too few processes for an interval")
            }
        }
    }
}

/// What the batches of one point and their estimates say against themselves.
pub fn judge(definition: &Definition, estimates: &[Estimate], batches: &[Batch]) -> Vec<Warning> {
    let mut warnings = around(batches);
    for estimate in estimates {
        if let Some(metric) = definition.metric(&estimate.metric) {
            warnings.extend(drift(metric, estimate));
            warnings.extend(several_modes(metric, estimate));
        }
    }
    warnings
}

/// What went on around the batches.
fn around(batches: &[Batch]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let wall_ns: u64 = batches.iter().map(|batch| batch.wall_ns).sum();
    if wall_ns == 0 {
        return warnings;
    }
    let share = |part: &dyn Fn(&Batch) -> Option<i64>| {
        batches.iter().filter_map(part).sum::<i64>() as f64 / wall_ns as f64
    };
    let stolen = share(&|batch| batch.disturbance.stolen_ns.map(u64::cast_signed));
    if stolen > STOLEN_SHARE {
        warnings.push(Warning::Stolen { share: stolen });
    }
    let others = share(&|batch| batch.disturbance.others_ns);
    if others > OTHER_LOAD_SHARE {
        warnings.push(Warning::OtherLoad { share: others });
    }
    warnings.extend(preempted(batches));
    warnings.extend(frequency_changed(batches));
    if batches.iter().any(|batch| !batch.warm) {
        warnings.push(Warning::NotWarm);
    }
    warnings
}

fn preempted(batches: &[Batch]) -> Option<Warning> {
    let samples = batches.iter().flat_map(|batch| &batch.samples);
    // Switches during what has no wall time of its own would be counted over that of the others.
    let timed = samples.filter_map(|sample| Some((sample.usage, sample.reading.wall_ns()?)));
    let (switches, wall_ns) = timed.fold((0, 0), |(switches, total_ns), (usage, wall_ns)| {
        (switches + usage.involuntary_switches, total_ns + wall_ns)
    });
    // One switch within a few milliseconds is no rate.
    if switches < 10 || wall_ns == 0 {
        return None;
    }
    let per_second = switches as f64 * 1e9 / wall_ns as f64;
    (per_second > PREEMPTIONS_PER_SECOND).then_some(Warning::Preempted { per_second })
}

fn frequency_changed(batches: &[Batch]) -> Option<Warning> {
    let seen = batches
        .iter()
        .filter_map(|batch| batch.disturbance.frequency_hz)
        .flat_map(|(before, after)| [before, after]);
    let (lowest_hz, highest_hz) = seen.fold((f64::INFINITY, 0.0), |(lowest, highest), hz| {
        (f64::min(lowest, hz), f64::max(highest, hz))
    });
    (highest_hz > lowest_hz * (1.0 + FREQUENCY_CHANGE)).then_some(Warning::FrequencyChanged {
        lowest_hz,
        highest_hz,
    })
}

fn drift(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let trend = trend::mann_kendall(&estimate.by_process)?;
    let times: Vec<f64> = (0..estimate.by_process.len())
        .map(|index| index as f64)
        .collect();
    let slope = trend::theil_sen_slope(&times, &estimate.by_process)?;
    let change = slope * (times.len() - 1) as f64 / estimate.centre;
    (trend.p_value < DRIFT_PROBABILITY && change.is_finite() && change.abs() > DRIFT_CHANGE).then(
        || Warning::Drift {
            metric: metric.name.clone(),
            change,
        },
    )
}

fn several_modes(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let modes = modes::several(&estimate.by_process)?;
    let centres: Vec<f64> = modes.iter().map(|mode| mode.centre).collect();
    let distance = centres.last()? - centres.first()?;
    (distance.is_finite() && distance > MODE_DISTANCE * estimate.centre.abs()).then(|| {
        Warning::SeveralModes {
            metric: metric.name.clone(),
            centres,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Warning, judge};
    use crate::experiment::{Better, Definition, Isolation, Metric};
    use crate::quantity::Unit;
    use crate::results::Estimate;
    use crate::sample::{Batch, Disturbance, Reading, Sample};
    use platform::usage::Usage;

    fn definition() -> Definition {
        Definition {
            id: "mock.one".into(),
            title: String::new(),
            question: String::new(),
            method: String::new(),
            source: String::new(),
            axes: Vec::new(),
            metrics: vec![Metric::new(
                "cost",
                "cost",
                Unit::Nanoseconds,
                Better::Lower,
            )],
            isolation: Isolation::FreshProcess,
        }
    }

    fn batch(cost_ns: f64) -> Batch {
        let reading = Reading::Once {
            work: 1.0,
            wall_ns: (cost_ns * 1e6) as u64,
        };
        let sample = Sample {
            metric: "cost".into(),
            reading,
            usage: Usage::default(),
            at_ns: 0,
        };
        Batch {
            samples: vec![sample],
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

    fn quiet() -> Vec<Batch> {
        [100.0, 100.2, 99.9, 100.1, 100.0, 99.8].map(batch).to_vec()
    }

    #[test]
    fn quiet_batches_raise_no_warning() {
        assert_eq!(labels(&quiet()), Vec::<&str>::new());
    }

    #[test]
    fn each_disturbance_has_its_name() {
        let disturbed = |change: &dyn Fn(&mut Batch)| {
            let mut batches = quiet();
            batches.iter_mut().for_each(change);
            labels(&batches)
        };
        let disturbance = Disturbance {
            stolen_ns: Some(500_000),
            ..Disturbance::default()
        };
        assert_eq!(
            disturbed(&|batch| batch.disturbance = disturbance),
            ["stolen time"]
        );
        let disturbance = Disturbance {
            others_ns: Some(5_000_000),
            ..Disturbance::default()
        };
        assert_eq!(
            disturbed(&|batch| batch.disturbance = disturbance),
            ["other load"]
        );
        let frequency_hz = Some((2.0e9, 3.0e9));
        let disturbance = Disturbance {
            frequency_hz,
            ..Disturbance::default()
        };
        assert_eq!(
            disturbed(&|batch| batch.disturbance = disturbance),
            ["clock speed"]
        );
        assert_eq!(disturbed(&|batch| batch.warm = false), ["not warm"]);
        let preempt = |batch: &mut Batch| batch.samples[0].usage.involuntary_switches = 20;
        assert_eq!(disturbed(&preempt), ["preempted"]);
    }

    #[test]
    fn switches_are_not_counted_over_time_in_which_they_did_not_happen() {
        let mut batches = quiet();
        for batch in &mut batches {
            let mut other = batch.samples[0].clone();
            other.reading = Reading::Value(1.0);
            other.usage.involuntary_switches = 1000;
            batch.samples.push(other);
        }
        assert_eq!(labels(&batches), Vec::<&str>::new());
    }

    #[test]
    fn ticks_that_count_to_either_side_cancel() {
        let mut batches = quiet();
        for (index, batch) in batches.iter_mut().enumerate() {
            let tick_ns = if index % 2 == 0 {
                10_000_000
            } else {
                -10_000_000
            };
            batch.disturbance.others_ns = Some(tick_ns);
        }
        assert_eq!(labels(&batches), Vec::<&str>::new());
    }

    #[test]
    fn a_steady_rise_is_drift() {
        let rising: Vec<Batch> = (0..12).map(|step| batch(100.0 + f64::from(step))).collect();
        assert!(labels(&rising).contains(&"drift"));
    }

    #[test]
    fn two_speeds_are_two_modes() {
        let two = |index: u32| {
            if index.is_multiple_of(2) {
                100.0
            } else {
                150.0
            }
        };
        let batches: Vec<Batch> = (0..20)
            .map(|index| batch(two(index) + f64::from(index % 5) * 0.1))
            .collect();
        assert!(
            labels(&batches).contains(&"several modes"),
            "{:?}",
            labels(&batches)
        );
    }

    #[test]
    fn values_about_zero_give_no_warning_that_is_no_number() {
        let definition = Definition {
            metrics: vec![Metric::new("cost", "cost", Unit::Count, Better::Neither)],
            ..definition()
        };
        let batches: Vec<Batch> = (0..12)
            .map(|step| {
                let mut batch = batch(1.0);
                batch.samples[0].reading = Reading::Value(f64::from(step) - 5.5);
                batch
            })
            .collect();
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
