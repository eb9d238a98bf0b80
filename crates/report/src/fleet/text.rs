//! A judged fleet in words.

use super::{Fleet, Node, Standing, Value};
use crate::comparison::Refusal;
use crate::lists::counts;
use crate::show;
use crate::show::words::{FASTER, SLOWER};
use instrument::point::Choice;

/// What a node and those that it is compared with are called.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// A node that does not differ.
    pub alike: &'static str,
    /// The side of the node.
    pub here: &'static str,
    /// The side that it is compared with.
    pub elsewhere: &'static str,
}

impl Fleet {
    /// The words for nodes compared with each other, or with themselves before.
    pub fn words(&self) -> Words {
        if self.is_since {
            Words {
                alike: "unchanged",
                here: "now",
                elsewhere: "before",
            }
        } else {
            Words {
                alike: "healthy",
                here: "here",
                elsewhere: "elsewhere",
            }
        }
    }

    /// Counts of the nodes: `12 nodes: 1 slower, 11 healthy`.
    pub fn headline(&self) -> String {
        let counts = counts([
            (self.count(Standing::Slower), SLOWER.text),
            (self.count(Standing::Faster), FASTER.text),
            (self.count(Standing::Alike), self.words().alike),
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

impl Value {
    /// One of its two values with its unit.
    pub fn show(&self, value: f64) -> String {
        show::value(self.unit, value, None)
    }
}
