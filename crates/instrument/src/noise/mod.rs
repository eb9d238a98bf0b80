//! Noise: named and measured doubts about a number, with advice.

mod judging;

pub use judging::judge;

use crate::quantity::significant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason to doubt a point's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// The hypervisor gave CPU time to other virtual machines. Only in runs of the first edition.
    Stolen {
        /// Stolen time over wall time.
        share: f64,
    },
    /// Other processes used the processors. Only in runs of the first edition.
    OtherLoad {
        /// Their CPU time over wall time, 1 being one processor in full use.
        share: f64,
    },
    /// The worker was preempted while runnable: by other programs, by kernel threads or by a limit
    /// on CPU time. Only in runs of the first edition.
    Preempted {
        /// Name of the metric.
        metric: String,
        /// Wall time without a processor over wall time, in the typical sample.
        share: f64,
    },
    /// The processor's clock frequency changed. Only in runs of the first edition.
    FrequencyChanged {
        /// The lowest frequency observed, in Hz.
        lowest_hz: f64,
        /// The highest frequency observed, in Hz.
        highest_hz: f64,
    },
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
            Self::Preempted { metric: named, .. }
            | Self::Drift { metric: named, .. }
            | Self::SeveralModes { metric: named, .. }
            | Self::TargetMissed { metric: named, .. } => named == metric,
            _ => true,
        }
    }

    /// Label of one or two words for the margin of a table.
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

    /// Advice for the reader.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Stolen { .. } => "measure when the host is quieter, or on a dedicated host",
            Self::OtherLoad { .. } => "stop other programs; `oscope doctor` names the busiest",
            Self::Preempted { .. } => {
                "keep other programs off this processor, for instance with isolcpus, and lift limits \
                 on CPU time"
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
            Self::Preempted { metric, share } => write!(
                f,
                "{metric} was without a processor for {} % of its time",
                percent(*share)
            ),
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
                "{metric} is known to ±{} %, and the target is ±{} %",
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
