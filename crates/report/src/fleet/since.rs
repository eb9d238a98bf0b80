//! Changes of nodes since earlier runs of the same fleet.
//!
//! The change of a value, as a ratio, is itself a value that healthy nodes share: a new kernel moves it on all of them.
//! So changes are judged as values are, against their median over the nodes. What all nodes share is a remark.

use super::Unjudged;
use super::gathering::{Gathering, Group, Session, of_node};
use super::reading::Cell;
use instrument::statistics::moderation::sum;
use instrument::statistics::peers::Observation;
use std::collections::{BTreeMap, BTreeSet};

impl Gathering {
    /// The changes of the nodes from the runs of `before` to these.
    ///
    /// # Errors
    /// [`Unjudged::OnBothSides`] if a run is among both.
    pub fn since(mut self, mut before: Self) -> Result<Self, Unjudged> {
        let both = self
            .runs
            .iter()
            .filter(|(run, _)| before.runs.contains_key(*run));
        if let Some(node) = both.map(|(_, node)| node).min() {
            return Err(Unjudged::OnBothSides(node.clone()));
        }
        let names = |gathering: &Self| gathering.nodes.keys().cloned().collect::<BTreeSet<_>>();
        let (now, then) = (names(&self), names(&before));
        self.unpaired = now.symmetric_difference(&then).cloned().collect();
        for (name, node) in &mut self.nodes {
            let earlier = before.nodes.remove(name);
            node.before = Some(earlier.map_or_else(Vec::new, |it| it.readings));
        }
        self.nodes.retain(|name, _| then.contains(name));
        for (key, groups) in &mut self.values {
            let mut earlier = before.values.remove(key).unwrap_or_default();
            for group in groups {
                let place = earlier.iter().position(|it| it.meaning == group.meaning);
                let earlier = place.map(|place| earlier.swap_remove(place).values);
                group.values = changes(group, earlier.unwrap_or_default());
            }
        }
        Ok(self)
    }
}

/// The change of each node's value in `group`; a node without an earlier one has the reason.
fn changes(group: &mut Group, earlier: Vec<Session>) -> Vec<Session> {
    let mut nodes: BTreeMap<String, [Vec<Session>; 2]> = BTreeMap::new();
    let now = std::mem::take(&mut group.values);
    for (side, sessions) in [now, earlier].into_iter().enumerate() {
        for session in sessions {
            nodes.entry(session.node.clone()).or_default()[side].push(session);
        }
    }
    let nodes = nodes.into_iter();
    let changes = nodes.filter_map(|(node, [now, before])| {
        let now = found(now)?;
        let found = found(before).map_or_else(
            || Err("not measured in the same way before".to_owned()),
            |before| Ok(change(now, before)),
        );
        Some(Session { node, found })
    });
    changes.collect()
}

/// The value of a node from those of its sessions that have one.
fn found(sessions: Vec<Session>) -> Option<Cell> {
    let found = sessions
        .into_iter()
        .filter_map(|session| session.found.ok());
    of_node(found.collect())
}

fn change(now: Cell, before: Cell) -> Cell {
    let errors = now.found.error.zip(before.found.error);
    Cell {
        found: Observation {
            value: now.found.value - before.found.value,
            error: errors.and_then(|(now, before)| sum(&[now, before])),
        },
        is_doubtful: now.is_doubtful || before.is_doubtful,
        sides: Some([now.found.value, before.found.value]),
    }
}
