//! Verdicts on nodes and their components.

use super::changed::{self, Changed};
use super::gathered::{Column, Gathered, Sessions};
use super::peculiar::Peculiar;
use super::remarks::remarks;
use super::{FALSE_DISCOVERY_RATE, Fleet, Node, Part, Standing, Value};
use crate::comparison;
use crate::show;
use instrument::component::Component;
use instrument::experiment::{Better, Definition};
use instrument::point::Choice;
use instrument::statistics::discovery::adjusted;
use instrument::statistics::moderation::Moderated;
use instrument::statistics::peers::{Metric, deviations};
use instrument::statistics::summary::median;
use instrument::statistics::{Confidence, Interval};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// The deviation of a node with its p-value, adjusted for all nodes.
#[derive(Clone, Copy, Debug)]
struct Tested {
    found: Moderated,
    adjusted_p: f64,
}

/// Judges the nodes of `gathered`.
pub(super) fn fleet(gathered: Gathered, margin: f64) -> Fleet {
    let is_measured = |component: &Component| {
        let mut columns = gathered.columns.iter();
        columns.any(|column| column.key.component == *component)
    };
    let components = Component::ALL.iter().copied().filter(is_measured);
    let components: Vec<Component> = components.collect();
    let found = deviations(&metrics(&gathered.columns, &components), components.len());
    let values = tested(&found.metrics, margin);
    let parts = tested(&found.families, margin);
    let mut remarks = remarks(&gathered, components.len());
    let is_since = gathered.nodes.iter().any(|node| node.before.is_some());
    if is_since {
        remarks.extend(changed::remarks(&gathered, &components, margin));
    }
    let Gathered {
        names,
        nodes,
        columns,
        definitions,
        left_out,
    } = gathered;
    let peculiar = Peculiar::of(&nodes);
    let mut changed = Changed::of(&nodes);
    let judged = names.into_iter().zip(&nodes).enumerate();
    let judged = judged.map(|(index, (name, sessions))| {
        let values: Vec<Value> = columns
            .iter()
            .zip(&values)
            .filter_map(|(column, values)| value(column, index, values[index]?, &definitions))
            .collect();
        let parts: Vec<Option<Part>> = components
            .iter()
            .zip(&parts)
            .map(|(component, parts)| {
                let of_component = columns.iter().filter(|it| it.key.component == *component);
                let measured = of_component.filter(|column| column.nodes[index].is_some());
                Some(part(parts[index]?, measured.count(), &values, *component))
            })
            .collect();
        let facts = if is_since {
            changed.facts(index)
        } else {
            peculiar.facts(index)
        };
        node(name, sessions, parts, values, facts)
    });
    let mut nodes: Vec<Node> = judged.collect();
    sort(&mut nodes);
    Fleet {
        margin,
        is_since,
        values: columns.len(),
        experiments: components
            .iter()
            .map(|it| experiments(&columns, *it))
            .collect(),
        components,
        nodes,
        remarks,
        refused: left_out.values,
        second: None,
    }
}

/// The experiments whose values speak of `component`, each once.
fn experiments(columns: &[Column], component: Component) -> Vec<String> {
    let columns = columns.iter().map(|column| &column.key);
    let of_component = columns.filter(|key| key.component == component);
    let ids: BTreeSet<&String> = of_component.map(|key| &key.experiment).collect();
    ids.into_iter().cloned().collect()
}

/// Sorts nodes as [`Fleet::nodes`] says.
pub(super) fn sort(nodes: &mut [Node]) {
    nodes.sort_by(|a, b| {
        let certainty = a.certainty().total_cmp(&b.certainty());
        let worst = a.standing.cmp(&b.standing);
        let differs = a.standing != Standing::Alike;
        worst
            .then_with(|| if differs { certainty } else { Ordering::Equal })
            .then_with(|| a.name.cmp(&b.name))
    });
}

/// The verdict on a node with these components.
pub(super) fn standing(parts: &[Option<Part>]) -> Standing {
    let standings = parts.iter().flatten().map(|part| part.standing);
    standings.min().unwrap_or(Standing::Alike)
}

fn metrics(columns: &[Column], components: &[Component]) -> Vec<Metric> {
    let metric = |column: &Column| {
        let family = components.iter().position(|it| *it == column.key.component);
        let nodes = column.nodes.iter();
        Metric {
            family: family.unwrap_or(components.len()),
            nodes: nodes.map(|node| node.map(|cell| cell.found)).collect(),
        }
    };
    columns.iter().map(metric).collect()
}

/// Tests all deviations against the margin together.
fn tested(found: &[Vec<Option<Moderated>>], margin: f64) -> Vec<Vec<Option<Tested>>> {
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
    fn ratio(&self) -> f64 {
        self.found.difference.exp()
    }

    fn interval(&self) -> Option<Interval> {
        let ends = self.found.interval(Confidence::NINETY_FIVE)?;
        Interval::new(ends.low.exp(), ends.high.exp())
    }

    fn standing(&self, rate: f64) -> Standing {
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
    definitions: &HashMap<String, Definition>,
) -> Option<Value> {
    if tested.standing(comparison::FALSE_DISCOVERY_RATE) == Standing::Alike {
        return None;
    }
    let cell = column.nodes[node]?;
    let all = column.nodes.iter().flatten().map(|it| it.found.value);
    let median = median(&all.collect::<Vec<_>>())?;
    let [here, elsewhere] = cell.sides.unwrap_or([cell.found.value, median]);
    let in_unit = |merit: f64| match column.meaning.better {
        Better::Lower => (-merit).exp(),
        Better::Higher | Better::Neither => merit.exp(),
    };
    let key = &column.key;
    let definition = definitions.get(&key.experiment)?;
    let title = definition.metric(&key.metric)?.title.clone();
    let point = show::point(definition, &key.point);
    Some(Value {
        component: key.component,
        experiment: key.experiment.clone(),
        place: if point.is_empty() {
            title
        } else {
            format!("{point}: {title}")
        },
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
    name: String,
    sessions: &Sessions,
    parts: Vec<Option<Part>>,
    mut values: Vec<Value>,
    circumstances: Vec<comparison::Circumstance>,
) -> Node {
    values.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let mut machines: Vec<String> = Vec::new();
    for reading in &sessions.readings {
        if !machines.contains(&reading.machine) {
            machines.push(reading.machine.clone());
        }
    }
    Node {
        name,
        runs: sessions.readings.iter().map(|it| it.run.clone()).collect(),
        machines,
        switch: sessions.readings.iter().find_map(|it| it.switch.clone()),
        standing: standing(&parts),
        parts,
        values,
        circumstances,
    }
}
