//! An experiment of a run: its findings, its table and its charts, and in full each estimate.

use super::catalogue::named;
use super::marks::legend;
use super::results::table;
use super::run::findings;
use crate::ExperimentAnalysis;
use crate::document::{Blocks, Chart, Document, Item, Piece, Table, TableBuilder, Text, text};
use crate::lists::{by_key, distinct};
use crate::show::{self, Tone};
use instrument::experiment::Metric;
use instrument::point::{Axis, AxisKind};
use instrument::quantity::{Unit, counted};
use instrument::results::{Estimate, Percentiles, PointResult, Verdict};
use record::Failure;

/// An experiment's question, findings, table and charts, and its failed points.
pub(crate) fn overview<'a>(experiment: &ExperimentAnalysis<'_>) -> Blocks<'a> {
    let figures = experiment.figures.iter().cloned();
    let charts = figures.map(|figure| {
        let title = figure.title.clone();
        Chart::of(figure, &title, None)
    });
    Blocks::default()
        .say([experiment.definition.question.as_str()])
        .with(findings(&experiment.findings))
        .with(results(experiment))
        .charts(charts)
}

/// All results of one experiment: method, findings, table and charts; then all estimates with
/// interval, raw value, processor usage, processes and samples, percentiles, and the value of each
/// process; then all warnings and remarks. With a clock, costs of the core are shown in its cycles as well.
pub fn experiment<'a>(experiment: &ExperimentAnalysis<'_>, clock_hz: Option<f64>) -> Document<'a> {
    let blocks = Blocks::default;
    let remarks = experiment.points.iter().flat_map(|point| &point.remarks);
    let document = overview(experiment)
        .section(
            "Method",
            blocks().say([experiment.definition.method.as_str()]),
        )
        .section("Estimates", blocks().table(estimates(experiment, clock_hz)))
        .section("Single operations", blocks().table(percentiles(experiment)))
        .section("Each process", blocks().list(processes(experiment)))
        .section("Warnings", blocks().items(warnings(experiment)))
        .section("Remarks", blocks().list(distinct(remarks)))
        .document(named(experiment.definition));
    Document {
        unfolded_by: "--all",
        ..document
    }
}

/// An experiment's table with its legend, or the reason why there is none, and the failed points.
fn results<'a>(experiment: &ExperimentAnalysis<'_>) -> Blocks<'a> {
    let mut estimates = experiment.points.iter().flat_map(|point| &point.estimates);
    let has_estimate = estimates.any(|estimate| !matches!(estimate.verdict, Verdict::TooFew));
    let skipped = experiment.skipped.map(skipped);
    let seldom = (!has_estimate && !experiment.points.is_empty()).then(|| {
        let points = counted(experiment.points.len(), "point");
        failure(
            Failure::NotReached,
            format!("{points} seen too seldom for an estimate"),
        )
    });
    let blocks = if has_estimate {
        table(experiment).facts(legend(experiment))
    } else {
        Blocks::default()
    };
    let skipped = skipped.into_iter().chain(seldom);
    blocks.items(skipped.chain(failures(experiment)))
}

/// The points that could not be measured, grouped by reason.
fn failures(experiment: &ExperimentAnalysis<'_>) -> Vec<Item> {
    let points = experiment
        .failures
        .iter()
        .map(|(point, reason)| (*reason, show::point(experiment.definition, point)));
    let item = |(reason, points): (Failure<'_>, Vec<String>)| {
        let points = match points.as_slice() {
            [] | [_] | [_, _] => points.join("; "),
            [first, .., last] => {
                format!("{} from {first} to {last}", counted(points.len(), "point"))
            }
        };
        failure(reason, text![format!("{points}: ")].then(reason.reason()))
    };
    by_key(points).into_iter().map(item).collect()
}

/// Numbers that are missing for this reason.
pub(super) fn failure(reason: Failure<'_>, words: impl Into<Text>) -> Item {
    let lead = match reason {
        Failure::NotReached => Piece::toned(Tone::Doubtful, "no time"),
        Failure::Failed(_) => Piece::toned(Tone::Bad, "failed"),
    };
    Item::new(lead, [words.into()])
}

/// An experiment that was not measured.
pub(super) fn skipped(reason: &str) -> Item {
    Item::new(Piece::toned(Tone::Bad, "not measured"), [reason.into()])
}

/// A point, one of its estimates and the estimate's metric.
pub(super) type Row<'a> = (&'a PointResult, &'a Estimate, &'a Metric);

/// All estimates of which the definition has the metric.
pub(super) fn rows<'a>(experiment: &'a ExperimentAnalysis<'_>) -> Vec<Row<'a>> {
    let of_point = |point: &'a PointResult| {
        let estimates = point.estimates.iter();
        estimates.filter_map(move |it| Some((point, it, experiment.definition.metric(&it.metric)?)))
    };
    experiment.points.iter().flat_map(of_point).collect()
}

/// A table of these rows with the columns that identify them.
fn of_rows<'t, 'r>(
    title: &str,
    experiment: &ExperimentAnalysis<'_>,
    rows: &'t [Row<'r>],
) -> TableBuilder<'t, Row<'r>> {
    let mut filling = Table::of(title, rows);
    for axis in &experiment.definition.axes {
        let level = |(point, ..): &Row<'_>| shown_level(axis, point);
        filling = match axis.kind {
            AxisKind::Choice => filling.name(axis.title.as_str(), level),
            AxisKind::Bytes | AxisKind::Count => filling.count(axis.title.as_str(), level),
        };
    }
    if experiment.definition.metrics.len() > 1 {
        filling = filling.name("metric", |(.., metric)| metric.title.as_str());
    }
    filling
}

fn shown_level(axis: &Axis, point: &PointResult) -> String {
    let level = point.point.get(&axis.name);
    level.map_or_else(String::new, |level| axis.show(level))
}

fn estimates(experiment: &ExperimentAnalysis<'_>, clock_hz: Option<f64>) -> Table {
    let share =
        |share: Option<f64>| share.map_or_else(String::new, |it| format!("{:.0} %", it * 100.0));
    let is_shown = |it: &Estimate| it.is_sound() && !show::is_vague(it);
    let rows = rows(experiment);
    let mut filling = of_rows("estimates", experiment, &rows)
        .group()
        .number("value", |(_, estimate, metric)| match &estimate.verdict {
            broken @ Verdict::Broken(_) => show::verdict(broken).text.to_owned(),
            _ => show::centre(metric.unit, estimate),
        })
        .number("95 % interval", |(_, estimate, metric)| {
            match estimate.interval.filter(|_| estimate.is_sound()) {
                Some(interval) => show::range(metric.unit, interval, estimate.centre),
                None => "unknown".into(),
            }
        })
        .group()
        .number("raw", |(_, estimate, metric)| {
            let raw = estimate.raw.filter(|_| is_shown(estimate));
            raw.map_or_else(String::new, |raw| show::value(metric.unit, raw, None))
        });
    if let Some(hz) = clock_hz {
        filling = filling.number("cycles", |(_, estimate, _)| {
            let cycles = show::cycles(estimate, hz).filter(|_| is_shown(estimate));
            cycles.unwrap_or_default()
        });
    }
    filling
        .group()
        .number("CPU", |(_, estimate, _)| share(estimate.cpu_share))
        .number("in kernel", |(_, estimate, _)| share(estimate.system_share))
        .group()
        .number("processes", |(_, estimate, _)| {
            estimate.processes.to_string()
        })
        .number("samples", |(_, estimate, _)| show::samples(estimate))
        .into()
}

fn percentiles(experiment: &ExperimentAnalysis<'_>) -> Table {
    let mut rows = rows(experiment);
    rows.retain(|(_, estimate, _)| estimate.percentiles.is_some());
    let shown = |(_, estimate, _): &Row<'_>, pick: fn(&Percentiles) -> f64| {
        let percentiles = estimate.percentiles.as_ref();
        percentiles.map_or_else(String::new, |it| {
            show::value(Unit::Nanoseconds, pick(it), None)
        })
    };
    of_rows("single operations", experiment, &rows)
        .group()
        .number("p5", |row| shown(row, |it| it.p5_ns))
        .number("p50", |row| shown(row, |it| it.p50_ns))
        .number("p95", |row| shown(row, |it| it.p95_ns))
        .number("p99", |row| shown(row, |it| it.p99_ns))
        .into()
}

/// The median of each process, in measuring order.
fn processes(experiment: &ExperimentAnalysis<'_>) -> Vec<Text> {
    let line = |(point, estimate, metric): &Row<'_>| {
        let values = estimate.by_process.iter().copied();
        let values = show::several(metric.unit, values, ", ");
        let point = show::point(experiment.definition, &point.point);
        let name = Piece::faint(format!("{point}, {}:", metric.title));
        text![name, format!(" {values}")]
    };
    let mut rows = rows(experiment);
    rows.retain(|(_, estimate, _)| estimate.by_process.len() > 1);
    rows.iter().map(line).collect()
}

fn warnings(experiment: &ExperimentAnalysis<'_>) -> Vec<Item> {
    let definition = experiment.definition;
    let mut items = Vec::new();
    for point in &experiment.points {
        let place = show::point(definition, &point.point);
        items.extend(point.warnings.iter().map(|warning| {
            let letter = Piece::toned(Tone::Doubtful, show::letter(warning).to_string());
            let words = format!("{place}: {}", show::warning(definition, warning));
            Item::new(letter, [words.into()])
        }));
    }
    items
}
