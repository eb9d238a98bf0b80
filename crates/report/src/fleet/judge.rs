//! Verdicts on nodes and their components.

use super::gathering::{Column, Gathering, Sessions};
use super::{FALSE_DISCOVERY_RATE, Fleet, Node, Part, Standing, Unjudged, Value, facts, remarks};
use crate::comparison::{self, Refusal, towards_better};
use crate::lists::{distinct, joined};
use crate::show;
use instrument::component::Component;
use instrument::experiment::Definition;
use instrument::statistics::Interval;
use instrument::statistics::discovery::adjusted;
use instrument::statistics::moderation::Moderated;
use instrument::statistics::peers::{FEWEST_NODES, Metric, deviations};
use instrument::statistics::summary::median;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A deviation with its p-value, adjusted for all that were tested together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    found: Moderated,
    pub adjusted_p: f64,
}

impl Gathering {
    /// Judges the nodes. Differences up to `margin` are ignored: 0.02 for 2 %.
    ///
    /// # Errors
    /// If there are too few nodes, or none of their values can be compared.
    pub fn judge(mut self, margin: f64) -> Result<Fleet, Unjudged> {
        if self.nodes.len() < FEWEST_NODES {
            return Err(Unjudged::TooFew(self.nodes.len()));
        }
        let (columns, refused) = self.columns();
        if columns.is_empty() {
            let reason = refused.first();
            let reason = reason.map(|it| format!("{} {}: {}", it.experiment, it.metric, it.reason));
            return Err(Unjudged::NothingInCommon(reason));
        }
        // The result does not depend on the order in which runs came.
        self.twice.sort();
        for node in self.nodes.values_mut() {
            node.readings.sort_by(|a, b| a.run.cmp(&b.run));
        }
        Ok(self.fleet(&columns, refused, margin))
    }

    fn fleet(&self, columns: &[Column], refused: Vec<Refusal>, margin: f64) -> Fleet {
        let mut components: BTreeMap<Component, BTreeSet<&str>> = BTreeMap::new();
        for Column { key, .. } in columns {
            let experiments = components.entry(key.component).or_default();
            experiments.insert(&key.experiment);
        }
        let found = deviations(&metrics(columns, &components), components.len());
        let values = tested(&found.metrics, margin);
        let parts = tested(&found.families, margin);
        let mut remarks = remarks::remarks(self, components.len());
        let nodes: Vec<&Sessions> = self.nodes.values().collect();
        let is_since = nodes.iter().any(|node| node.before.is_some());
        let facts = if is_since {
            let (shared, of_nodes) = facts::changed(&nodes);
            let changes = remarks::of_changes(self, columns, components.keys(), &shared, margin);
            remarks.extend(changes);
            of_nodes
        } else {
            facts::peculiar(&nodes)
        };
        let judged = nodes.iter().zip(facts).enumerate();
        let judged = judged.map(|(index, (sessions, facts))| {
            let values = columns.iter().zip(&values).filter_map(|(column, values)| {
                value(column, index, values[index]?, &self.definitions)
            });
            let values: Vec<Value> = values.collect();
            let parts = components.keys().zip(&parts);
            let parts = parts.filter_map(|(component, parts)| {
                let of_component = columns.iter().filter(|it| it.key.component == *component);
                let measured = of_component.filter(|column| column.nodes[index].is_some());
                let part = part(parts[index]?, measured.count(), &values, *component);
                Some((*component, part))
            });
            node(sessions, parts.collect(), values, facts)
        });
        let mut nodes: Vec<Node> = judged.collect();
        sort(&mut nodes);
        let owned = |ids: BTreeSet<&str>| ids.into_iter().map(str::to_owned).collect();
        Fleet {
            margin,
            is_since,
            values: columns.len(),
            components: (components.into_iter())
                .map(|(component, ids)| (component, owned(ids)))
                .collect(),
            nodes,
            remarks,
            refused,
            second: None,
        }
    }
}

/// Sorts nodes as [`Fleet::nodes`] describes.
pub(super) fn sort(nodes: &mut [Node]) {
    nodes.sort_by(|a, b| {
        let certainty = a.certainty().total_cmp(&b.certainty());
        let rank = |node: &Node| (node.standing.is_none(), node.standing);
        (rank(a).cmp(&rank(b)))
            .then_with(|| {
                if a.is_odd() {
                    certainty
                } else {
                    Ordering::Equal
                }
            })
            .then_with(|| a.name.cmp(&b.name))
    });
}

/// The verdict on a node with these components; `None` without any.
pub(super) fn standing(parts: &BTreeMap<Component, Part>) -> Option<Standing> {
    parts.values().map(|part| part.standing).min()
}

fn metrics<T>(columns: &[Column], components: &BTreeMap<Component, T>) -> Vec<Metric> {
    let metric = |column: &Column| {
        let family = components.keys().position(|it| *it == column.key.component);
        let nodes = column.nodes.iter();
        Metric {
            family: family.unwrap_or(components.len()),
            nodes: nodes.map(|node| node.map(|cell| cell.found)).collect(),
        }
    };
    columns.iter().map(metric).collect()
}

/// Tests all deviations against the margin together.
pub(crate) fn tested(found: &[Vec<Option<Moderated>>], margin: f64) -> Vec<Vec<Option<Tested>>> {
    let margin = margin.ln_1p();
    let p_values = found.iter().flatten().flatten();
    let p_values: Vec<f64> = p_values.map(|found| found.p_beyond(margin)).collect();
    let mut adjusted = adjusted(&p_values).into_iter();
    let mut test = |found: &Option<Moderated>| {
        let found = (*found)?;
        let adjusted_p = adjusted.next()?;
        Some(Tested { found, adjusted_p })
    };
    let columns = found.iter();
    columns
        .map(|column| column.iter().map(&mut test).collect())
        .collect()
}

impl Tested {
    pub(crate) fn ratio(&self) -> f64 {
        self.found.difference.exp()
    }

    pub(crate) fn interval(&self) -> Option<Interval> {
        self.found.interval()?.map(f64::exp)
    }

    /// The verdict at this false discovery rate.
    pub(crate) fn standing(&self, rate: f64) -> Standing {
        if self.adjusted_p > rate || self.adjusted_p.is_nan() {
            Standing::Alike
        } else if self.found.difference < 0.0 {
            Standing::Slower
        } else {
            Standing::Faster
        }
    }
}

/// The value of a node, if it differs by itself.
fn value(
    column: &Column,
    node: usize,
    tested: Tested,
    definitions: &HashMap<String, (String, Definition)>,
) -> Option<Value> {
    if tested.standing(comparison::FALSE_DISCOVERY_RATE) == Standing::Alike {
        return None;
    }
    let cell = column.nodes[node]?;
    let all = column.nodes.iter().flatten().map(|it| it.found.value);
    let median = median(&all.collect::<Vec<_>>())?;
    let [here, elsewhere] = cell.sides.unwrap_or([cell.found.value, median]);
    let in_unit = |merit: f64| (towards_better(column.meaning.better) * merit).exp();
    let key = &column.key;
    let (_, definition) = definitions.get(&key.experiment)?;
    let title = &definition.metric(&key.metric)?.title;
    let point = show::point(definition, &key.point);
    Some(Value {
        component: key.component,
        experiment: key.experiment.clone(),
        place: joined(": ", [&*point, title.as_str()]),
        metric: key.metric.clone(),
        ratio: tested.ratio(),
        interval: tested.interval(),
        adjusted_p: tested.adjusted_p,
        unit: column.meaning.unit,
        here: in_unit(here),
        elsewhere: in_unit(elsewhere),
        doubtful: cell.is_doubtful,
    })
}

fn part(tested: Tested, measured: usize, values: &[Value], component: Component) -> Part {
    let is_slower = tested.found.difference < 0.0;
    let values = values.iter().filter(|value| value.component == component);
    Part {
        ratio: tested.ratio(),
        interval: tested.interval(),
        adjusted_p: tested.adjusted_p,
        standing: tested.standing(FALSE_DISCOVERY_RATE),
        values: measured,
        differing: values.filter(|it| (it.ratio < 1.0) == is_slower).count(),
    }
}

fn node(
    sessions: &Sessions,
    parts: BTreeMap<Component, Part>,
    mut values: Vec<Value>,
    circumstances: Vec<comparison::Circumstance>,
) -> Node {
    values.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let readings = || sessions.readings.iter();
    Node {
        name: sessions.name.clone(),
        runs: readings().map(|it| it.run.clone()).collect(),
        machines: distinct(readings().map(|it| it.machine.clone())),
        switch: readings().find_map(|it| it.switch.clone()),
        standing: standing(&parts),
        parts,
        values,
        circumstances,
    }
}
