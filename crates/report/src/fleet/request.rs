//! The request for a second measurement: who takes part, and in which experiments.

use super::{Fleet, Node, Standing};
use crate::lists::{distinct, first_of, joined};
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
    pub suspects: Vec<String>,
    /// Two nodes that were not named.
    pub healthy: Vec<String>,
    /// The experiments that measure the components in question.
    pub experiments: Vec<String>,
    /// For readers: `node3 looks slower by its disk: measuring node3, node1 and node4 again`.
    pub sentence: String,
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
        let named = named.filter(|node| node.is_odd());
        let named: Vec<&Node> = named.collect();
        if named.is_empty() {
            return Ok(None);
        }
        let asked = named.iter().flat_map(|node| node.differing());
        let asked: BTreeSet<Component> = asked.map(|(component, _)| component).collect();
        let experiments = asked.iter().flat_map(|it| &fleet.components[it]);
        let suspects: Vec<String> = named.iter().map(|node| node.name.clone()).collect();
        let healthy = healthy(fleet, &asked, seed)?;
        let looks = joined("; ", named.iter().map(|node| looks(node)));
        let nodes = [&suspects[..], &healthy].concat();
        Ok(Some(Self {
            sentence: format!("{looks}: measuring {} again", first_of(&nodes)),
            experiments: distinct(experiments.cloned()),
            suspects,
            healthy,
        }))
    }

    /// The names of all who measure again, the named ones first.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        let nodes = self.suspects.iter().chain(&self.healthy);
        nodes.map(String::as_str)
    }
}

/// `node3 looks slower by its disk`.
fn looks(node: &Node) -> String {
    let looks = [Standing::Slower, Standing::Faster].map(|standing| {
        let parts = node
            .differing()
            .filter(|(_, part)| part.standing == standing);
        let components = parts.map(|(component, _)| format!("its {}", component.name()));
        let components: Vec<String> = components.collect();
        let word = standing.word().text;
        (!components.is_empty()).then(|| format!("{word} by {}", first_of(&components)))
    });
    let looks = joined(" and ", looks.into_iter().flatten());
    format!("{} looks {looks}", node.name)
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
    let unnamed = nodes.filter(|node| !node.is_odd());
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
