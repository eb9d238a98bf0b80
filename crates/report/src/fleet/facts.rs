//! Facts by which a node differs from most others, or from itself before: its machine, its system, and what
//! disturbed it.

use super::Reading;
use super::gathering::Sessions;
use crate::Surroundings;
use crate::comparison::{Circumstance, Facts, differences, differing, united};
use std::collections::{BTreeMap, BTreeSet};

/// For each node, the facts by which it differs from most others: the usual value is that of the first side.
pub(super) fn peculiar(nodes: &[&Sessions]) -> Vec<Vec<Circumstance>> {
    let known: Vec<Facts<'_>> = nodes.iter().map(|node| facts(&node.readings)).collect();
    let mut counts: BTreeMap<&str, BTreeMap<BTreeSet<&str>, usize>> = BTreeMap::new();
    for (path, values) in known.iter().flatten() {
        let of_fact = counts.entry(path).or_default();
        *of_fact.entry(values.clone()).or_default() += 1;
    }
    let usual = counts.into_iter().filter_map(|(path, mut counts)| {
        let reported: usize = counts.values().sum();
        *counts.entry(BTreeSet::new()).or_default() += nodes.len() - reported;
        let mut counts = counts.into_iter();
        let (values, _) = counts.find(|(_, count)| 2 * count > nodes.len())?;
        Some((path, values))
    });
    let usual: Facts<'_> = usual.collect();
    let all: Vec<Surroundings> = nodes.iter().flat_map(|it| around(&it.readings)).collect();
    let peculiar = nodes.iter().zip(known).map(|(node, mut known)| {
        known.retain(|path, _| usual.contains_key(path));
        let mut found = differences(&all, &around(&node.readings));
        found.extend(differing(&usual, &known, |usual, known| usual != known));
        found
    });
    peculiar.collect()
}

/// The facts that changed in the same way on more than half of the nodes, and for each node the others: the first
/// side is that of the earlier runs.
pub(super) fn changed(nodes: &[&Sessions]) -> (Vec<Circumstance>, Vec<Vec<Circumstance>>) {
    let of_node = |node: &&Sessions| {
        let (before, now) = (node.before.as_deref().unwrap_or_default(), &node.readings);
        let mut changed = differences(&around(before), &around(now));
        changed.extend(differing(&facts(before), &facts(now), |a, b| {
            a.is_disjoint(b)
        }));
        changed
    };
    let mut of_nodes: Vec<Vec<Circumstance>> = nodes.iter().map(of_node).collect();
    let mut counts: BTreeMap<&Circumstance, usize> = BTreeMap::new();
    for fact in of_nodes.iter().flatten() {
        *counts.entry(fact).or_default() += 1;
    }
    counts.retain(|_, count| 2 * *count > nodes.len());
    let shared: Vec<Circumstance> = counts.into_keys().cloned().collect();
    for facts in &mut of_nodes {
        facts.retain(|fact| !shared.contains(fact));
    }
    (shared, of_nodes)
}

fn facts(readings: &[Reading]) -> Facts<'_> {
    united(readings.iter().map(|reading| &reading.facts))
}

fn around(readings: &[Reading]) -> Vec<Surroundings> {
    let readings = readings.iter();
    readings.map(|it| it.surroundings.clone()).collect()
}
