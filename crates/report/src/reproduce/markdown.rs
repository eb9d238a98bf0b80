//! A reproduction as Markdown.

use super::words::{counts, number, printed, quoted, shape_word, value, word};
use super::{JudgedFigure, Reproduction, Shape};
use crate::comparison::escaped;
use crate::show;
use std::fmt::Write as _;

/// The tables one after the other, then the claims, what lacks, and the counts.
pub fn markdown(reproduction: &Reproduction) -> String {
    let mut text = "# The reports, figure by figure\n".to_owned();
    let _ = writeln!(
        text,
        "\nHere: {}. Spread and state of the caches were printed nowhere: unknown.",
        escaped(&reproduction.machine)
    );
    for judged in &reproduction.tables {
        let table = judged.table;
        let place = format!("Report {}, {}", table.report.letter(), table.place);
        let _ = writeln!(
            text,
            "\n## {}: {}\n",
            escaped(&place),
            escaped(&table.title)
        );
        text += "| | | reported | here | | |\n| --- | --- | ---: | ---: | --- | --- |\n";
        for figure in &judged.figures {
            text += &row(figure);
        }
        if !judged.shapes.is_empty() {
            text +=
                "\n| shape | of | reported | here | | |\n| --- | --- | ---: | ---: | --- | --- |\n";
            for shape in &judged.shapes {
                text += &shape_row(shape);
            }
        }
    }
    if !reproduction.claims.is_empty() {
        text += "\n## Claims\n\n| | claim | source | here |\n| --- | --- | --- | --- |\n";
    }
    for (_, claim, judgement) in &reproduction.claims {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            show::ruling(judgement.ruling).text,
            escaped(claim.says),
            escaped(claim.source),
            escaped(&show::sentence(&judgement.because))
        );
    }
    let commands = reproduction.commands();
    if !commands.is_empty() {
        text += "\n## What has to be measured first\n\n";
        for command in commands {
            let _ = writeln!(text, "- `oscope {}`", quoted(&command));
        }
    }
    let _ = write!(text, "\n## Counts\n\n{}", counts(reproduction));
    text
}

fn row(figure: &JudgedFigure) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} |\n",
        escaped(&figure.figure.what),
        escaped(&figure.figure.series),
        escaped(&printed(figure)),
        figure
            .here
            .as_ref()
            .map_or_else(|| "—".into(), |here| escaped(&value(here))),
        word(figure.outcome),
        escaped(figure.reason.as_deref().unwrap_or(""))
    )
}

fn shape_row(shape: &Shape) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} |\n",
        shape_word(shape.kind),
        escaped(format!("{} {}", shape.series, shape.of).trim_start()),
        number(shape.reported.as_ref()),
        number(shape.here.as_ref()),
        word(shape.outcome),
        escaped(shape.remark.as_deref().unwrap_or(""))
    )
}
