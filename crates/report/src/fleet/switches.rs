//! Nodes that differ together, by the switch that they share.

use super::{Fleet, Node, Standing};
use instrument::component::Component;
use instrument::point::Choice;
use std::collections::BTreeMap;

/// One node below a switch says nothing of the switch.
const FEWEST: usize = 2;

impl Fleet {
    /// A sentence for each switch whose nodes all differ in a component, where most other nodes do not.
    pub(super) fn switches(&self) -> Vec<String> {
        let mut below: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
        for node in &self.nodes {
            if let Some(switch) = &node.switch {
                below.entry(switch).or_default().push(node);
            }
        }
        let mut sentences = Vec::new();
        for (switch, nodes) in &below {
            for (place, component) in self.components.iter().enumerate() {
                sentences.extend(self.sentence(switch, nodes, place, *component));
            }
        }
        sentences
    }

    fn sentence(
        &self,
        switch: &str,
        nodes: &[&Node],
        place: usize,
        component: Component,
    ) -> Option<String> {
        let standing = |node: &Node| node.parts[place].map(|part| part.standing);
        let of_switch: Vec<Standing> = nodes.iter().filter_map(|node| standing(node)).collect();
        let usual = *of_switch.first().filter(|it| **it != Standing::Alike)?;
        let all = of_switch.len() >= FEWEST && of_switch.iter().all(|it| *it == usual);
        let others = self.nodes.iter();
        let others = others.filter(|it| it.switch.as_deref() != Some(switch));
        let others: Vec<Standing> = others.filter_map(standing).collect();
        let alike = others.iter().filter(|it| **it == usual).count();
        if !all || 2 * alike >= others.len() {
            return None;
        }
        let word = usual.word().text;
        Some(format!(
            "All {} nodes below switch {switch} are {word} in {}: look at what they share.",
            of_switch.len(),
            component.name()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{judged, readings};
    use instrument::component::Component;

    /// The sentences on twelve nodes, of which the first `slow` are slower in calls and the first `below` are
    /// below one switch.
    fn told(slow: usize, below: usize) -> Vec<String> {
        let mut all = readings(12, 7, |_| 0.0);
        let bad = readings(12, 7, |component| match component {
            Component::Calls => 0.3,
            _ => 0.0,
        });
        let (_, shifted) = &bad[0];
        for (index, (_, reading)) in all.iter_mut().enumerate() {
            reading.switch = Some(if index < below { "s1" } else { "s2" }.to_owned());
            if index < slow {
                reading.values.clone_from(&shifted.values);
            }
        }
        judged(all).switches()
    }

    #[test]
    fn nodes_that_differ_below_one_switch_are_told_together() {
        assert_eq!(
            told(3, 3),
            ["All 3 nodes below switch s1 are slower in system calls: look at what they share."]
        );
    }

    #[test]
    fn a_switch_with_a_healthy_node_or_a_single_one_is_not_told() {
        assert!(told(2, 3).is_empty());
        assert!(told(1, 1).is_empty());
        assert!(told(0, 3).is_empty());
    }
}
