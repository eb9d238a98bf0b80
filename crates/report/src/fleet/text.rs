//! Text of a judged fleet, shared by the terminal and the page.

use super::{Fleet, Node, Standing, Value};
use crate::show;
use crate::show::words::{FASTER, SLOWER};
use instrument::point::Choice;

/// The words for what is held against each other.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// A node that does not differ.
    pub alike: &'static str,
    /// The side of the node.
    pub here: &'static str,
    /// The side that it is held against.
    pub elsewhere: &'static str,
}

impl Fleet {
    /// The words for nodes beside each other, or for nodes now beside themselves before.
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
        let named = [(Standing::Slower, SLOWER), (Standing::Faster, FASTER)];
        let named = named.map(|(standing, word)| (self.count(standing), word.text));
        let healthy = (self.count(Standing::Alike), self.words().alike);
        let counts = named.into_iter().chain([healthy]);
        let counts = counts.filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let nodes = self.nodes.len();
        let since = if self.is_since {
            " since the earlier runs"
        } else {
            ""
        };
        format!("{nodes} nodes{since}: {}", counts.join(", "))
    }

    /// The components that a node did not measure and others did.
    pub fn missing<'f>(&'f self, node: &'f Node) -> Vec<&'static str> {
        let parts = self.components.iter().zip(&node.parts);
        let missing = parts.filter(|(_, part)| part.is_none());
        missing.map(|(component, _)| component.name()).collect()
    }

    /// The values that could not be compared, one sentence for each reason.
    pub fn left_out(&self) -> Vec<String> {
        let line = |refusal: &crate::comparison::Refusal| {
            let values = if refusal.values == 1 {
                "value"
            } else {
                "values"
            };
            format!(
                "{} {} ({} {values}): {}",
                refusal.experiment, refusal.metric, refusal.values, refusal.reason
            )
        };
        self.refused.iter().map(line).collect()
    }
}

impl Value {
    /// The value of the node and that of the others.
    pub fn shown(&self) -> [String; 2] {
        [self.here, self.elsewhere].map(|value| show::value(self.unit, value, None))
    }
}
