//! The estimates of an experiment as a table.

use super::chart::Strip;
use crate::lists::joined;
use crate::{ExperimentAnalysis, show};
use askama::Template;
use instrument::experiment::{Definition, Metric};
use instrument::quantity::{Unit, significant};
use instrument::results::{Estimate, Percentiles, PointResult};

/// Longer tables are collapsed at first.
const SHORT: usize = 16;

/// A table, ready for its template.
#[derive(Template)]
#[template(path = "table.html")]
pub(super) struct Table<'a> {
    definition: &'a Definition,
    /// Title, better direction and rows of each metric.
    groups: Vec<(&'a str, &'static str, Vec<Row<'a>>)>,
    pub(super) rows: usize,
    /// Deviation at the ends of the strips: `5 %`.
    reach: String,
    has_percentiles: bool,
    has_cpu: bool,
    /// The clock of the column of cycles, `4.08 GHz`; `None` without one.
    clock: Option<String>,
}

/// One estimate.
struct Row<'a> {
    estimate: &'a Estimate,
    levels: Vec<String>,
    /// The centre with its unit, or the text in its place.
    value: String,
    /// True for a value that is shown, with its interval.
    is_shown: bool,
    range: String,
    spread: String,
    /// The strip as SVG; empty if there is nothing to show.
    strip: String,
    cpu: String,
    cycles: String,
    percentiles: String,
    /// The causes of doubt; empty if there are none.
    causes: String,
    remarks: String,
}

impl<'a> Table<'a> {
    pub(super) fn new(experiment: &'a ExperimentAnalysis<'_>, clock_hz: Option<f64>) -> Self {
        let ExperimentAnalysis {
            definition, points, ..
        } = experiment;
        let estimates = || points.iter().flat_map(|point| &point.estimates);
        let shown = estimates().filter(|it| it.is_sound() && !show::is_vague(it));
        let strip = Strip::for_all(shown);
        let group = |metric: &'a Metric| {
            let row = |point| Row::new(definition, metric, point, clock_hz, strip);
            let rows: Vec<_> = points.iter().filter_map(row).collect();
            let better = show::better(metric.better);
            (!rows.is_empty()).then_some((metric.title.as_str(), better, rows))
        };
        let groups: Vec<_> = definition.metrics.iter().filter_map(group).collect();
        let mut rows = groups.iter().flat_map(|(.., rows)| rows);
        let has_cycles = rows.any(|row| !row.cycles.is_empty());
        Self {
            definition,
            rows: groups.iter().map(|(.., rows)| rows.len()).sum(),
            groups,
            reach: format!("{} %", significant(strip.reach * 100.0, 1)),
            has_percentiles: estimates().any(|estimate| estimate.percentiles.is_some()),
            has_cpu: estimates().any(|estimate| estimate.cpu_share.is_some()),
            clock: clock_hz.filter(|_| has_cycles).map(show::gigahertz),
        }
    }

    /// True if it is short enough to be open at first.
    pub(super) fn is_short(&self) -> bool {
        self.rows <= SHORT
    }

    fn columns(&self) -> usize {
        let more = [self.has_percentiles, self.has_cpu, self.clock.is_some()];
        self.definition.axes.len() + 5 + more.map(usize::from).iter().sum::<usize>()
    }
}

impl<'a> Row<'a> {
    /// The row of `metric` at `point`; `None` without an estimate.
    fn new(
        definition: &Definition,
        metric: &Metric,
        point: &'a PointResult,
        clock_hz: Option<f64>,
        strip: Strip,
    ) -> Option<Self> {
        let estimate = point.estimate(&metric.name)?;
        let levels = definition.axes.iter().map(|axis| {
            let level = point.point.get(&axis.name);
            level.map_or_else(String::new, |level| axis.show(level))
        });
        let warnings = point.warnings.iter();
        let causes = warnings
            .filter(|warning| warning.touches(&metric.name))
            .map(|warning| show::warning(definition, warning));
        let is_shown = estimate.is_sound() && !show::is_vague(estimate);
        let shown = Some(estimate).filter(|_| is_shown);
        let cpu = estimate.cpu_share.map(|share| Unit::Share.show(share, 2));
        Some(Self {
            estimate,
            levels: levels.collect(),
            value: if is_shown {
                show::centre(metric.unit, estimate)
            } else {
                show::estimate(metric.unit, estimate)
            },
            is_shown,
            range: show::ends(metric.unit, estimate),
            spread: shown.and_then(show::spread).unwrap_or_default(),
            strip: shown.and_then(|it| strip.draw(it)).unwrap_or_default(),
            cpu: cpu.unwrap_or_default(),
            cycles: (clock_hz.and_then(|hz| show::cycles(estimate, hz))).unwrap_or_default(),
            percentiles: estimate.percentiles.map_or_else(String::new, percentiles),
            causes: joined("; ", causes),
            remarks: point.remarks.join("; "),
        })
    }
}

fn percentiles(percentiles: Percentiles) -> String {
    let Percentiles {
        p5_ns,
        p50_ns,
        p95_ns,
        p99_ns,
    } = percentiles;
    let all = [p5_ns, p50_ns, p95_ns, p99_ns];
    show::several(Unit::Nanoseconds, all.into_iter(), " · ")
}
