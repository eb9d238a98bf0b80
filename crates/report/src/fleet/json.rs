//! A judged fleet as JSON for other programs. Its schema is `schema/fleet-1.schema.json` in this
//! crate; `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-report --test schemas` regenerates it.

use super::{Alarm, Fleet, Node, Outcome, Part, Second, Standing, Value};
use crate::comparison::{Circumstance, Refusal};
use instrument::point::Choice;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// The JSON schema of [`json`].
pub fn schema() -> Schema {
    schema_for!(Document<'_>)
}

/// The judged fleet.
pub fn json(fleet: &Fleet) -> serde_json::Value {
    serde_json::to_value(Document::new(fleet)).expect("plain data whose maps have text for keys")
}

/// A fleet of nodes, judged by oscope against each other.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A fleet judged by oscope")]
struct Document<'a> {
    /// The version of this format.
    format: u32,
    /// Number of nodes with each verdict.
    counts: Counts,
    /// Differences up to this are ignored: 0.02 for 2 %.
    margin: f64,
    /// True if the changes of the nodes since earlier runs are judged: a ratio of 0.9 means that a node became
    /// 10 % slower, beside what the nodes changed together.
    since: bool,
    /// Number of values that enough nodes have.
    values: usize,
    /// Caveats to read before the numbers.
    remarks: Vec<String>,
    /// The nodes: first those that are slower, then those that are faster, then the others.
    nodes: Vec<NodeJson<'a>>,
    /// Values that cannot be compared.
    refused: &'a [Refusal],
    /// The second measurement of what was named at first; null if there was none.
    second: Option<SecondJson<'a>>,
}

/// A second measurement. What it does not bear out is in no verdict.
#[derive(Serialize, JsonSchema)]
struct SecondJson<'a> {
    /// The nodes beside which the named ones were measured again.
    healthy: &'a [String],
    /// The experiments that were measured again.
    experiments: &'a [String],
    /// The components of nodes that a judgement named.
    alarms: Vec<AlarmJson<'a>>,
}

/// A component of a node that a judgement named.
#[derive(Serialize, JsonSchema)]
struct AlarmJson<'a> {
    node: &'a str,
    component: &'static str,
    /// The outcome of the alarm.
    outcome: OutcomeJson,
    /// The reason why it was not measured again.
    because: Option<&'a str>,
    /// The component in the first judgement.
    first: Option<PartJson>,
    /// The component in the second runs alone, against the healthy nodes.
    alone: Option<PartJson>,
    /// The component in the judgement of all runs together.
    together: Option<PartJson>,
}

/// The outcome of an alarm.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeJson {
    /// The second measurement says the same.
    BorneOut,
    /// Only one of the measurements says it.
    SeenOnce,
    /// The alarm stands as it is.
    NotMeasured,
}

/// Number of nodes with each verdict.
#[derive(Serialize, JsonSchema)]
struct Counts {
    /// Slower in a component.
    slower: usize,
    /// Faster in a component, and slower in none.
    faster: usize,
    /// Not told to differ.
    alike: usize,
}

/// A node.
#[derive(Serialize, JsonSchema)]
struct NodeJson<'a> {
    /// Its name.
    node: &'a str,
    /// The verdict.
    verdict: Standing,
    /// The components in which it has this verdict.
    because: Vec<&'static str>,
    /// The ids of its runs.
    runs: &'a [String],
    /// The fingerprints of its machine; several if its runs come from several machines.
    machines: &'a [String],
    /// The switches above it, the outermost first; null if its runs do not tell.
    switch: Option<&'a str>,
    /// The components that it measured, by name.
    components: BTreeMap<&'static str, PartJson>,
    /// Facts by which it differs from most nodes, whose value is `a`, or from itself before.
    circumstances: &'a [Circumstance],
    /// Its values that differ by themselves, the largest difference first; empty for a node that is
    /// not told to differ.
    differing: Vec<ValueJson<'a>>,
}

/// A component of a node.
#[derive(Serialize, JsonSchema)]
struct PartJson {
    /// The verdict.
    verdict: Standing,
    /// Improvement over the other nodes: 0.9 means 10 % slower.
    ratio: f64,
    /// Its 95 % confidence interval.
    interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all nodes and components.
    adjusted_p: f64,
    /// Number of its values in this node.
    values: usize,
    /// Number of those that differ by themselves in the same direction.
    differing: usize,
}

/// A metric at a point whose value in a node differs.
#[derive(Serialize, JsonSchema)]
struct ValueJson<'a> {
    /// The component of which it speaks.
    component: &'static str,
    experiment: &'a str,
    /// Point and metric for readers.
    place: &'a str,
    metric: &'a str,
    unit: Unit,
    /// Improvement over the other nodes.
    ratio: f64,
    /// Its 95 % confidence interval.
    interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all nodes and values.
    adjusted_p: f64,
    /// The value of this node, in base units.
    here: f64,
    /// The median over the nodes, or the node's own value before.
    elsewhere: f64,
    /// True if a warning concerns the value.
    doubtful: bool,
}

impl<'a> Document<'a> {
    fn new(fleet: &'a Fleet) -> Self {
        let nodes = fleet.nodes.iter();
        Self {
            format: FORMAT,
            counts: Counts {
                slower: fleet.count(Standing::Slower),
                faster: fleet.count(Standing::Faster),
                alike: fleet.count(Standing::Alike),
            },
            margin: fleet.margin,
            since: fleet.is_since,
            values: fleet.values,
            remarks: fleet.caveats(),
            nodes: nodes.map(|node| NodeJson::new(fleet, node)).collect(),
            refused: &fleet.refused,
            second: fleet.second.as_ref().map(SecondJson::new),
        }
    }
}

impl<'a> SecondJson<'a> {
    fn new(second: &'a Second) -> Self {
        Self {
            healthy: &second.healthy,
            experiments: &second.experiments,
            alarms: second.alarms.iter().map(AlarmJson::new).collect(),
        }
    }
}

impl<'a> AlarmJson<'a> {
    fn new(alarm: &'a Alarm) -> Self {
        let (outcome, because) = match &alarm.outcome {
            Outcome::BorneOut => (OutcomeJson::BorneOut, None),
            Outcome::SeenOnce => (OutcomeJson::SeenOnce, None),
            Outcome::NotMeasured(reason) => (OutcomeJson::NotMeasured, Some(reason.as_str())),
        };
        Self {
            node: &alarm.node,
            component: alarm.component.name(),
            outcome,
            because,
            first: alarm.first.as_ref().map(PartJson::new),
            alone: alarm.alone.as_ref().map(PartJson::new),
            together: alarm.together.as_ref().map(PartJson::new),
        }
    }
}

impl PartJson {
    fn new(part: &Part) -> Self {
        Self {
            verdict: part.standing,
            ratio: part.ratio,
            interval: part.interval,
            adjusted_p: part.adjusted_p,
            values: part.values,
            differing: part.differing,
        }
    }
}

impl<'a> NodeJson<'a> {
    fn new(fleet: &'a Fleet, node: &'a Node) -> Self {
        let parts = fleet.components.iter().zip(&node.parts);
        let because = node.differing(fleet);
        let because = because.filter(|(_, part)| part.standing == node.standing);
        let differs = node.standing != Standing::Alike;
        let values = node.values.iter().filter(|_| differs);
        Self {
            node: &node.name,
            verdict: node.standing,
            because: because.map(|(component, _)| component.name()).collect(),
            runs: &node.runs,
            machines: &node.machines,
            switch: node.switch.as_deref(),
            components: parts
                .filter_map(|(component, part)| {
                    Some((component.name(), PartJson::new(part.as_ref()?)))
                })
                .collect(),
            circumstances: &node.circumstances,
            differing: values.map(ValueJson::new).collect(),
        }
    }
}

impl<'a> ValueJson<'a> {
    fn new(value: &'a Value) -> Self {
        Self {
            component: value.component.name(),
            experiment: &value.experiment,
            place: &value.place,
            metric: &value.metric,
            unit: value.unit,
            ratio: value.ratio,
            interval: value.interval,
            adjusted_p: value.adjusted_p,
            here: value.here,
            elsewhere: value.elsewhere,
            doubtful: value.doubtful,
        }
    }
}
