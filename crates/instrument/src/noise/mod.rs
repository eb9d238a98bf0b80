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
