//! Gathers the values of many runs by node.

use super::reading::{Cell, Key, Meaning, Reading};
use crate::comparison::Refusal;
use crate::lists::by_key;
use instrument::experiment::Definition;
use instrument::statistics::moderation::{Variance, sum};
use instrument::statistics::peers::{FEWEST_NODES, Observation};
use instrument::statistics::summary::mean;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Gathers runs one by one. The result does not depend on their order.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    /// By id, with the version of oscope that wrote it.
    pub(super) definitions: HashMap<String, (String, Definition)>,
    pub(super) values: BTreeMap<Key, Vec<Session>>,
    /// By name.
    pub(super) nodes: BTreeMap<String, Sessions>,
    /// Nodes with runs either now or before, if changes are judged.
    pub(super) unpaired: Vec<String>,
    /// Each run by id with its node.
    pub(super) runs: HashMap<String, String>,
    /// Runs that came twice: the node that kept it, and the other name.
    pub(super) twice: Vec<(String, String)>,
    /// Number of values of experiments that this version of oscope does not know.
    pub(super) unknown: usize,
}

/// The runs of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    pub name: String,
    /// Without their values.
    pub readings: Vec<Reading>,
    /// The earlier ones, if changes since then are judged.
    pub before: Option<Vec<Reading>>,
}

/// The value of one run; the reason if there is none.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub node: String,
    pub meaning: Meaning,
    pub found: Result<Cell, String>,
}

/// A metric at a point over the nodes, of one meaning.
#[derive(Debug)]
pub(super) struct Column {
    pub key: Key,
    pub meaning: Meaning,
    /// In the order of the nodes.
    pub nodes: Vec<Option<Cell>>,
}

impl Gathering {
    /// Adds a run of `node`. A run that is there already is left out, which a remark reports.
    pub fn add(&mut self, node: &str, mut reading: Reading) {
        if let Some(known) = self.runs.get(&reading.run) {
            let mut names = [known.clone(), node.to_owned()];
            names.sort();
            self.twice.push(names.into());
            return;
        }
        self.runs.insert(reading.run.clone(), node.to_owned());
        self.unknown += reading.unknown;
        for value in std::mem::take(&mut reading.values) {
            self.values.entry(value.key).or_default().push(Session {
                node: node.to_owned(),
                meaning: value.meaning,
                found: value.found,
            });
        }
        for definition in std::mem::take(&mut reading.definitions) {
            let known = self.definitions.get(&definition.id);
            if known.is_none_or(|(version, _)| *version < reading.version) {
                let known = (reading.version.clone(), definition);
                self.definitions.insert(known.1.id.clone(), known);
            }
        }
        let sessions = self.nodes.entry(node.to_owned()).or_default();
        node.clone_into(&mut sessions.name);
        sessions.readings.push(reading);
    }

    /// The values that enough nodes have, and those that cannot be compared.
    pub(super) fn columns(&mut self) -> (Vec<Column>, Vec<Refusal>) {
        let places = self.nodes.keys().cloned().zip(0..).collect();
        let (mut refused, mut columns) = (Vec::new(), Vec::new());
        for (key, values) in std::mem::take(&mut self.values) {
            columns.extend(column(key, values, &places, &mut refused));
        }
        (columns, refused)
    }
}

/// The values of most nodes' meaning; `None` if too few nodes have one.
fn column(
    key: Key,
    values: Vec<Session>,
    places: &HashMap<String, usize>,
    refused: &mut Vec<Refusal>,
) -> Option<Column> {
    let mut groups = by_key(values.into_iter().map(|it| (it.meaning, it)));
    // The most common meaning; of equally common ones the newest.
    groups.sort_by_key(|(meaning, values)| Reverse((values.len(), meaning.version)));
    let mut groups = groups.into_iter();
    let (meaning, values) = groups.next().unzip();
    for (other, values) in groups {
        for _ in values {
            let reason = other.obstacle(meaning?);
            Refusal::count(refused, &key.experiment, &key.metric, reason);
        }
    }
    let mut sessions: Vec<Vec<Cell>> = vec![Vec::new(); places.len()];
    for value in values.into_iter().flatten() {
        match (value.found, places.get(&value.node)) {
            (Ok(found), Some(place)) => sessions[*place].push(found),
            (Err(reason), _) => Refusal::count(refused, &key.experiment, &key.metric, reason),
            (Ok(_), None) => {}
        }
    }
    let nodes: Vec<_> = sessions.into_iter().map(of_node).collect();
    let measured = nodes.iter().flatten().count();
    if measured < FEWEST_NODES {
        let reason = format!("fewer than {FEWEST_NODES} nodes have it");
        Refusal::count(refused, &key.experiment, &key.metric, reason);
        return None;
    }
    Some(Column {
        key,
        meaning: meaning?,
        nodes,
    })
}

/// The value of a node: the mean of its sessions.
pub(super) fn of_node(mut sessions: Vec<Cell>) -> Option<Cell> {
    if let [only] = sessions.as_slice() {
        return Some(*only);
    }
    // The sum of numbers depends on their order.
    sessions.sort_by(|a, b| a.found.value.total_cmp(&b.found.value));
    let values: Vec<f64> = sessions.iter().map(|it| it.found.value).collect();
    let errors: Option<Vec<Variance>> = sessions.iter().map(|it| it.found.error).collect();
    let count = values.len() as f64;
    let error = errors.and_then(|errors| sum(&errors)).map(|all| Variance {
        value: all.value / count.powi(2),
        ..all
    });
    let value = mean(&values)?;
    Some(Cell {
        found: Observation { value, error },
        is_doubtful: sessions.iter().any(|it| it.is_doubtful),
        sides: None,
    })
}
