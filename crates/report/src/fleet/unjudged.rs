//! Nodes without values that most others have: a part that is so slow that its time does not suffice, or that is
//! not there, has no number that could differ.

use super::remarks::list;
use super::{Fleet, Node};
use instrument::component::Component;
use instrument::point::Choice;

impl Fleet {
    /// True if a node could not be judged by a component by which most others were.
    pub fn has_unjudged(&self) -> bool {
        (0..self.components.len()).any(|place| !self.unjudged_by(place).is_empty())
    }

    /// A sentence for each component by which some nodes could not be judged, and most others were.
    pub(super) fn unjudged(&self) -> Vec<String> {
        let components = self.components.iter().enumerate();
        let sentence = |(place, component): (usize, &Component)| {
            let names: Vec<&str> = self
                .unjudged_by(place)
                .iter()
                .map(|node| node.name.as_str())
                .collect();
            let has = match names.len() {
                0 => return None,
                1 => "has",
                _ => "have",
            };
            Some(format!(
                "{} {has} too few values of {} to be judged by it, as most others are: too slow for the time of the \
                 run, without a right or a feature, or measured by another version.",
                list(&names),
                component.name()
            ))
        };
        components.filter_map(sentence).collect()
    }

    /// The nodes without the component at `place`, if most others have it.
    fn unjudged_by(&self, place: usize) -> Vec<&Node> {
        let is_unjudged = |node: &&Node| node.parts[place].is_none();
        let unjudged: Vec<&Node> = self.nodes.iter().filter(is_unjudged).collect();
        if 2 * unjudged.len() < self.nodes.len() {
            unjudged
        } else {
            Vec::new()
        }
    }
}
