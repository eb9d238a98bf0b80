//! A comparison as JSON for other programs. Its schema is `schema/comparison-1.schema.json` in this
//! crate; `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-report --test schemas` regenerates it.
//!
//! [`FORMAT`] increases if a field changes its meaning or is removed; new fields may appear at any
//! time.

use super::row::{Remedy, Row, Verdict};
use super::{Comparison, Counts, Excluded, Side, Together};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// The JSON schema of [`json`].
pub fn schema() -> Schema {
    schema_for!(ComparisonsJson<'_>)
}

/// The comparisons of each further side with the first.
pub fn json<'a>(comparisons: &'a [Comparison<'a>]) -> serde_json::Value {
    crate::json::value(&ComparisonsJson {
        format: FORMAT,
        comparisons: comparisons.iter().map(ComparisonJson::new).collect(),
    })
}

/// Comparisons of runs of oscope.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A comparison of runs of oscope")]
struct ComparisonsJson<'a> {
    /// The version of this format.
    format: u32,
    /// One comparison for each further side.
    comparisons: Vec<ComparisonJson<'a>>,
}

/// A comparison of two sides.
#[derive(Serialize, JsonSchema)]
struct ComparisonJson<'a> {
    /// The reference side.
    a: SideJson<'a>,
    /// The side under judgement.
    b: SideJson<'a>,
    #[serde(flatten)]
    comparison: &'a Comparison<'a>,
    /// Number of values with each verdict.
    counts: Counts,
    /// The counts by group of experiments.
    groups: BTreeMap<&'a str, Counts>,
    /// The differences that the intervals exclude; `null` without intervals.
    excluded: Option<Excluded>,
    /// The metrics whose values moved together, the largest move first.
    together: Vec<Together>,
    /// All values that both sides have.
    values: Vec<ValueJson<'a>>,
}

/// One side.
#[derive(Serialize, JsonSchema)]
struct SideJson<'a> {
    /// The user's name for it.
    label: &'a str,
    /// The ids of its sessions.
    runs: Vec<&'a str>,
    /// The fingerprints of their machines.
    machines: Vec<&'a str>,
    /// True if a published report printed its numbers.
    reported: bool,
}

/// One metric at one point.
#[derive(Serialize, JsonSchema)]
struct ValueJson<'a> {
    experiment: &'a str,
    /// Axis to level: bytes, a count, or a choice.
    levels: BTreeMap<&'a str, &'a Level>,
    /// The levels of the second side, if that was measured on another operating system and this value is
    /// not wholly the same there; else `null`.
    b_levels: Option<BTreeMap<&'a str, &'a Level>>,
    /// The difference of the two then.
    difference: Option<&'a str>,
    metric: &'a str,
    version: u32,
    unit: Unit,
    verdict: Verdict,
    /// Improvement of the second side: 1.05 means 5 % faster, for metrics of either direction.
    ratio: f64,
    /// Its 95 % confidence interval; `null` if the spread is unknown.
    interval: Option<Interval>,
    /// Differences up to this are ignored: 0.02 for 2 %.
    margin: f64,
    /// The p-value of "no more than the margin", adjusted for all values (Benjamini and Hochberg).
    adjusted_p: Option<f64>,
    /// The geometric mean of the first side's sessions, in base units.
    a: f64,
    /// The same for the second side.
    b: f64,
    /// The value of each session of the first side.
    a_sessions: &'a [f64],
    /// The value of each session of the second side.
    b_sessions: &'a [f64],
    /// True if a warning concerns the value in any session.
    doubtful: bool,
    /// Number of sessions that were left out, since they were far worse than all others of their side.
    left_out: usize,
    /// For inconclusive values: approximate number of sessions on each side that would decide it;
    /// `null` if no practical number would.
    sessions_needed: Option<usize>,
}

impl<'a> ComparisonJson<'a> {
    fn new(comparison: &'a Comparison<'a>) -> Self {
        Self {
            a: SideJson::new(comparison.question.a),
            b: SideJson::new(comparison.question.b),
            comparison,
            counts: comparison.counts(),
            groups: comparison.groups().into_iter().collect(),
            excluded: Excluded::of(&comparison.rows),
            together: comparison.together(),
            values: comparison.rows.iter().map(ValueJson::new).collect(),
        }
    }
}

impl<'a> SideJson<'a> {
    fn new(side: &'a Side) -> Self {
        Self {
            label: &side.label,
            runs: side.runs.iter().map(|run| run.header.id.as_str()).collect(),
            machines: side.machines(),
            reported: side.is_reported(),
        }
    }
}

impl<'a> ValueJson<'a> {
    fn new(row: &'a Row<'_>) -> Self {
        Self {
            experiment: &row.definition.id,
            levels: row.point.levels().collect(),
            b_levels: row.other_point.map(|other| other.point.levels().collect()),
            difference: row.other_point.map(|other| other.difference),
            metric: &row.metric.name,
            version: row.metric.version,
            unit: row.metric.unit,
            verdict: row.verdict,
            ratio: row.ratio,
            interval: row.interval,
            margin: row.margin,
            adjusted_p: row.adjusted_p,
            a: row.a.centre,
            b: row.b.centre,
            a_sessions: &row.a.sessions,
            b_sessions: &row.b.sessions,
            doubtful: row.doubtful,
            left_out: row.left_out,
            sessions_needed: match row.remedy {
                Some(Remedy::Sessions(count)) => Some(count),
                _ => None,
            },
        }
    }
}
