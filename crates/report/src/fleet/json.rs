//! A judged fleet as JSON for other programs. Its schema is `schema/fleet-1.schema.json` in this
//! crate; `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-report --test schemas` regenerates it.

use super::{Fleet, Node, Part, Second, Standing, Value};
use crate::comparison::{Circumstance, Refusal};
use instrument::point::Choice;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// The JSON schema of [`json`].
pub fn schema() -> Schema {
    schema_for!(FleetJson<'_>)
}

/// The judged fleet.
pub fn json(fleet: &Fleet) -> serde_json::Value {
    crate::json::value(&FleetJson {
        format: FORMAT,
        counts: Counts {
            slower: fleet.count(Some(Standing::Slower)),
            faster: fleet.count(Some(Standing::Faster)),
            alike: fleet.count(Some(Standing::Alike)),
            not_judged: fleet.count(None),
        },
        margin: fleet.margin,
        since: fleet.is_since,
        values: fleet.values,
        remarks: fleet.caveats(),
        nodes: fleet.nodes.iter().map(NodeJson::new).collect(),
        refused: &fleet.refused,
        second: fleet.second.as_ref(),
    })
}

/// A fleet of nodes, judged by oscope against each other.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A fleet judged by oscope")]
struct FleetJson<'a> {
    /// The version of this format.
    format: u32,
    /// Number of nodes with each verdict.
    counts: Counts,
    /// Differences up to this are ignored: 0.02 for 2 %.
    margin: f64,
    /// True if the changes of the nodes since earlier runs are judged: a ratio of 0.9 means that a node became
    /// 10 % slower, apart from what the nodes changed together.
    since: bool,
    /// Number of values that enough nodes have.
    values: usize,
    /// Caveats to read before the numbers.
    remarks: Vec<String>,
    /// The nodes: first those that are slower, then those that are faster, then the others, at last those without a verdict.
    nodes: Vec<NodeJson<'a>>,
    /// Values that cannot be compared.
    refused: &'a [Refusal],
    /// The second measurement of what was named at first; null if there was none.
    second: Option<&'a Second>,
}

/// Number of nodes with each verdict.
#[derive(Serialize, JsonSchema)]
struct Counts {
    /// Slower in a component.
    slower: usize,
    /// Faster in a component, and slower in none.
    faster: usize,
    /// Not known to differ.
    alike: usize,
    /// Without values that enough other nodes have.
    not_judged: usize,
}

/// A node.
#[derive(Serialize, JsonSchema)]
struct NodeJson<'a> {
    /// Its name.
    node: &'a str,
    /// The verdict; null if the node has no values that enough other nodes have.
    verdict: Option<Standing>,
    /// The components in which it has this verdict.
    because: Vec<&'static str>,
    /// The ids of its runs.
    runs: &'a [String],
    /// The fingerprints of its machine; several if its runs come from several machines.
    machines: &'a [String],
    /// The switches above it, the outermost first; null if its runs do not name them.
    switch: Option<&'a str>,
    /// The components that it measured, by name.
    components: BTreeMap<&'static str, &'a Part>,
    /// Facts by which it differs from most nodes, whose value is `a`, or from itself before.
    circumstances: &'a [Circumstance],
    /// Its values that differ by themselves, the largest difference first; empty for a node that is
    /// not known to differ.
    differing: &'a [Value],
}

impl<'a> NodeJson<'a> {
    fn new(node: &'a Node) -> Self {
        let because = node.differing();
        let because = because.filter(|(_, part)| Some(part.standing) == node.standing);
        let parts = node.parts.iter();
        Self {
            node: &node.name,
            verdict: node.standing,
            because: because.map(|(component, _)| component.name()).collect(),
            runs: &node.runs,
            machines: &node.machines,
            switch: node.switch.as_deref(),
            components: parts.map(|(it, part)| (it.name(), part)).collect(),
            circumstances: &node.circumstances,
            differing: if node.is_odd() { &node.values } else { &[] },
        }
    }
}
