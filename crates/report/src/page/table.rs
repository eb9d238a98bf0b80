//! The estimates of an experiment as a table.

use super::chart::Strip;
use crate::show::Prefix;
use crate::{ExperimentAnalysis, show};
use askama::Template;
use instrument::experiment::{Definition, Metric};
use instrument::quantity::{Unit, significant};
use instrument::results::{Estimate, Percentiles, PointResult, Verdict};

/// Longer tables are collapsed at first.
const SHORT: usize = 16;

/// A table, ready for its template.
#[derive(Template)]
#[template(path = "table.html")]
pub(super) struct Table {
    /// The experiment's title.
    pub(super) title: String,
    /// The axes that distinguish its rows.
    pub(super) axes: Vec<String>,
    /// One group for each metric.
    pub(super) groups: Vec<Group>,
    /// Number of rows.
    pub(super) rows: usize,
    /// Deviation at the ends of the strips: `5 %`.
    pub(super) reach: String,
    /// True if any row has percentiles.
    pub(super) has_percentiles: bool,
    /// True if any row has CPU time.
    pub(super) has_cpu: bool,
    /// The clock of the column of cycles, `4.08 GHz`; `None` without one.
    pub(super) clock: Option<String>,
}

/// The rows of one metric.
pub(super) struct Group {
    /// The metric's display name.
    pub(super) title: String,
    /// The better direction.
    pub(super) better: &'static str,
    /// One row for each point.
    pub(super) rows: Vec<Row>,
}

/// One estimate.
pub(super) struct Row {
    pub(super) levels: Vec<String>,
    /// The centre with its unit, or the text in its place.
    pub(super) value: String,
    /// True if the value may be used.
    pub(super) is_sound: bool,
    pub(super) range: String,
    pub(super) spread: String,
    /// The strip as SVG; empty if there is nothing to show.
    pub(super) strip: String,
    /// Number of processes and of samples.
    pub(super) counts: (usize, String),
    pub(super) cpu: String,
    pub(super) cycles: String,
    pub(super) percentiles: String,
    /// The causes of doubt; empty if there are none.
    pub(super) causes: String,
    /// Remarks on the circumstances of the point.
    pub(super) remarks: String,
}

impl Table {
    pub(super) fn new(experiment: &ExperimentAnalysis<'_>, clock_hz: Option<f64>) -> Self {
        let ExperimentAnalysis {
            definition, points, ..
        } = experiment;
        let estimates = || points.iter().flat_map(|point| &point.estimates);
        let strip = Strip::for_all(estimates().filter(|estimate| estimate.is_sound()));
        let group = |metric: &Metric| {
            let rows = points.iter().filter_map(|point| {
                let estimate = point.estimate(&metric.name)?;
                Some(Row::new(
                    definition, metric, point, estimate, clock_hz, strip,
                ))
            });
            let title = metric.title.clone();
            Group {
                title,
                better: show::better(metric.better),
                rows: rows.collect(),
            }
        };
        let mut groups: Vec<Group> = definition.metrics.iter().map(group).collect();
        groups.retain(|group| !group.rows.is_empty());
        let mut rows = groups.iter().flat_map(|group| &group.rows);
        let has_cycles = rows.any(|row| !row.cycles.is_empty());
        Self {
            title: definition.title.clone(),
            axes: definition
                .axes
                .iter()
                .map(|axis| axis.title.clone())
                .collect(),
            rows: groups.iter().map(|group| group.rows.len()).sum(),
            groups,
            reach: format!("{} %", significant(strip.reach * 100.0, 1)),
            has_percentiles: estimates().any(|estimate| estimate.percentiles.is_some()),
            has_cpu: estimates().any(|estimate| estimate.cpu_share.is_some()),
            clock: clock_hz
                .filter(|_| has_cycles)
                .map(|hz| format!("{} GHz", significant(hz / 1e9, 3))),
        }
    }

    /// True if it is short enough to be open at first.
    pub(super) fn is_short(&self) -> bool {
        self.rows <= SHORT
    }

    /// Number of its columns.
    pub(super) fn columns(&self) -> usize {
        let more = [self.has_percentiles, self.has_cpu, self.clock.is_some()];
        self.axes.len() + 5 + more.map(usize::from).iter().sum::<usize>()
    }
}

impl Row {
    fn new(
        definition: &Definition,
        metric: &Metric,
        point: &PointResult,
        estimate: &Estimate,
        clock_hz: Option<f64>,
        strip: Strip,
    ) -> Self {
        let levels = definition.axes.iter().map(|axis| {
            point
                .point
                .get(&axis.name)
                .map_or_else(String::new, |level| axis.show(level))
        });
        let touching = point
            .warnings
            .iter()
            .filter(|warning| warning.touches(&metric.name));
        let causes = touching.map(|warning| show::warning(definition, warning));
        let is_sound = estimate.is_sound();
        let drawn = is_sound.then(|| strip.draw(estimate)).flatten();
        Self {
            levels: levels.collect(),
            value: value(metric.unit, estimate),
            is_sound,
            range: range(metric.unit, estimate),
            spread: is_sound
                .then(|| show::spread(estimate))
                .flatten()
                .unwrap_or_default(),
            strip: drawn.unwrap_or_default(),
            counts: (estimate.processes, show::samples(estimate)),
            cpu: estimate
                .cpu_share
                .map_or_else(String::new, |share| Unit::Share.show(share, 2)),
            cycles: (clock_hz.and_then(|hz| show::cycles(estimate, hz))).unwrap_or_default(),
            percentiles: estimate.percentiles.map_or_else(String::new, percentiles),
            causes: causes.collect::<Vec<_>>().join("; "),
            remarks: point.remarks.join("; "),
        }
    }
}

fn value(unit: Unit, estimate: &Estimate) -> String {
    match &estimate.verdict {
        Verdict::Sound => show::value(unit, estimate.centre, estimate.interval),
        Verdict::TooFew | Verdict::BelowResolution | Verdict::Broken(_) => {
            show::estimate(unit, estimate)
        }
    }
}

fn range(unit: Unit, estimate: &Estimate) -> String {
    let interval = estimate.interval.filter(|_| estimate.is_sound());
    interval.map_or_else(String::new, |interval| {
        show::range(unit, interval, estimate.centre)
    })
}

fn percentiles(percentiles: Percentiles) -> String {
    let Percentiles {
        p5_ns,
        p50_ns,
        p95_ns,
        p99_ns,
    } = percentiles;
    let all = [p5_ns, p50_ns, p95_ns, p99_ns];
    match Prefix::common(Unit::Nanoseconds, all.into_iter()) {
        Some(prefix) => {
            let shown = all.map(|ns| prefix.number(ns, 3)).join(" · ");
            format!("{shown} {}", prefix.symbol)
        }
        None => all
            .map(|ns| show::value(Unit::Nanoseconds, ns, None))
            .join(" · "),
    }
}
