//! A run for Markdown: findings, then one table for each experiment.

use crate::document::{Blocks, Document, Piece, Table, Text, text};
use crate::show::words::DOUBTFUL;
use crate::{Analysis, ExperimentAnalysis, show};
use instrument::experiment::Metric;
use instrument::results::{Estimate, PointResult};

/// Findings with their grades, and all estimates with their intervals.
pub fn export<'a>(analysis: &'a Analysis<'_>) -> Document<'a> {
    let run = analysis.run;
    let named = run
        .header
        .name
        .as_deref()
        .or(run.machine.cpu.model.as_deref());
    let measured = format!(
        "{}, {} profile, oscope {}",
        show::moment(run.header.started),
        run.header.profile,
        run.header.version
    );
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
    let of_point = |point: &'a PointResult| {
        let estimates = point.estimates.iter();
        estimates.filter_map(move |it| Some((point, it, definition.metric(&it.metric)?)))
    };
    let rows: Vec<Row<'a>> = experiment.points.iter().flat_map(of_point).collect();
    let estimates = Table::of("estimates", &rows)
        .name("point", |(point, ..)| show::point(definition, &point.point))
        .words("metric", |(.., metric)| metric.title.as_str())
        .number("value", value)
        .words("95 % interval", interval)
        .words("", |(point, _, metric)| {
            if point.is_doubtful(&metric.name) {
                DOUBTFUL.text
            } else {
                ""
            }
        });
    let skipped = experiment
        .skipped
        .map(|reason| format!("Not measured: {reason}"));
    Blocks::default()
        .say([definition.question.as_str()])
        .say(skipped)
        .table(estimates)
}

/// An estimate with its point and its metric.
type Row<'a> = (&'a PointResult, &'a Estimate, &'a Metric);

fn value((_, estimate, metric): &Row<'_>) -> String {
    if estimate.is_sound() {
        show::value(metric.unit, estimate.centre, estimate.interval)
    } else {
        show::estimate(metric.unit, estimate)
    }
}

fn interval((_, estimate, metric): &Row<'_>) -> String {
    let interval = estimate.interval.filter(|_| estimate.is_sound());
    interval.map_or_else(String::new, |ends| {
        show::range(metric.unit, ends, estimate.centre)
    })
}
