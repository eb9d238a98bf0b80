//! Changes of nodes since earlier runs of the same fleet.
//!
//! The change of a value, as a ratio, is itself a value that healthy nodes share: a new kernel moves it on all of them.
//! So changes are judged as values are, against their median over the nodes. What all nodes share is a remark.

use super::Unjudged;
use super::gathering::{Gathering, Session, of_node};
use super::reading::Cell;
use crate::lists::by_key;
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
        for (key, values) in &mut self.values {
            let earlier = before.values.remove(key).unwrap_or_default();
            *values = changes([std::mem::take(values), earlier]);
        }
        Ok(self)
    }
}

/// The change of each node's value from the second of the sides, the earlier one, to the first; a node without an
/// earlier value of the same meaning has the reason.
fn changes(sides: [Vec<Session>; 2]) -> Vec<Session> {
    let sides = sides.into_iter().enumerate();
    let sessions = sides.flat_map(|(side, sessions)| {
        let sessions = sessions.into_iter();
        sessions.map(move |it| (it.meaning, (side, it)))
    });
    let mut changes = Vec::new();
    for (meaning, sessions) in by_key(sessions) {
        let mut nodes: BTreeMap<String, [Vec<Cell>; 2]> = BTreeMap::new();
        for (side, session) in sessions {
            nodes.entry(session.node).or_default()[side].extend(session.found);
        }
        changes.extend(nodes.into_iter().filter_map(|(node, [now, before])| {
            let now = of_node(now)?;
            let found = of_node(before).map(|before| change(now, before));
            Some(Session {
                node,
                meaning,
                found: found.ok_or_else(|| "not measured in the same way before".to_owned()),
            })
        }));
    }
    changes
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
