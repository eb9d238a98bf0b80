//! A judged fleet: the nodes that differ, what of each differs, and all nodes.

use super::{Sided, differing, listed, method};
use crate::document::{Blocks, Document, Piece, Table, Text, text};
use crate::fleet::{Alarm, Fleet, Node, Part, Standing, Value};
use crate::show;
use crate::show::words::{NOT_JUDGED, NOT_MEASURED};
use instrument::component::Component;
use instrument::point::Choice;
use instrument::quantity::Unit;

/// Values, facts, nodes and lines to show at first.
const FIRST_VALUES: usize = 5;
const FIRST_FACTS: usize = 8;
const FIRST_NODES: usize = 10;
const FIRST_LINES: usize = 5;
/// More values of a node, and more nodes in detail, are in the JSON only: a page of a thousand sick nodes stays small.
const MOST_VALUES: usize = 20;
const MOST_NODES: usize = 100;

/// The document of `fleet`.
pub fn fleet(fleet: &Fleet) -> Document<'_> {
    let odd: Vec<&Node> = fleet.nodes.iter().filter(|node| node.is_odd()).collect();
    let others = fleet.count(Some(Standing::Alike));
    let [alike, ..] = fleet.words();
    let others = (others > 0 && !odd.is_empty()).then(|| format!("and {others} {alike}"));
    let detailed = |nodes: &[&Node]| {
        nodes.iter().fold(Blocks::default(), |blocks, node| {
            blocks.section(node.name.as_str(), details(fleet, node))
        })
    };
    let shown = &odd[..odd.len().min(MOST_NODES)];
    let (first, further) = shown.split_at(shown.len().min(FIRST_NODES));
    let alarms = fleet.second.iter().flat_map(|second| &second.alarms);
    let again: Vec<String> = alarms.map(Alarm::sentence).collect();
    let blocks = Blocks::default()
        .remark(fleet.caveats())
        .with(Blocks::default().table(named(&odd)))
        .say(others)
        .with(detailed(first))
        .fold(
            format!("Details of {} more nodes", further.len()),
            detailed(further),
        )
        .section("Measured again", listed(&again, FIRST_LINES))
        .section("Not measured", listed(&missing(fleet), FIRST_LINES))
        .section("Not compared", listed(&fleet.left_out(), FIRST_LINES))
        .rest(all(fleet));
    Document {
        unfolded_by: "--json, or --page FILE",
        method: Some(method("How the nodes were judged", judged(fleet))),
        ..blocks.document(fleet.headline())
    }
}

/// A row for each component in which a node differs.
fn named(odd: &[&Node]) -> Table {
    let mut rows: Vec<(&str, Component, &Part)> = Vec::new();
    for node in odd {
        let parts = node.differing();
        rows.extend(parts.map(|(component, part)| (node.name.as_str(), component, part)));
    }
    Table::of("nodes that differ", &rows)
        .name("node", |(node, ..)| Piece::Link((*node).to_owned()))
        .name("component", |(_, component, _)| component.name())
        .words("verdict", |(.., part)| part.standing.word())
        .words("as fast (95 %)", |(.., part)| {
            Piece::ratio(part.ratio, part.interval)
        })
        .number("values that differ", |(.., part)| {
            format!("{} of {}", part.differing, part.values)
        })
        .into()
}

/// The values of a node that differ most, and the facts by which it differs.
fn details<'a>(fleet: &Fleet, node: &Node) -> Blocks<'a> {
    let [_, here, elsewhere] = fleet.words();
    let differs = |value: &&Value| node.differing().any(|(it, _)| it == value.component);
    let (named, others): (Vec<&Value>, Vec<&Value>) = node.values.iter().partition(differs);
    let mut values = [named, others].concat();
    let further = values.len().saturating_sub(MOST_VALUES);
    let further =
        (further > 0).then(|| format!("{further} more values are in the output of --json."));
    values.truncate(MOST_VALUES);
    let verdict = |value: &Value| {
        if value.ratio < 1.0 {
            Standing::Slower.word()
        } else {
            Standing::Faster.word()
        }
    };
    let values = Table::of(format!("values of {}", node.name), &values)
        .name("value", |value| {
            format!("{} {}", value.experiment, value.place)
        })
        .number(here, |it| show::value(it.unit, it.here, None))
        .number(elsewhere, |it| show::value(it.unit, it.elsewhere, None))
        .words("as fast (95 %)", |value| {
            Piece::doubtful_ratio(value.ratio, value.interval, value.doubtful)
        })
        .words("verdict", |value| verdict(value))
        .first(FIRST_VALUES);
    let sides: [Sided<'_>; 2] = [(here, |it| &it.b), (elsewhere, |it| &it.a)];
    let facts = differing(&node.circumstances, sides);
    Blocks::default()
        .table(values)
        .rest(Blocks::default().say(further))
        .table(facts.first(FIRST_FACTS))
}

/// Nodes without a component that others measured.
fn missing(fleet: &Fleet) -> Vec<String> {
    let line = |node: &Node| {
        let missing = fleet.missing(node);
        (!missing.is_empty()).then(|| format!("{}: {}", node.name, missing.join(", ")))
    };
    fleet.nodes.iter().filter_map(line).collect()
}

/// A row for each node, a column for each component. Only what differs has a word.
fn all<'a>(fleet: &Fleet) -> Blocks<'a> {
    let [alike, ..] = fleet.words();
    let mut table = Table::of("all nodes", &fleet.nodes)
        .name("node", |node| Piece::Link(node.name.clone()))
        .words("verdict", |node| match node.standing {
            Some(Standing::Alike) => Text::from(alike),
            Some(standing) => standing.word().into(),
            None => NOT_JUDGED.into(),
        });
    for component in fleet.components.keys() {
        table = table.words(component.name(), |node| part(node.parts.get(component)));
    }
    let compared = if fleet.is_since {
        "as before, next to the change of the other nodes"
    } else {
        "as that of the other nodes"
    };
    let note = format!(
        "Each cell says how many times as fast a component is {compared}: below 1 it is slower."
    );
    Blocks::default().section(
        "All nodes",
        Blocks::default().say([Piece::faint(note)]).table(table),
    )
}

fn part(part: Option<&Part>) -> Text {
    let Some(part) = part else {
        return NOT_MEASURED.into();
    };
    let ratio = Piece::ratio(part.ratio, part.interval);
    let word = part.standing.word();
    match part.standing {
        // What is as it should be needs no interval: a page has room for all components.
        Standing::Alike => Piece::from(show::ratio(part.ratio)).into(),
        _ => text![Piece::toned(word.tone, word.text), " ", ratio],
    }
}

fn judged(fleet: &Fleet) -> Vec<String> {
    let values = fleet.values;
    let compared = if fleet.is_since {
        format!(
            "Each of {values} values is divided by that of the same node before, and this change is compared \
             with its median over the nodes, turned so that more is better."
        )
    } else {
        format!(
            "Each of {values} values is compared with its median over the nodes, turned so that more is better."
        )
    };
    let judged = format!(
        "{compared} The spread of healthy nodes is the median absolute deviation (Hampel 1974), drawn towards \
         that of equally noisy values (Smyth 2004) and bounded by the error that the nodes' own processes \
         show. A component is the weighted median of its values, so that at least half of their weight must \
         deviate. Its spread comes from the nodes as well. A deviation counts if it is larger than {} (TREAT, \
         McCarthy and Smyth 2009). Of the components that are named at most 1 % may be false, of the single \
         values at most 5 % (Benjamini and Hochberg 1995).",
        Unit::Share.show(fleet.margin, 2)
    );
    let again = "A node that differed at first was measured a second time, next to healthy nodes. It is in the \
                 verdict only if it deviates again, in the same direction and by more than the margin, and all \
                 runs together say the same.";
    let again = fleet.second.as_ref().map(|_| again.to_owned());
    [Some(judged), again].into_iter().flatten().collect()
}
