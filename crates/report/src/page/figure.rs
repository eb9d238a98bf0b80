//! The page's view of a figure: charts, legend, marks as text, and its numbers.

use super::anchor::Anchors;
use super::chart::{Names, can_be_logarithmic, has_key, render, swatch, undrawn};
use super::data::rounded;
use super::packed::Parts;
use crate::chart::{levels, moments, show_level};
use crate::show;
use instrument::figure::{Figure, FigureKind, FigurePoint, FigureScale, Mark, MarkOrigin};
use instrument::point::Level;
use instrument::quantity::Unit;

/// A figure, ready for its template.
pub(super) struct FigureView {
    pub(super) id: String,
    pub(super) title: String,
    /// The chart on the initial scale, which shows without the script.
    pub(super) chart: String,
    /// The packed part with the chart on the other scale, if readers can switch it.
    pub(super) other_chart: Option<usize>,
    /// True if the initial scale is logarithmic.
    pub(super) starts_logarithmic: bool,
    /// Series that readers can hide; empty if there is only one, or too many.
    pub(super) legend: Vec<LegendEntry>,
    pub(super) marks: Vec<MarkView>,
    /// Common key of figures with the same x axis.
    pub(super) x_key: String,
    pub(super) x_title: String,
    pub(super) y_title: String,
    pub(super) series: Vec<String>,
    pub(super) rows: Vec<Row>,
    /// Number of points without a place in the chart.
    pub(super) undrawn: usize,
    /// True if a warning touches any point.
    pub(super) has_doubtful: bool,
    /// True if its values are colours.
    pub(super) is_matrix: bool,
}

/// A series in the legend.
pub(super) struct LegendEntry {
    pub(super) index: usize,
    pub(super) label: String,
    pub(super) swatch: String,
}

/// A mark as text.
pub(super) struct MarkView {
    pub(super) class: &'static str,
    pub(super) label: String,
    /// Its position with the interval, and all that the label does not say.
    pub(super) place: String,
}

/// One level of the x axis.
pub(super) struct Row {
    /// The level as a number or name, in the notation of data files.
    pub(super) raw: String,
    pub(super) level: String,
    /// One cell for each series; `None` if it has no point here.
    pub(super) cells: Vec<Option<Cell>>,
}

/// One estimate: as text, and as numbers for the script.
pub(super) struct Cell {
    pub(super) value: String,
    pub(super) range: String,
    pub(super) centre: String,
    pub(super) low: String,
    pub(super) high: String,
    pub(super) processes: usize,
    pub(super) samples: usize,
    pub(super) doubtful: bool,
}

impl FigureView {
    pub(super) fn new(
        experiment: &str,
        figure: &Figure,
        anchors: &mut Anchors,
        parts: &mut Parts,
    ) -> Self {
        let (first, other) = scales(figure);
        let draw = |scale| render(figure, scale, Names::InPage);
        let points = || figure.series.iter().flat_map(|series| &series.points);
        let legend = figure.series.iter().enumerate();
        let legend = legend.filter(|_| has_key(figure));
        Self {
            id: anchors.take(&format!("{experiment}.{}", figure.key)),
            title: figure.title.clone(),
            chart: draw(first),
            other_chart: other.map(|scale| parts.keep(draw(scale))),
            starts_logarithmic: first == FigureScale::Logarithmic,
            legend: legend
                .map(|(index, series)| LegendEntry {
                    index,
                    label: series.label.clone(),
                    swatch: swatch(index),
                })
                .collect(),
            marks: figure
                .marks
                .iter()
                .map(|mark| MarkView::new(figure, mark))
                .collect(),
            x_key: match figure.kind {
                FigureKind::Curve => format!("{}|{:?}", figure.x.title, figure.x.unit),
                FigureKind::Bars | FigureKind::Timeline | FigureKind::Matrix => String::new(),
            },
            x_title: figure.x.title.clone(),
            y_title: figure.y.title.clone(),
            series: figure
                .series
                .iter()
                .map(|series| series.label.clone())
                .collect(),
            rows: match figure.kind {
                FigureKind::Timeline => rows_of_moments(figure),
                FigureKind::Curve | FigureKind::Bars | FigureKind::Matrix => rows(figure),
            },
            undrawn: undrawn(figure),
            has_doubtful: points().any(|point| point.doubtful),
            is_matrix: figure.kind == FigureKind::Matrix,
        }
    }
}

/// The initial scale of a figure, and the other one if it is useful.
pub(super) fn scales(figure: &Figure) -> (FigureScale, Option<FigureScale>) {
    use FigureScale::{Linear, Logarithmic};
    match (can_be_logarithmic(figure), figure.y.scale) {
        (false, _) => (Linear, None),
        (true, Linear) => (Linear, Some(Logarithmic)),
        (true, Logarithmic) => (Logarithmic, Some(Linear)),
    }
}

impl MarkView {
    fn new(figure: &Figure, mark: &Mark) -> Self {
        let unit = figure.x.unit.unwrap_or(Unit::Count);
        let mut place = match mark.interval {
            Some(interval) => {
                let range = show::range(unit, interval, mark.at);
                format!("{} ({range})", show::value(unit, mark.at, mark.interval))
            }
            None => show::round(unit, mark.at),
        };
        let origin = show::origin(mark.origin);
        if !mark.label.contains(origin) {
            place = format!("{place}, {origin}");
        }
        if !is_within(figure, mark.at) {
            place = format!("{place}, beyond what was measured");
        }
        Self {
            class: match mark.origin {
                MarkOrigin::Found => "found",
                MarkOrigin::Documented => "documented",
            },
            label: mark.label.clone(),
            place,
        }
    }
}

fn is_within(figure: &Figure, at: f64) -> bool {
    let numbers = || levels(figure).into_iter().filter_map(Level::number);
    let (first, last) = (numbers().min(), numbers().max());
    first.is_some_and(|first| first as f64 <= at) && last.is_some_and(|last| at <= last as f64)
}

fn rows(figure: &Figure) -> Vec<Row> {
    levels(figure)
        .into_iter()
        .map(|level| {
            let cells = figure.series.iter().map(|series| {
                let point = series.points.iter().find(|point| point.x == *level)?;
                Some(Cell::new(figure, point))
            });
            Row {
                raw: level.to_string(),
                level: show_level(&figure.x, level),
                cells: cells.collect(),
            }
        })
        .collect()
}

/// One row for each start of a state, in chronological order.
fn rows_of_moments(figure: &Figure) -> Vec<Row> {
    let row = |(lane, point): (usize, &FigurePoint)| {
        let state = show_level(&figure.x, &point.x);
        let cell = |index| (index == lane).then(|| Cell::new(figure, point));
        Row {
            raw: state.clone(),
            level: if state.is_empty() {
                "ends".into()
            } else {
                state
            },
            cells: (0..figure.series.len()).map(cell).collect(),
        }
    };
    moments(figure).into_iter().map(row).collect()
}

impl Cell {
    fn new(figure: &Figure, point: &FigurePoint) -> Self {
        let unit = figure.y.unit.unwrap_or(Unit::Count);
        let estimate = &point.estimate;
        let interval = estimate.interval.filter(|_| estimate.is_sound());
        let number = |number: f64| rounded(number).to_string();
        let end = |end: Option<f64>| end.map_or_else(String::new, number);
        Self {
            value: if estimate.is_sound() {
                show::value(unit, estimate.centre, estimate.interval)
            } else {
                show::estimate(unit, estimate)
            },
            range: interval
                .map_or_else(String::new, |ends| show::range(unit, ends, estimate.centre)),
            centre: number(estimate.centre),
            low: end(interval.map(|interval| interval.low)),
            high: end(interval.map(|interval| interval.high)),
            processes: estimate.processes,
            samples: estimate.samples,
            doubtful: point.doubtful,
        }
    }
}
