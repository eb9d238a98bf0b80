//! Judgement of many nodes that should be alike, against each other and without a baseline.
//!
//! # Method
//!
//! Each run is read into its values ([`Reading`]), and the runs of one node are its sessions
//! ([`Gathering`]). A value is compared with the median over the nodes, as
//! [`peers`](instrument::statistics::peers) describes. Values that measure the same component of a
//! machine are judged together, and a node is named only for a component as a whole: at least half of
//! its weight must deviate. A deviation counts only beyond a margin. The false discovery rate is
//! controlled over nodes × components, and again over nodes × values.
//!
//! Instead of values, changes since earlier runs can be judged ([`Gathering::since`]).
//!
//! If the nodes can be reached, what is named is measured again ([`Request`]), and named in the verdict only
//! if the second measurement confirms it ([`settled`]).

mod facts;
mod gathering;
mod json;
mod judge;
mod reading;
mod remarks;
mod request;
mod second;
mod since;
#[cfg(test)]
mod tests;
mod text;

pub use gathering::Gathering;
pub use json::{FORMAT, json, schema};
pub(crate) use judge::tested;
pub use reading::{HOST, PART, Reading, SWITCH, name};
pub use request::{NoPeers, Request};
pub use second::{Alarm, Answers, Outcome, Second, settled, unmeasured};

use crate::comparison::{Circumstance, Refusal};
use crate::show::Word;
use crate::show::words::{ALIKE, FASTER, SLOWER};
use instrument::component::Component;
use instrument::point::Choice;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use instrument::statistics::peers::FEWEST_NODES;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// False discovery rate among the named components. A node that is named may be drained, which costs
/// more than a row of a comparison: so it is smaller than there.
pub(crate) const FALSE_DISCOVERY_RATE: f64 = 0.01;

/// A judged fleet.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Differences up to this are ignored: 0.02 for 2 %.
    pub margin: f64,
    /// True if the changes of the nodes since earlier runs are judged, and not their values.
    pub is_since: bool,
    /// The components of which enough nodes have values, each with the ids of the experiments that measure it.
    pub components: BTreeMap<Component, Vec<String>>,
    /// The nodes: first those that are slower, the most certain one first, then those that are faster,
    /// then the others by name, at last those without a verdict.
    pub nodes: Vec<Node>,
    /// Caveats to read before the numbers, but for those of [`Fleet::caveats`] that follow from the verdicts.
    pub remarks: Vec<String>,
    /// Values that cannot be compared with those of the other nodes.
    pub refused: Vec<Refusal>,
    /// Number of values, metrics at points, that enough nodes have.
    pub values: usize,
    /// The second measurement of what was named; `None` if there was none.
    pub second: Option<Second>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The ids of its runs.
    pub runs: Vec<String>,
    /// The fingerprints of its machine; several if its runs come from several machines.
    pub machines: Vec<String>,
    /// The switches above it, the outermost first; `None` if its runs do not name them.
    pub switch: Option<String>,
    /// The verdict on the node; `None` if it has no component that enough other nodes have.
    pub standing: Option<Standing>,
    /// The components that it measured.
    pub parts: BTreeMap<Component, Part>,
    /// Its values that differ by themselves, the largest difference first.
    pub values: Vec<Value>,
    /// Facts by which the node differs from most others.
    pub circumstances: Vec<Circumstance>,
}

/// A component of a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    /// Improvement over the other nodes: 0.9 means 10 % slower.
    pub ratio: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all nodes and components.
    pub adjusted_p: f64,
    /// The verdict.
    #[serde(rename = "verdict")]
    pub standing: Standing,
    /// Number of its values in this node.
    pub values: usize,
    /// Number of those that differ by themselves in the same direction.
    pub differing: usize,
}

/// A metric at a point whose value in a node differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Value {
    /// The component that it measures.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "String")]
    pub component: Component,
    /// The experiment.
    pub experiment: String,
    /// Point and metric for readers: `read cold, block size 4 KiB: bandwidth`.
    pub place: String,
    /// The metric.
    pub metric: String,
    /// Improvement over the other nodes.
    pub ratio: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all nodes and values.
    pub adjusted_p: f64,
    /// The unit of both values.
    pub unit: Unit,
    /// The value of the node, in base units.
    pub here: f64,
    /// The median over the nodes, or the value of the node before, if changes are judged.
    pub elsewhere: f64,
    /// True if a warning concerns the value.
    pub doubtful: bool,
}

/// The verdict on a node or a component of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Slower than the others, by more than the margin.
    Slower,
    /// Faster than the others, by more than the margin.
    Faster,
    /// Not known to differ.
    Alike,
}

/// The reason why runs cannot be judged as a fleet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unjudged {
    /// Of two nodes that differ, either may be the odd one.
    #[error(
        "these are runs of {0} {nodes}: of fewer than {FEWEST_NODES}, nobody can tell which is \
         the odd one; add more nodes, or show the differences of two by `oscope compare`",
        nodes = if *.0 == 1 { "node" } else { "nodes" }
    )]
    TooFew(usize),
    /// A run is among the earlier and among the present ones.
    #[error(
        "a run of {0} is among the earlier and among the present ones: name it on one side only"
    )]
    OnBothSides(String),
    /// No value was measured by enough nodes.
    #[error(
        "no value was measured in the same way by {FEWEST_NODES} nodes: measure the same experiments on \
         all of them with one version of oscope{}",
        .0.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    )]
    NothingInCommon(Option<String>),
}

impl Fleet {
    /// Number of nodes with this verdict, or without one.
    pub fn count(&self, standing: Option<Standing>) -> usize {
        let nodes = self.nodes.iter();
        nodes.filter(|node| node.standing == standing).count()
    }

    /// Caveats to read before the numbers.
    pub fn caveats(&self) -> Vec<String> {
        let mut caveats = self.remarks.clone();
        caveats.extend(self.unjudged());
        caveats.extend(self.switches());
        caveats
    }

    /// A component of a node.
    fn part(&self, node: &str, component: Component) -> Option<Part> {
        let node = self.nodes.iter().find(|it| it.name == node)?;
        node.parts.get(&component).copied()
    }
}

impl Node {
    /// True if it is slower or faster than the others.
    pub fn is_odd(&self) -> bool {
        matches!(self.standing, Some(Standing::Slower | Standing::Faster))
    }

    /// The components that differ.
    pub fn differing(&self) -> impl Iterator<Item = (Component, &Part)> {
        let parts = self
            .parts
            .iter()
            .map(|(component, part)| (*component, part));
        parts.filter(|(_, part)| part.standing != Standing::Alike)
    }

    /// The smallest adjusted p-value of its components.
    fn certainty(&self) -> f64 {
        let parts = self.parts.values();
        parts.map(|part| part.adjusted_p).fold(1.0, f64::min)
    }
}

impl Standing {
    /// The word for it.
    pub fn word(self) -> Word {
        match self {
            Self::Slower => SLOWER,
            Self::Faster => FASTER,
            Self::Alike => ALIKE,
        }
    }
}

fn by_name<C: Choice, S: Serializer>(choice: &C, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.name())
}
