//! Caveats to read before the numbers of a fleet.

use super::gathered::Gathered;
use super::reading::Reading;
use instrument::quantity::counted;
use std::collections::BTreeMap;

/// Fewer nodes are judged with a caveat.
const FEW_NODES: usize = 4;
/// Number of names to list before the rest is counted.
const MOST_NAMES: usize = 4;

/// The remarks on a fleet, the most important first.
pub(super) fn remarks(gathered: &Gathered, components: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    if gathered.nodes.len() < FEW_NODES {
        remarks.push(
            "Three nodes: the middle one is the measure, so a node is named only where the two others \
             agree. If two of the three share a fault, the healthy one is the odd one. Four or more \
             nodes tell better."
                .into(),
        );
    }
    remarks.extend(gathered.left_out.twice.iter().map(twice));
    remarks.extend(shared_identities(gathered));
    remarks.extend(several_machines(gathered));
    remarks.extend(differing(gathered, "versions of oscope", |it| {
        it.version.clone()
    }));
    remarks.extend(differing(gathered, "profiles", |it| it.profile.to_string()));
    remarks.extend(unfinished(gathered));
    if gathered.left_out.unknown > 0 {
        remarks.push(format!(
            "Not judged: {} of experiments that this version of oscope does not know.",
            counted(gathered.left_out.unknown, "value")
        ));
    }
    if components == 1 {
        remarks.push("The runs speak of one component only.".into());
    }
    remarks
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

/// Hosts whose machines cannot be told apart. Several parts of one host are of one machine.
fn shared_identities(gathered: &Gathered) -> Vec<String> {
    let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, node) in gathered.names.iter().zip(&gathered.nodes) {
        for reading in &node.readings {
            let hosts = machines.entry(&reading.machine).or_default();
            let host = reading.host.as_ref().unwrap_or(name);
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
                list(&hosts),
                hosts.len()
            )
        })
        .collect()
}

/// Nodes whose runs come from several machines.
fn several_machines(gathered: &Gathered) -> Option<String> {
    let nodes = gathered.names.iter().zip(&gathered.nodes);
    let mixed = nodes.filter(|(_, node)| {
        let first = node.readings.first().map(|it| &it.machine);
        node.readings.iter().any(|it| Some(&it.machine) != first)
    });
    let names: Vec<&str> = mixed.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "The runs of {} come from several machines; each is judged as one node.",
            list(&names)
        )
    })
}

/// The nodes by a property of their runs, if it is not the same everywhere: the usual one first.
fn differing(
    gathered: &Gathered,
    what: &str,
    property: impl Fn(&Reading) -> String,
) -> Option<String> {
    let mut nodes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, node) in gathered.names.iter().zip(&gathered.nodes) {
        for reading in &node.readings {
            let names = nodes.entry(property(reading)).or_default();
            if names.last() != Some(&name.as_str()) {
                names.push(name);
            }
        }
    }
    if nodes.len() < 2 {
        return None;
    }
    let mut nodes: Vec<_> = nodes.into_iter().collect();
    nodes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let mut nodes = nodes.into_iter();
    let (usual, names) = nodes.next()?;
    let others = nodes.map(|(property, names)| format!("{property} on {}", list(&names)));
    Some(format!(
        "The {what} differ: {usual} on {}, {}. Only values of the same meaning are compared.",
        counted(names.len(), "node"),
        others.collect::<Vec<_>>().join(", ")
    ))
}

fn unfinished(gathered: &Gathered) -> Option<String> {
    let nodes = gathered.names.iter().zip(&gathered.nodes);
    let cut_off = nodes.filter(|(_, node)| node.readings.iter().any(|it| !it.is_finished));
    let names: Vec<&str> = cut_off.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Runs of {} did not come to the end of their plan: what they measured is judged.",
            list(&names)
        )
    })
}

/// Names as a list; a count for those that do not fit.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        names if names.len() > MOST_NAMES => format!(
            "{} and {} more",
            names[..MOST_NAMES].join(", "),
            names.len() - MOST_NAMES
        ),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
