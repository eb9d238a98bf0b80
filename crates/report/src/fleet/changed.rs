//! The changes that most nodes share, and the facts that changed on single ones.

use super::gathered::{Column, Gathered, Sessions};
use super::reading::Reading;
use super::remarks::list;
use crate::Surroundings;
use crate::comparison::{Circumstance, differences};
use crate::show;
use instrument::component::Component;
use instrument::point::Choice;
use instrument::statistics::summary::median;
use std::collections::{BTreeMap, BTreeSet};

/// The remarks on changes: the nodes of one side only, and what most nodes share.
pub(super) fn remarks(gathered: &Gathered, components: &[Component], margin: f64) -> Vec<String> {
    let mut remarks = Vec::new();
    if !gathered.left_out.unpaired.is_empty() {
        let names: Vec<&str> = gathered
            .left_out
            .unpaired
            .iter()
            .map(String::as_str)
            .collect();
        remarks.push(format!(
            "Only nodes with runs now and before are judged, so these are not: {}.",
            list(&names)
        ));
    }
    remarks.extend(other_machines(gathered));
    let shared = components.iter();
    remarks.extend(shared.filter_map(|it| shared_change(&gathered.columns, *it, margin)));
    let facts = Changed::of(&gathered.nodes).shared;
    remarks.extend(facts.iter().map(|fact| {
        let side = |value: &str| if value.is_empty() { "not told" } else { value }.to_owned();
        format!(
            "On most nodes, {} is {}, and was {} before.",
            fact.name,
            side(&fact.b),
            side(&fact.a)
        )
    }));
    remarks
}

/// The nodes whose machine is not the one of the earlier runs.
fn other_machines(gathered: &Gathered) -> Option<String> {
    let machines = |readings: &[Reading]| -> BTreeSet<String> {
        readings.iter().map(|it| it.machine.clone()).collect()
    };
    let nodes = gathered.names.iter().zip(&gathered.nodes);
    let other = nodes.filter(|(_, node)| {
        let before = node.before.as_deref().unwrap_or_default();
        machines(&node.readings).is_disjoint(&machines(before))
    });
    let names: Vec<&str> = other.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Another machine than before, or one with other hardware: {}.",
            list(&names)
        )
    })
}

/// A sentence on the change that the nodes share in a component, if it is larger than `margin`.
fn shared_change(columns: &[Column], component: Component, margin: f64) -> Option<String> {
    let columns = columns.iter().filter(|it| it.key.component == component);
    let medians = columns.filter_map(|column| {
        let changes = column.nodes.iter().flatten().map(|cell| cell.found.value);
        median(&changes.collect::<Vec<_>>())
    });
    let change = median(&medians.collect::<Vec<_>>())?;
    (change.abs() > margin.ln_1p()).then(|| {
        format!(
            "The nodes changed together in {}: {} as fast as before. A node is held against that change.",
            component.name(),
            show::ratio(change.exp())
        )
    })
}

/// The facts that changed, on most nodes and on single ones.
pub(super) struct Changed {
    /// The facts that changed on more than half of the nodes, in the same way.
    shared: Vec<Circumstance>,
    /// The other facts that changed, by node.
    of_nodes: Vec<Vec<Circumstance>>,
}

impl Changed {
    pub(super) fn of(nodes: &[Sessions]) -> Self {
        let mut of_nodes: Vec<Vec<Circumstance>> = nodes.iter().map(changed).collect();
        let mut counts: BTreeMap<[&str; 3], usize> = BTreeMap::new();
        for fact in of_nodes.iter().flatten() {
            *counts.entry([&fact.name, &fact.a, &fact.b]).or_default() += 1;
        }
        let shared = counts
            .into_iter()
            .filter(|(_, count)| 2 * count > nodes.len());
        let shared: Vec<Circumstance> = shared
            .map(|([name, a, b], _)| Circumstance {
                name: name.into(),
                a: a.into(),
                b: b.into(),
            })
            .collect();
        for facts in &mut of_nodes {
            facts.retain(|fact| !shared.contains(fact));
        }
        Self { shared, of_nodes }
    }

    /// The facts that changed on a node and not on most others: the first side is that of the earlier runs.
    pub(super) fn facts(&mut self, node: usize) -> Vec<Circumstance> {
        std::mem::take(&mut self.of_nodes[node])
    }
}

/// The facts that no run of a node now shares with an earlier one, and what disturbed it.
fn changed(node: &Sessions) -> Vec<Circumstance> {
    let before = node.before.as_deref().unwrap_or_default();
    let around = |readings: &[Reading]| -> Vec<Surroundings> {
        readings.iter().map(|it| it.surroundings.clone()).collect()
    };
    let mut changed = differences(&around(before), &around(&node.readings));
    let (then, now) = (known(before), known(&node.readings));
    let nothing = BTreeSet::new();
    let paths: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    for path in paths {
        let [a, b] = [&then, &now].map(|known| known.get(path).unwrap_or(&nothing));
        if a.is_disjoint(b) && a != b {
            changed.push(Circumstance::of(path, a, b));
        }
    }
    changed
}

/// The values of each fact in some runs, by path.
fn known(readings: &[Reading]) -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, value) in readings.iter().flat_map(|reading| &reading.facts) {
        known.entry(path.clone()).or_default().insert(value.clone());
    }
    known
}
