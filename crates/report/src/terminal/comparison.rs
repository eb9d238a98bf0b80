//! A comparison of two sides.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::comparison::{Comparison, Row};

/// Number of differences to show unless all are requested.
const FIRST_ROWS: usize = 15;
/// Number of undecided rows to show after the differences.
const FIRST_OPEN: usize = 5;

/// Verdicts in a sentence, remarks, the largest differences, undecided rows, counts by group, and
/// differences between the machines. With `all`, every row by experiment in place of the first
/// ones.
pub fn comparison(comparison: &Comparison<'_>, all: bool, style: &Style) -> String {
    let mut text = title(&comparison.headline(), style);
    for remark in &comparison.remarks {
        text += &paragraph(&style.paint(Role::Doubtful, "! "), remark, style);
    }
    for statement in comparison.statements() {
        text += &paragraph("- ", &statement, style);
    }
    if all {
        text += &by_experiment(comparison, style);
    } else {
        let differences = comparison.differences();
        text += &rows(
            "Differences, the largest first",
            &differences,
            FIRST_ROWS,
            style,
        );
        let first = if differences.is_empty() {
            FIRST_ROWS
        } else {
            FIRST_OPEN
        };
        text += &rows("What is open", &comparison.open(), first, style);
    }
    text += &groups(comparison, style);
    text += &circumstances(comparison, style);
    let left_out = comparison.left_out();
    if !left_out.is_empty() {
        text += "\n";
        text += &title("Not compared", style);
        for line in left_out {
            text += &paragraph("- ", &line, style);
        }
    }
    text
}

fn rows(heading: &str, rows: &[&Row<'_>], limit: usize, style: &Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let shown = &rows[..rows.len().min(limit)];
    let mut text = format!("\n{}", title(heading, style));
    text += &table(shown, true, style);
    if rows.len() > limit {
        text += &paragraph(
            "",
            &format!("and {} more: --all", rows.len() - limit),
            style,
        );
    }
    text
}

/// All rows by experiment, with the series side by side.
fn by_experiment(comparison: &Comparison<'_>, style: &Style) -> String {
    let mut text = String::new();
    let mut rest: Vec<&Row<'_>> = comparison.rows.iter().collect();
    while let Some(first) = rest.first() {
        let id = &first.definition.id;
        let (ours, others): (Vec<_>, Vec<_>) =
            rest.iter().partition(|row| row.definition.id == *id);
        let id = style.paint(Role::Accent, id);
        let heading = style.paint(Role::Strong, &style.text(&first.definition.title));
        text += &["\n", &heading, "  ", &id, "\n"].concat();
        text += &table(&ours, false, style);
        rest = others;
    }
    text
}

fn table(rows: &[&Row<'_>], with_experiment: bool, style: &Style) -> String {
    let column = |cell: &dyn Fn(&Row<'_>) -> Cell| -> Vec<Cell> {
        rows.iter().map(|row| cell(row)).collect()
    };
    let mut lead = Vec::new();
    if with_experiment {
        lead.push(Column::left(
            "experiment",
            column(&|row| Cell::plain(row.definition.id.as_str())),
        ));
    }
    lead.push(Column::left(
        "point",
        column(&|row| Cell::plain(row.place())),
    ));
    let verdict = |row: &Row<'_>| Cell {
        text: row.shown_verdict(),
        role: row.verdict.word().tone.into(),
    };
    let verdicts = vec![
        Column::right(
            "B as fast",
            column(&|row| Cell {
                text: row.shown_ratio(),
                role: if row.doubtful {
                    Role::Doubtful
                } else {
                    Role::Plain
                },
            }),
        ),
        Column::left(
            "95 % interval",
            column(&|row| Cell::plain(row.shown_interval())),
        ),
        Column::left("verdict", column(&verdict)),
    ];
    let values = vec![
        Column::right("A", column(&|row| Cell::plain(row.show(&row.a)))),
        Column::right("B", column(&|row| Cell::plain(row.show(&row.b)))),
    ];
    Grid {
        lead,
        groups: vec![verdicts, values],
    }
    .render(style)
}

fn groups(comparison: &Comparison<'_>, style: &Style) -> String {
    let groups = comparison.groups();
    if groups.len() < 2 {
        return String::new();
    }
    let mut text = format!("\n{}", title("By group", style));
    for (group, counts) in groups {
        text += &paragraph(&format!("{group}: "), &counts.sentence(), style);
    }
    text
}

fn circumstances(comparison: &Comparison<'_>, style: &Style) -> String {
    let facts = &comparison.circumstances;
    if facts.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}", title("What differs around the two sides", style));
    for fact in facts {
        let side = |value: &str| {
            if value.is_empty() {
                "not told".to_owned()
            } else {
                value.to_owned()
            }
        };
        let both = format!("{} → {}", side(&fact.a), side(&fact.b));
        let label = style.paint(Role::Faint, &format!("{}: ", fact.name));
        text += &paragraph(&label, &both.replace('→', style.choose("→", "->")), style);
    }
    text
}
