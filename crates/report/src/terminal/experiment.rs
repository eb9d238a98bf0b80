//! All results of one experiment of a run.

use super::chart::chart;
use super::findings::finding;
use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::summary::{heading, results};
use super::text::{paragraph, title};
use crate::ExperimentAnalysis;
use crate::show;
use instrument::experiment::Metric;
use instrument::point::{Axis, AxisKind};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Percentiles, PointResult};
use std::iter;

/// All results of one experiment: method, findings, table and charts; then all estimates with
/// interval, raw value, processor usage, processes and samples, percentiles, and the value of each
/// process; then all warnings and remarks. With a clock, costs of the core are shown in its cycles as well.
pub fn experiment(experiment: &ExperimentAnalysis, clock_hz: Option<f64>, style: &Style) -> String {
    let mut text = heading(experiment, style);
    text += &paragraph("", &experiment.definition.method, style);
    let findings = experiment
        .findings
        .iter()
        .map(|found| finding(found, None, style));
    let mut sections = vec![
        findings.collect(),
        results(experiment, style).trim_start_matches('\n').into(),
    ];
    sections.extend(experiment.figures.iter().map(|figure| chart(figure, style)));
    sections.extend(details(experiment, clock_hz, style));
    sections.push(percentiles(experiment, style));
    sections.push(processes(experiment, style));
    sections.push(warnings(experiment, style));
    sections.push(remarks(experiment, style));
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text.push('\n');
        text += section;
    }
    text
}

/// A point, one of its estimates and the estimate's metric.
type Row<'a> = (&'a PointResult, &'a Estimate, &'a Metric);

fn rows<'a>(experiment: &'a ExperimentAnalysis) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for point in &experiment.points {
        for estimate in &point.estimates {
            if let Some(metric) = experiment.definition.metric(&estimate.metric) {
                rows.push((point, estimate, metric));
            }
        }
    }
    rows
}

fn column(header: &str, rows: &[Row], cell: impl Fn(&Row) -> String) -> Column {
    Column::right(
        header,
        rows.iter().map(|row| Cell::plain(cell(row))).collect(),
    )
}

/// The columns that identify the value of a row.
fn lead(experiment: &ExperimentAnalysis, rows: &[Row]) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&Row) -> String| {
        rows.iter()
            .map(|row| Cell::plain(cell(row)))
            .collect::<Vec<_>>()
    };
    let axis = |axis: &Axis| {
        let cells = cells(&|(point, ..): &Row| {
            point
                .point
                .get(&axis.name)
                .map_or_else(String::new, |level| axis.show(level))
        });
        match axis.kind {
            AxisKind::Choice => Column::left(&axis.title, cells),
            AxisKind::Bytes | AxisKind::Count => Column::right(&axis.title, cells),
        }
    };
    let mut lead: Vec<Column> = experiment.definition.axes.iter().map(axis).collect();
    if experiment.definition.metrics.len() > 1 {
        let metrics = cells(&|(_, _, metric): &Row| metric.title.clone());
        lead.push(Column::left("metric", metrics));
    }
    lead
}

fn details(
    experiment: &ExperimentAnalysis,
    clock_hz: Option<f64>,
    style: &Style,
) -> Option<String> {
    let rows = rows(experiment);
    if rows.is_empty() {
        return None;
    }
    let value = |(_, estimate, metric): &Row| {
        let value = show::value(metric.unit, estimate.centre, estimate.interval);
        if estimate.is_sound() {
            value
        } else {
            format!("({value})")
        }
    };
    let interval = |(_, estimate, metric): &Row| match estimate.interval {
        Some(interval) => show::range(metric.unit, interval, estimate.centre),
        None => "unknown".into(),
    };
    let raw = |(_, estimate, metric): &Row| {
        estimate
            .raw
            .map_or_else(String::new, |raw| show::value(metric.unit, raw, None))
    };
    let in_cycles = |hz: f64| {
        column("cycles", &rows, |(_, estimate, _)| {
            show::cycles(estimate, hz).unwrap_or_default()
        })
    };
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{:.0} %", share * 100.0),
        None => String::new(),
    };
    let grid = Grid {
        lead: lead(experiment, &rows),
        groups: vec![
            vec![
                column("value", &rows, value),
                column("95 % interval", &rows, interval),
            ],
            iter::once(column("raw", &rows, raw))
                .chain(clock_hz.map(in_cycles))
                .collect(),
            vec![
                column("CPU", &rows, |row| share(row.1.cpu_share)),
                column("in kernel", &rows, |row| share(row.1.system_share)),
            ],
            vec![
                column("processes", &rows, |row| row.1.processes.to_string()),
                column("samples", &rows, |row| show::samples(row.1)),
            ],
        ],
    };
    Some(title("Estimates", style) + &grid.render(style))
}

fn percentiles(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut rows = rows(experiment);
    rows.retain(|(_, estimate, _)| estimate.percentiles.is_some());
    if rows.is_empty() {
        return String::new();
    }
    let time = |ns: f64| show::value(Unit::Nanoseconds, ns, None);
    let shown = |row: &Row, pick: fn(&Percentiles) -> f64| {
        row.1
            .percentiles
            .as_ref()
            .map_or_else(String::new, |percentiles| time(pick(percentiles)))
    };
    let grid = Grid {
        lead: lead(experiment, &rows),
        groups: vec![vec![
            column("p5", &rows, |row| {
                shown(row, |percentiles| percentiles.p5_ns)
            }),
            column("p50", &rows, |row| {
                shown(row, |percentiles| percentiles.p50_ns)
            }),
            column("p95", &rows, |row| {
                shown(row, |percentiles| percentiles.p95_ns)
            }),
            column("p99", &rows, |row| {
                shown(row, |percentiles| percentiles.p99_ns)
            }),
        ]],
    };
    title("Single operations", style) + &grid.render(style)
}

/// The median of each process, in measuring order.
fn processes(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut text = String::new();
    for (point, estimate, metric) in rows(experiment) {
        if estimate.by_process.len() < 2 {
            continue;
        }
        let values = estimate.by_process.iter().copied();
        let values = match show::Prefix::common(metric.unit, values.clone()) {
            Some(prefix) => {
                let values: Vec<String> = values.map(|value| prefix.number(value, 3)).collect();
                format!("{} {}", values.join(", "), prefix.symbol)
            }
            None => values
                .map(|value| show::value(metric.unit, value, None))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let name = format!(
            "{}, {}:",
            show::point(experiment.definition, &point.point),
            metric.title
        );
        text += &paragraph(
            "  ",
            &format!("{} {values}", style.paint(Role::Faint, &name)),
            style,
        );
    }
    if text.is_empty() {
        text
    } else {
        title("Each process", style) + &text
    }
}

fn warnings(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut text = String::new();
    for point in &experiment.points {
        for warning in &point.warnings {
            let letter = style.paint(Role::Doubtful, &show::letter(warning).to_string());
            let place = show::point(experiment.definition, &point.point);
            let warning = show::warning(experiment.definition, warning);
            text += &paragraph(
                &format!("  {letter} "),
                &format!("{place}: {warning}"),
                style,
            );
        }
    }
    if text.is_empty() {
        text
    } else {
        title("Warnings", style) + &text
    }
}

/// The experiment's remarks on its circumstances, without duplicates.
fn remarks(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut remarks: Vec<&str> = Vec::new();
    for remark in experiment.points.iter().flat_map(|point| &point.remarks) {
        if !remarks.contains(&remark.as_str()) {
            remarks.push(remark);
        }
    }
    let text: String = remarks
        .iter()
        .map(|remark| paragraph("  ", remark, style))
        .collect();
    if text.is_empty() {
        text
    } else {
        title("Remarks", style) + &text
    }
}
