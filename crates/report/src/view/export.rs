//! A run for Markdown: findings, then one table for each experiment.

use super::experiment::rows;
use crate::document::{Blocks, Document, Piece, Table, Text, text};
use crate::show::words::DOUBTFUL;
use crate::{Analysis, ExperimentAnalysis, show};

/// Findings with their grades, and all estimates with their intervals.
pub fn export<'a>(analysis: &'a Analysis<'_>) -> Document<'a> {
    let run = analysis.run;
    let named = run
        .header
        .name
        .as_deref()
        .or(run.machine.cpu.model.as_deref());
    let measured = show::measured(&run.header);
    let findings = analysis.findings().into_iter().map(|(_, finding)| {
        let grade = Piece::faint(format!(" ({})", show::grade(finding.grade).text));
        Text::from(&finding.sentence).then(grade)
    });
    let findings = Blocks::default()
        .say([measured])
        .section("Findings", Blocks::default().list(findings));
    let experiments = analysis.experiments.iter().fold(findings, |blocks, it| {
        let definition = it.definition;
        let id = Piece::command(definition.id.as_str());
        blocks.section(
            text![format!("{} (", definition.title), id, ")"],
            experiment(it),
        )
    });
    experiments.document(named.unwrap_or("A run of oscope"))
}

fn experiment<'a>(experiment: &'a ExperimentAnalysis<'_>) -> Blocks<'a> {
    let definition = experiment.definition;
    let rows = rows(experiment);
    let estimates = Table::of("estimates", &rows)
        .name("point", |(point, ..)| show::point(definition, &point.point))
        .words("metric", |(.., metric)| metric.title.as_str())
        .number("value", |(_, it, metric)| show::centre(metric.unit, it))
        .words("95 % interval", |(_, it, metric)| {
            show::ends(metric.unit, it)
        })
        .words("", |(point, _, metric)| {
            let is_doubtful = point.is_doubtful(&metric.name);
            if is_doubtful { DOUBTFUL.text } else { "" }
        });
    let skipped = experiment
        .skipped
        .map(|reason| format!("Not measured: {reason}"));
    Blocks::default()
        .say([definition.question.as_str()])
        .say(skipped)
        .table(estimates)
}
