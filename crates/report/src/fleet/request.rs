//! The request for a second measurement: who takes part, and in which experiments.

use super::{Fleet, Node, Standing};
use crate::lists::{distinct, first_of};
use instrument::component::Component;
use instrument::point::Choice;
use instrument::statistics::random::Random;
use std::collections::BTreeSet;

/// Nodes that were not named and measure again, next to the named ones.
const HEALTHY: usize = 2;

/// A request to measure alarms again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The named nodes.
    pub suspects: Vec<Suspect>,
    /// Two nodes that were not named.
    pub healthy: Vec<String>,
    /// The experiments that measure the components in question.
    pub experiments: Vec<String>,
}

/// A named node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Its name.
    pub node: String,
    /// The components for which it was named, each with its verdict.
    pub components: Vec<(Component, Standing)>,
}

/// Fewer than two nodes are there to compare the named ones with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fewer than {HEALTHY} nodes that were not named have measured the same components")]
pub struct NoPeers;

impl Request {
    /// The request that follows from a judgement; `None` if no node is named.
    ///
    /// The healthy nodes are those that deviate least in the components in question. Deviations within the
    /// margin are equal, and `seed` chooses among equals, so that not the same nodes are asked each time.
    ///
    /// # Errors
    /// If there are too few healthy nodes.
    pub fn of(fleet: &Fleet, seed: u64) -> Result<Option<Self>, NoPeers> {
        let named = fleet.nodes.iter();
        let named = named.filter(|node| node.standing != Standing::Alike);
        let suspects: Vec<Suspect> = named.map(Suspect::of).collect();
        if suspects.is_empty() {
            return Ok(None);
        }
        let asked = suspects.iter().flat_map(|it| &it.components);
        let asked: BTreeSet<Component> = asked.map(|(component, _)| *component).collect();
        let experiments = asked.iter().flat_map(|it| &fleet.components[it]);
        Ok(Some(Self {
            healthy: healthy(fleet, &asked, seed)?,
            experiments: distinct(experiments.cloned()),
            suspects,
        }))
    }

    /// The names of all who measure again, the named ones first.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        let suspects = self.suspects.iter().map(|it| it.node.as_str());
        suspects.chain(self.healthy.iter().map(String::as_str))
    }

    /// The request as a sentence: `node3 looks slower by its disk: measuring node3, node1 and node4 again`.
    pub fn sentence(&self) -> String {
        let suspects: Vec<String> = self.suspects.iter().map(Suspect::sentence).collect();
        let nodes: Vec<&str> = self.nodes().collect();
        format!(
            "{}: measuring {} again",
            suspects.join("; "),
            first_of(&nodes)
        )
    }
}

impl Suspect {
    fn of(node: &Node) -> Self {
        let components = node.differing();
        Self {
            node: node.name.clone(),
            components: components
                .map(|(component, part)| (component, part.standing))
                .collect(),
        }
    }

    fn sentence(&self) -> String {
        let looks = [Standing::Slower, Standing::Faster].map(|standing| {
            let components = self.components.iter().filter(|(_, it)| *it == standing);
            let components = components.map(|(component, _)| format!("its {}", component.name()));
            let components: Vec<String> = components.collect();
            let word = standing.word().text;
            (!components.is_empty()).then(|| format!("{word} by {}", first_of(&components)))
        });
        let looks: Vec<String> = looks.into_iter().flatten().collect();
        format!("{} looks {}", self.node, looks.join(" and "))
    }
}

/// The nodes that deviate least in these components, of which they have all.
fn healthy(
    fleet: &Fleet,
    components: &BTreeSet<Component>,
    seed: u64,
) -> Result<Vec<String>, NoPeers> {
    let margin = fleet.margin.ln_1p();
    let deviation = |node: &Node| -> Option<f64> {
        let mut largest = 0.0_f64;
        for component in components {
            largest = largest.max(node.parts.get(component)?.ratio.ln().abs());
        }
        Some(if largest <= margin { 0.0 } else { largest })
    };
    let nodes = fleet.nodes.iter();
    let unnamed = nodes.filter(|node| node.standing == Standing::Alike);
    let mut peers: Vec<(f64, &str)> = unnamed
        .filter_map(|node| Some((deviation(node)?, node.name.as_str())))
        .collect();
    Random::new(seed).shuffle(&mut peers);
    peers.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    peers.truncate(HEALTHY);
    if peers.len() < HEALTHY {
        return Err(NoPeers);
    }
    Ok(peers.into_iter().map(|(_, name)| name.to_owned()).collect())
}
