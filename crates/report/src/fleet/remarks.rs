//! Caveats to read before the numbers of a fleet.

use super::gathering::{Column, Gathering, Sessions};
use super::reading::Reading;
use super::{Fleet, Node, Standing};
use crate::comparison::Circumstance;
use crate::lists::{distinct, first_of, joined};
use crate::show;
use instrument::component::Component;
use instrument::point::Choice;
use instrument::quantity::counted;
use instrument::statistics::summary::median;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer nodes are judged with a caveat.
const FEW_NODES: usize = 4;
/// One node is no evidence on its switch.
const FEWEST_BELOW_SWITCH: usize = 2;

/// The remarks on a fleet, the most important first.
pub(super) fn remarks(gathered: &Gathering, components: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    if gathered.nodes.len() < FEW_NODES {
        remarks.push(
            "Three nodes: the middle one is the measure, so a node is named only where the two others \
             agree. If two of the three share a fault, the healthy one is the odd one. Four or more \
             nodes decide better."
                .into(),
        );
    }
    remarks.extend(gathered.twice.iter().map(twice));
    remarks.extend(shared_identities(gathered));
    remarks.extend(of_nodes(gathered, several_machines, |names| {
        format!("The runs of {names} come from several machines; each is judged as one node.")
    }));
    remarks.extend(differing(gathered, "versions of oscope", |it| {
        it.version.clone()
    }));
    remarks.extend(differing(gathered, "profiles", |it| it.profile.to_string()));
    let is_unfinished = |node: &Sessions| node.readings.iter().any(|it| !it.is_finished);
    remarks.extend(of_nodes(gathered, is_unfinished, |names| {
        format!(
            "Runs of {names} did not come to the end of their plan: what they measured is judged."
        )
    }));
    if gathered.unknown > 0 {
        remarks.push(format!(
            "Not judged: {} of experiments that this version of oscope does not know.",
            counted(gathered.unknown, "value")
        ));
    }
    if components == 1 {
        remarks.push("The runs measure one component only.".into());
    }
    remarks
}

/// The remarks on changes: the nodes of one side only, and what most nodes share.
pub(super) fn of_changes<'c>(
    gathered: &Gathering,
    columns: &[Column],
    components: impl Iterator<Item = &'c Component>,
    shared: &[Circumstance],
    margin: f64,
) -> Vec<String> {
    let mut remarks = Vec::new();
    if !gathered.unpaired.is_empty() {
        remarks.push(format!(
            "Only nodes with runs now and before are judged, so these are not: {}.",
            first_of(&gathered.unpaired)
        ));
    }
    remarks.extend(of_nodes(gathered, is_other_machine, |names| {
        format!("Another machine than before, or one with other hardware: {names}.")
    }));
    remarks.extend(components.filter_map(|it| shared_change(columns, *it, margin)));
    remarks.extend(shared.iter().map(|fact| {
        let [a, b] = [&fact.a, &fact.b].map(|value| match value.as_str() {
            "" => "unknown",
            value => value,
        });
        format!("On most nodes, {} is {b}, and was {a} before.", fact.name)
    }));
    remarks
}

/// A sentence on the nodes for which `holds`; `None` if there are none.
fn of_nodes(
    gathered: &Gathering,
    holds: impl Fn(&Sessions) -> bool,
    sentence: impl Fn(String) -> String,
) -> Option<String> {
    let nodes = gathered.nodes.values().filter(|node| holds(node));
    let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    (!names.is_empty()).then(|| sentence(first_of(&names)))
}

fn several_machines(node: &Sessions) -> bool {
    distinct(node.readings.iter().map(|it| &it.machine)).len() > 1
}

fn is_other_machine(node: &Sessions) -> bool {
    let machines = |readings: &[Reading]| -> BTreeSet<String> {
        readings.iter().map(|it| it.machine.clone()).collect()
    };
    let before = node.before.as_deref().unwrap_or_default();
    machines(&node.readings).is_disjoint(&machines(before))
}

fn twice((first, second): &(String, String)) -> String {
    if first == second {
        format!("{first} has the same run in two files; it counts once.")
    } else {
        format!(
            "{first} and {second} have the same run: one file is a copy of the other. It counts once."
        )
    }
}

/// Hosts whose machines cannot be distinguished. Several parts of one host are of one machine.
fn shared_identities(gathered: &Gathering) -> Vec<String> {
    let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in gathered.nodes.values() {
        for reading in &node.readings {
            let hosts = machines.entry(&reading.machine).or_default();
            let host = reading.host.as_ref().unwrap_or(&node.name);
            if !hosts.contains(&host.as_str()) {
                hosts.push(host);
            }
        }
    }
    let shared = machines.into_iter().filter(|(_, hosts)| hosts.len() > 1);
    shared
        .map(|(machine, hosts)| {
            format!(
                "{} have one identity ({machine}): they are one machine under several names, or were \
                 cloned from one image with its machine-id. They are judged as {} nodes.",
                first_of(&hosts),
                hosts.len()
            )
        })
        .collect()
}

/// The nodes by a property of their runs, if it is not the same everywhere: the usual one first.
fn differing(
    gathered: &Gathering,
    what: &str,
    property: impl Fn(&Reading) -> String,
) -> Option<String> {
    let mut nodes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for node in gathered.nodes.values() {
        for reading in &node.readings {
            let names = nodes.entry(property(reading)).or_default();
            if names.last() != Some(&node.name.as_str()) {
                names.push(&node.name);
            }
        }
    }
    let mut nodes: Vec<_> = nodes.into_iter().collect();
    nodes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let [(usual, names), others @ ..] = &nodes[..] else {
        return None;
    };
    let of_others = others.iter();
    let of_others = of_others.map(|(property, names)| format!("{property} on {}", first_of(names)));
    (!others.is_empty()).then(|| {
        format!(
            "The {what} differ: {usual} on {}, {}. Only values of the same meaning are compared.",
            counted(names.len(), "node"),
            joined(", ", of_others)
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
            "The nodes changed together in {}: {} as fast as before. A node is compared with that change.",
            component.name(),
            show::ratio(change.exp())
        )
    })
}

impl Fleet {
    /// A sentence for each switch whose nodes all differ in a component, where most other nodes do not: the fault
    /// is in what they share.
    pub(super) fn switches(&self) -> Vec<String> {
        let below: BTreeSet<&str> = self
            .nodes
            .iter()
            .filter_map(|it| it.switch.as_deref())
            .collect();
        let switches = below.into_iter();
        let sentences = switches.flat_map(|switch| {
            let components = self.components.keys();
            components.filter_map(move |component| self.switch(switch, *component))
        });
        sentences.collect()
    }

    fn switch(&self, switch: &str, component: Component) -> Option<String> {
        let is_below = |node: &&Node| node.switch.as_deref() == Some(switch);
        let (below, others): (Vec<&Node>, Vec<&Node>) = self.nodes.iter().partition(is_below);
        let [below, others] = [below, others].map(|nodes| -> Vec<Standing> {
            let parts = nodes.iter().filter_map(|node| node.parts.get(&component));
            parts.map(|part| part.standing).collect()
        });
        let usual = *below.first().filter(|it| **it != Standing::Alike)?;
        let all = below.len() >= FEWEST_BELOW_SWITCH && below.iter().all(|it| *it == usual);
        let alike = others.iter().filter(|it| **it == usual).count();
        (all && 2 * alike < others.len()).then(|| {
            format!(
                "All {} nodes below switch {switch} are {} in {}: look at what they share.",
                below.len(),
                usual.word().text,
                component.name()
            )
        })
    }

    /// True if a node could not be judged by a component by which most others were.
    pub fn has_unjudged(&self) -> bool {
        let mut components = self.components.keys();
        components.any(|component| !self.unjudged_by(*component).is_empty())
    }

    /// A sentence for each component by which some nodes could not be judged, and most others were. A part that is
    /// missing, or so slow that its time does not suffice, has no number that could differ.
    pub(super) fn unjudged(&self) -> Vec<String> {
        let sentence = |component: &Component| {
            let names = self.unjudged_by(*component);
            let has = match names.len() {
                0 => return None,
                1 => "has",
                _ => "have",
            };
            Some(format!(
                "{} {has} too few values of {} to be judged by it, as most others are: too slow for the time of the \
                 run, without a right or a feature, or measured by another version.",
                first_of(&names),
                component.name()
            ))
        };
        self.components.keys().filter_map(sentence).collect()
    }

    /// The names of the nodes without this component, if most others have it.
    fn unjudged_by(&self, component: Component) -> Vec<&str> {
        let nodes = self.nodes.iter();
        let unjudged = nodes.filter(|node| !node.parts.contains_key(&component));
        let unjudged: Vec<&str> = unjudged.map(|node| node.name.as_str()).collect();
        if 2 * unjudged.len() < self.nodes.len() {
            unjudged
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{judged, readings, slow};
    use instrument::component::Component;

    #[test]
    fn nodes_that_differ_below_one_switch_are_named_together() {
        // Of twelve nodes, the first `slow` are slower in calls and the first `below` are below one switch.
        let sentences = |slow_nodes: usize, below: usize| {
            let mut all = readings(12, 7, |_| 0.0);
            let (_, shifted) = readings(1, 7, slow(Component::Calls, 0.3)).remove(0);
            for (index, (_, reading)) in all.iter_mut().enumerate() {
                reading.switch = Some(if index < below { "s1" } else { "s2" }.to_owned());
                if index < slow_nodes {
                    reading.values.clone_from(&shifted.values);
                }
            }
            judged(all).switches()
        };
        assert_eq!(
            sentences(3, 3),
            ["All 3 nodes below switch s1 are slower in system calls: look at what they share."]
        );
        // A switch with a healthy node, a single node, and healthy nodes alone.
        for (slow_nodes, below) in [(2, 3), (1, 1), (0, 3)] {
            assert_eq!(sentences(slow_nodes, below), [""; 0]);
        }
    }
}
