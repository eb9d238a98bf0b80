//! Facts by which a node differs from most others: its machine, its system, and what disturbed it.

use super::gathered::Sessions;
use crate::Surroundings;
use crate::comparison::{Circumstance, differences};
use std::collections::{BTreeMap, BTreeSet};

/// The usual facts of a fleet.
pub(super) struct Peculiar<'a> {
    nodes: &'a [Sessions],
    /// The value of more than half of the nodes, by path; empty if they do not report the fact.
    usual: BTreeMap<&'a str, Known<'a>>,
    around: Vec<Surroundings>,
}

/// The values of a fact in the runs of a node.
type Known<'a> = BTreeSet<&'a str>;

impl<'a> Peculiar<'a> {
    pub(super) fn of(nodes: &'a [Sessions]) -> Self {
        let mut counts: BTreeMap<&str, BTreeMap<Known<'_>, usize>> = BTreeMap::new();
        for node in nodes {
            for (path, known) in facts(node) {
                *counts.entry(path).or_default().entry(known).or_default() += 1;
            }
        }
        let usual = counts.into_iter().filter_map(|(path, mut counts)| {
            let reported: usize = counts.values().sum();
            *counts.entry(Known::new()).or_default() += nodes.len() - reported;
            let (known, _) = counts
                .into_iter()
                .find(|(_, count)| 2 * count > nodes.len())?;
            Some((path, known))
        });
        let readings = nodes.iter().flat_map(|node| &node.readings);
        Self {
            nodes,
            usual: usual.collect(),
            around: readings
                .map(|reading| reading.surroundings.clone())
                .collect(),
        }
    }

    /// The facts by which a node differs: the usual value is that of the first side.
    pub(super) fn facts(&self, node: usize) -> Vec<Circumstance> {
        let sessions = &self.nodes[node];
        let readings = sessions.readings.iter();
        let around: Vec<Surroundings> = readings
            .map(|reading| reading.surroundings.clone())
            .collect();
        let mut found = differences(&self.around, &around);
        let own = facts(sessions);
        let nothing = Known::new();
        let owned = |known: &Known<'_>| known.iter().map(|it| (*it).to_owned()).collect();
        for (path, usual) in &self.usual {
            let known = own.get(path).unwrap_or(&nothing);
            if known != usual {
                let both: [BTreeSet<String>; 2] = [owned(usual), owned(known)];
                found.push(Circumstance::of(path, &both[0], &both[1]));
            }
        }
        found
    }
}

fn facts(node: &Sessions) -> BTreeMap<&str, Known<'_>> {
    let mut facts: BTreeMap<&str, Known<'_>> = BTreeMap::new();
    for (path, value) in node.readings.iter().flat_map(|reading| &reading.facts) {
        facts.entry(path).or_default().insert(value);
    }
    facts
}
