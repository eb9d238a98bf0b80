//! Axes, metrics and method of `memory.nodes`.

use crate::prelude::*;
use instrument::finding::Say;
use instrument::point::{AxisKind, Level, LevelOf, read_back};
use std::fmt;

pub(super) use crate::memory::jobs::{READ, WRITE};
pub(super) const PROCESSORS: AxisOf<NodeName> = AxisOf::new("processors", "processors of");
pub(super) const MEMORY: AxisOf<NodeName> = AxisOf::new("memory", "memory of");
pub(super) const LOAD: Metric<&str> = Metric::time("load", "load").bounded(SHORTEST_LOAD_NS);

/// A load from the nearest cache takes several cycles; no processor does ten in a nanosecond.
const SHORTEST_LOAD_NS: f64 = 0.1;

/// A node by its number in the system. The level is called `node 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeName(pub(super) usize);

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

impl LevelOf for NodeName {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        read_back(level, |name| {
            Some(Self(name.strip_prefix("node ")?.parse().ok()?))
        })
    }
}

impl Say for NodeName {
    fn say(&self, _name: &'static str, sentence: &mut Sentence) {
        sentence.push_text(&self.to_string());
    }
}

pub(super) const DESIGN: Design = Design {
    id: "memory.nodes",
    title: "Memory of other nodes",
    question: "What does it cost a program that its memory is near to other processors than its own?",
    method: "Memory is taken from one node, as verified, and used by the processors of one node, for each \
             pair of nodes. Load: one processor follows a chain of addresses in random order, one in \
             each cache line, as in memory.latency; in huge pages if the system provides them. Read and \
             write: each processor of the node runs a thread that passes over a block of its own, all \
             at the same time, as in memory.parallel. The blocks together are four times as large as \
             the last-level cache, or smaller if the smallest node has too little room.",
    source: "common practice (lmbench's lat_mem_rd and STREAM, under numactl)",
    axes: &[PROCESSORS.axis(), MEMORY.axis()],
    metrics: &[LOAD, READ, WRITE],
};

#[cfg(test)]
mod tests {
    use super::NodeName;
    use instrument::point::{Level, LevelOf};

    #[test]
    fn a_level_is_read_back_as_the_node_that_it_names() {
        assert_eq!(NodeName(12).level(), Level::from("node 12"));
        assert_eq!(NodeName::of(&"node 12".into()), Some(NodeName(12)));
        for other in ["node", "node ", "node +1", "node 01", "12"] {
            assert_eq!(NodeName::of(&other.into()), None, "{other}");
        }
    }
}
