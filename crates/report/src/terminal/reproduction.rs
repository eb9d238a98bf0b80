//! The published reports figure by figure, for the terminal.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::reproduce::words::{brief, counts, number, printed, quoted, shape_word, word};
use crate::reproduce::{
    JudgedFigure, JudgedTable, Outcome, Reproduction, Shape, ShapeKind, tables,
};
use crate::show;

/// The tables one after the other, then the claims, what lacks, and the counts.
pub fn reproduction(reproduction: &Reproduction, style: &Style) -> String {
    let tables = reproduction.tables.iter();
    let mut parts: Vec<String> = tables.map(|judged| table(judged, style)).collect();
    if !reproduction.claims.is_empty() {
        let mut text = title("Claims", style);
        for (_, claim, judgement) in &reproduction.claims {
            let ruling = format!("{:<14}  ", show::ruling(judgement.ruling).text);
            let source = style.paint(Role::Faint, &format!("({})", claim.source));
            text += &paragraph(&ruling, &format!("{} {source}", claim.says), style);
            text += &paragraph(&" ".repeat(16), &show::sentence(&judgement.because), style);
        }
        parts.push(text);
    }
    let commands = reproduction.commands();
    if !commands.is_empty() {
        let lines = commands
            .iter()
            .map(|words| format!("  oscope {}\n", quoted(words)));
        let head = "What has to be measured first (`--run` does it)";
        parts.push(title(head, style) + &lines.collect::<String>());
    }
    parts.push(title("Counts", style) + &counts(reproduction));
    parts.join("\n")
}

/// All places that can be asked for, with the number of figures of each.
pub fn places(style: &Style) -> String {
    let of = |text: fn(&crate::reproduce::Table) -> String| -> Vec<Cell> {
        tables()
            .iter()
            .map(|table| Cell::plain(style.text(&text(table))))
            .collect()
    };
    let lead = vec![
        Column::left("report", of(|table| table.report.letter().to_string())),
        Column::left("place", of(|table| table.place.clone())),
    ];
    let count = Column::right("figures", of(|table| table.figures.len().to_string()));
    let about = Column::left("", of(|table| table.title.clone()));
    let all: usize = tables().iter().map(|table| table.figures.len()).sum();
    Grid {
        lead,
        groups: vec![vec![count], vec![about]],
    }
    .render(style)
        + &format!("\n{all} figures\n")
}

fn table(judged: &JudgedTable, style: &Style) -> String {
    let table = judged.table;
    let place = format!(
        "Report {}, {}: {}",
        table.report.letter(),
        table.place,
        table.title
    );
    let mut text = title(&place, style);
    let mut series: Vec<&str> = Vec::new();
    for figure in &judged.figures {
        if !series.contains(&figure.figure.series.as_str()) {
            series.push(&figure.figure.series);
        }
    }
    for series in series {
        let figures = judged
            .figures
            .iter()
            .filter(|it| it.figure.series == series);
        let shapes = judged.shapes.iter().filter(|it| it.series == series);
        text += &self::figures(series, &figures.collect::<Vec<_>>(), style);
        text += &self::shapes(&shapes.collect::<Vec<_>>(), style);
    }
    let of_two = judged.shapes.iter().filter(|it| it.series.is_empty());
    text += &shapes(&of_two.collect::<Vec<_>>(), style);
    text + &reasons(judged, style)
}

fn figures(series: &str, figures: &[&JudgedFigure], style: &Style) -> String {
    let column = |text: &dyn Fn(&JudgedFigure) -> String| -> Vec<Cell> {
        let cells = figures.iter().map(|it| Cell::plain(style.text(&text(it))));
        cells.collect()
    };
    let lead = vec![Column::left(
        &style.text(series),
        column(&|it| it.figure.what.clone()),
    )];
    let numbers = vec![
        Column::right("reported", column(&printed)),
        Column::right(
            "here",
            column(&|it| it.here.as_ref().map_or("-".into(), brief)),
        ),
        Column::left("", figures.iter().map(|it| outcome(it.outcome)).collect()),
    ];
    let groups = vec![numbers];
    Grid { lead, groups }.render(style) + "\n"
}

/// Each reason once, with the number of figures that it holds for.
fn reasons(judged: &JudgedTable, style: &Style) -> String {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in judged.figures.iter().filter_map(|it| it.reason.as_deref()) {
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let said = |(reason, count): &(&str, usize)| {
        let first = style.paint(
            Role::Faint,
            &format!("  {count:>3} of {}: ", judged.figures.len()),
        );
        paragraph(&first, reason, style)
    };
    reasons.iter().map(said).collect()
}

fn shapes(shapes: &[&Shape], style: &Style) -> String {
    if shapes.is_empty() {
        return String::new();
    }
    let column = |text: &dyn Fn(&Shape) -> String| -> Vec<Cell> {
        let cells = shapes.iter().map(|it| Cell::plain(style.text(&text(it))));
        cells.collect()
    };
    let of = |it: &Shape| format!("{}: {}", shape_word(it.kind), it.of);
    let lead = vec![Column::left("shape", column(&of))];
    let numbers = vec![
        Column::right("reported", column(&|it| number(it.reported.as_ref()))),
        Column::right("here", column(&|it| number(it.here.as_ref()))),
        Column::left("", shapes.iter().map(|it| outcome(it.outcome)).collect()),
    ];
    let groups = vec![numbers];
    let mut text = Grid { lead, groups }.render(style);
    let told = |it: &&&Shape| matches!(it.kind, ShapeKind::Crossover | ShapeKind::Order);
    for shape in shapes.iter().filter(told) {
        if let Some(remark) = &shape.remark {
            text += &paragraph("  ", &format!("{}: {remark}", shape.of), style);
        }
    }
    text + "\n"
}

fn outcome(outcome: Outcome) -> Cell {
    Cell {
        text: word(outcome).into(),
        role: match outcome {
            Outcome::AsReported => Role::Accent,
            Outcome::Differs => Role::Strong,
            Outcome::CannotBeTold => Role::Faint,
        },
    }
}
