//! A comparison as Markdown, for a pull request.

use super::{Comparison, Row};
use crate::show::words::INCONCLUSIVE;
use std::fmt::Write as _;

/// Number of rows before the rest is collapsed.
const FIRST_ROWS: usize = 15;

/// Headline, remarks and the largest differences; the rest is collapsed.
pub fn markdown(comparison: &Comparison<'_>) -> String {
    let mut text = format!("### {}\n", escaped(&comparison.headline()));
    for remark in &comparison.remarks {
        let _ = writeln!(text, "\n> {}", escaped(remark));
    }
    for statement in comparison.statements() {
        let _ = writeln!(text, "\n{}", escaped(&statement));
    }
    let differences = comparison.differences();
    let (first, further) = differences.split_at(differences.len().min(FIRST_ROWS));
    if !first.is_empty() {
        text += "\n";
        text += &table(first);
    }
    text += &folded("more differences", further);
    text += &folded(INCONCLUSIVE.text, &comparison.open());
    if !comparison.circumstances.is_empty() {
        text += &details(
            "What differs around the two sides",
            &circumstances(comparison),
        );
    }
    let left_out = comparison.left_out();
    if !left_out.is_empty() {
        let lines: Vec<String> = left_out
            .iter()
            .map(|line| format!("- {}", escaped(line)))
            .collect();
        text += &details("What was not compared", &(lines.join("\n") + "\n"));
    }
    text
}

fn folded(what: &str, rows: &[&Row<'_>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    details(&format!("{} {what}", rows.len()), &table(rows))
}

fn details(summary: &str, body: &str) -> String {
    format!("\n<details><summary>{summary}</summary>\n\n{body}\n</details>\n")
}

fn table(rows: &[&Row<'_>]) -> String {
    let mut text = String::from(
        "| experiment | point | A | B | B is so many times as fast | 95 % interval | verdict |\n\
         | --- | --- | ---: | ---: | ---: | --- | --- |\n",
    );
    for row in rows {
        let mark = if row.doubtful { " ⚠" } else { "" };
        let cells = [
            row.definition.id.clone(),
            row.place(),
            row.show(&row.a),
            row.show(&row.b),
            row.shown_ratio(),
            row.shown_interval(),
            format!("{}{mark}", row.verdict.word().text),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn circumstances(comparison: &Comparison<'_>) -> String {
    let mut text = String::from("| fact | A | B |\n| --- | --- | --- |\n");
    for fact in &comparison.circumstances {
        let cells = [&fact.name, &fact.a, &fact.b].map(|cell| escaped(cell));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// `text` with all Markdown and HTML markup escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
