//! A judged fleet.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::fleet::{Alarm, Fleet, Node, Part, Standing};
use instrument::component::Component;
use instrument::point::Choice;

/// Number of values to show for a node.
const FIRST_VALUES: usize = 5;
/// Number of facts to show for a node.
const FIRST_FACTS: usize = 8;
/// Number of nodes to show in detail.
const FIRST_NODES: usize = 10;
/// Number of lines to show of a list.
const FIRST_LINES: usize = 5;

/// The counts, remarks, a row for each component in which a node differs, and then what each of these
/// nodes is.
pub fn fleet(fleet: &Fleet, style: &Style) -> String {
    let mut text = title(&fleet.headline(), style);
    for remark in &fleet.caveats() {
        text += &paragraph(&style.paint(Role::Doubtful, "! "), remark, style);
    }
    let odd: Vec<&Node> = fleet
        .nodes
        .iter()
        .filter(|node| node.standing != Standing::Alike)
        .collect();
    if !odd.is_empty() {
        text += "\n";
        text += &table(fleet, &odd, style);
    }
    let healthy = fleet.count(Standing::Alike);
    if healthy > 0 && !odd.is_empty() {
        text += &paragraph("", &format!("and {healthy} {}", fleet.words().alike), style);
    }
    for node in odd.iter().take(FIRST_NODES) {
        text += &details(fleet, node, style);
    }
    if odd.len() > FIRST_NODES {
        let more = odd.len() - FIRST_NODES;
        let line = format!("Details of {more} more: --json, or --page FILE");
        text += "\n";
        text += &paragraph("", &line, style);
    }
    text += &again(fleet, style);
    text += &missing(fleet, style);
    text += &left_out(fleet, style);
    text
}

fn table(fleet: &Fleet, odd: &[&Node], style: &Style) -> String {
    let rows: Vec<(&Node, Component, &Part)> = odd
        .iter()
        .flat_map(|node| {
            let parts = node.differing(fleet);
            parts.map(|(component, part)| (*node, component, part))
        })
        .collect();
    let column = |cell: &dyn Fn(&(&Node, Component, &Part)) -> Cell| -> Vec<Cell> {
        rows.iter().map(cell).collect()
    };
    let verdict = |part: &Part| Cell {
        text: part.standing.word().text.into(),
        role: part.standing.word().tone.into(),
    };
    Grid {
        lead: vec![
            Column::left(
                "node",
                column(&|(node, ..)| Cell::plain(node.name.as_str())),
            ),
            Column::left("component", column(&|(_, it, _)| Cell::plain(it.name()))),
        ],
        groups: vec![vec![
            Column::left("verdict", column(&|(.., part)| verdict(part))),
            Column::right(
                "as fast",
                column(&|(.., part)| Cell::plain(part.shown_ratio())),
            ),
            Column::left(
                "95 % interval",
                column(&|(.., part)| Cell::plain(part.shown_interval())),
            ),
            Column::right(
                "values that differ",
                column(&|(.., part)| Cell::plain(part.shown_values())),
            ),
        ]],
    }
    .render(style)
}

/// The values of a node that differ most, and the facts by which it differs; nothing where none does by itself.
fn details(fleet: &Fleet, node: &Node, style: &Style) -> String {
    let components: Vec<Component> = node.differing(fleet).map(|(it, _)| it).collect();
    let values = node.values.iter();
    let values = values.filter(|value| components.contains(&value.component));
    let mut values = values.take(FIRST_VALUES).peekable();
    if values.peek().is_none() && node.circumstances.is_empty() {
        return String::new();
    }
    let words = fleet.words();
    let mut text = format!("\n{}", title(&node.name, style));
    for value in values {
        let [here, elsewhere] = value.shown();
        let line = format!(
            "{} {}: {} as fast, {here} {} and {elsewhere} {}",
            value.experiment,
            value.place,
            value.shown_ratio(),
            words.here,
            words.elsewhere
        );
        text += &paragraph("- ", &line, style);
    }
    for fact in node.circumstances.iter().take(FIRST_FACTS) {
        let side = |value: &str| if value.is_empty() { "not told" } else { value }.to_owned();
        let [here, elsewhere] = [side(&fact.b), side(&fact.a)];
        let line = format!("{here} {}, {elsewhere} {}", words.here, words.elsewhere);
        let label = style.paint(Role::Faint, &format!("- {}: ", fact.name));
        text += &paragraph(&label, &line, style);
    }
    let more = node.circumstances.len().saturating_sub(FIRST_FACTS);
    if more > 0 {
        text += &paragraph("- ", &format!("and {more} more facts that differ"), style);
    }
    text
}

/// The second measurement of what was named.
fn again(fleet: &Fleet, style: &Style) -> String {
    let second = fleet.second.as_ref();
    let alarms = second.map_or(&[][..], |second| &second.alarms);
    let lines: Vec<String> = alarms.iter().map(Alarm::sentence).collect();
    listed("Measured again", &lines, style)
}

/// Nodes that lack a component which others measured.
fn missing(fleet: &Fleet, style: &Style) -> String {
    let lines: Vec<String> = fleet
        .nodes
        .iter()
        .filter_map(|node| {
            let missing = fleet.missing(node);
            let line = || format!("{}: {}", node.name, missing.join(", "));
            (!missing.is_empty()).then(line)
        })
        .collect();
    listed("Not measured", &lines, style)
}

fn left_out(fleet: &Fleet, style: &Style) -> String {
    listed("Not compared", &fleet.left_out(), style)
}

fn listed(heading: &str, lines: &[String], style: &Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}", title(heading, style));
    for line in lines.iter().take(FIRST_LINES) {
        text += &paragraph("- ", line, style);
    }
    if lines.len() > FIRST_LINES {
        let more = lines.len() - FIRST_LINES;
        text += &paragraph("", &format!("and {more} more: --json"), style);
    }
    text
}
