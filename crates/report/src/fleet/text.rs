//! A judged fleet in words.

use super::{Fleet, Node, Standing};
use crate::comparison::Refusal;
use crate::lists::counts;
use crate::show::words::{FASTER, NOT_JUDGED, SLOWER};
use instrument::point::Choice;

impl Fleet {
    /// What is said of a node that does not differ, its own side, and the side that it is compared with: the other nodes,
    /// or itself before.
    pub fn words(&self) -> [&'static str; 3] {
        if self.is_since {
            ["not known to have changed", "now", "before"]
        } else {
            ["not known to differ", "here", "elsewhere"]
        }
    }

    /// Counts of the nodes: `12 nodes: 1 slower, 11 not known to differ`.
    pub fn headline(&self) -> String {
        let [alike, ..] = self.words();
        let counts = counts([
            (self.count(Some(Standing::Slower)), SLOWER.text),
            (self.count(Some(Standing::Faster)), FASTER.text),
            (self.count(Some(Standing::Alike)), alike),
            (self.count(None), NOT_JUDGED),
        ]);
        let since = if self.is_since {
            " since the earlier runs"
        } else {
            ""
        };
        format!("{} nodes{since}: {counts}", self.nodes.len())
    }

    /// The components that a node did not measure and others did.
    pub fn missing(&self, node: &Node) -> Vec<&'static str> {
        let components = self.components.keys();
        let missing = components.filter(|it| !node.parts.contains_key(it));
        missing.map(|component| component.name()).collect()
    }

    /// The values that could not be compared, one sentence for each reason.
    pub fn left_out(&self) -> Vec<String> {
        self.refused.iter().map(Refusal::text).collect()
    }
}
