//! A comparison of two sides.

use super::grid::{BETWEEN, Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::comparison::{Comparison, Row, Side};

/// Number of differences to show unless all are requested.
const FIRST_ROWS: usize = 15;
/// Number of undecided rows to show after the differences.
const FIRST_OPEN: usize = 5;
/// Names wrap to no less than this.
const LEAST_NAME_WIDTH: usize = 16;

/// The sides, verdicts in a sentence, remarks, the largest differences, undecided rows, and what else
/// differs. With `all`, every row by experiment in place of the first ones.
pub fn comparison(comparison: &Comparison<'_>, all: bool, style: &Style) -> String {
    let [a, b] = [comparison.question.a, comparison.question.b].map(Side::title);
    let mut text = paragraph("A = ", &a, style);
    text += &paragraph("B = ", &b, style);
    text += &title(&comparison.counts().sentence(), style);
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
        text += &rows("Not decided", &comparison.open(), first, style);
    }
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

/// One table, whose names wrap so that all columns fit.
fn table(rows: &[&Row<'_>], with_experiment: bool, style: &Style) -> String {
    let column = |cell: &dyn Fn(&Row<'_>) -> Cell| -> Vec<Cell> {
        rows.iter().map(|row| cell(row)).collect()
    };
    let name = |row: &Row<'_>| {
        Cell::plain(if with_experiment {
            format!("{} {}", row.definition.id, row.place())
        } else {
            row.place()
        })
    };
    let ratio = |row: &Row<'_>| Cell {
        text: row.shown_ratio_with_interval(),
        role: if row.doubtful {
            Role::Doubtful
        } else {
            Role::Plain
        },
    };
    let verdict = |row: &Row<'_>| Cell {
        text: row.verdict.word().text.into(),
        role: row.verdict.word().tone.into(),
    };
    let values = vec![
        Column::right("A", column(&|row| Cell::plain(row.show(&row.a)))),
        Column::right("B", column(&|row| Cell::plain(row.show(&row.b)))),
        Column::left("B as fast (95 %)", column(&ratio)),
        Column::left("verdict", column(&verdict)),
    ];
    let taken = values.iter().map(|column| column.width(style) + BETWEEN);
    let left = style.width.saturating_sub(taken.sum::<usize>() + BETWEEN);
    Grid {
        lead: vec![Column::left("value", column(&name)).wrapped(left.max(LEAST_NAME_WIDTH))],
        groups: vec![values],
    }
    .render(style)
}

fn circumstances(comparison: &Comparison<'_>, style: &Style) -> String {
    let facts = &comparison.circumstances;
    if facts.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}", title("What else differs between the sides", style));
    for fact in facts {
        let side = |value: &str| {
            if value.is_empty() {
                "unknown".to_owned()
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
