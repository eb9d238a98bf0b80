//! The page's view of a figure: charts, legend, marks as text, and its numbers.

use super::anchor::Anchors;
use super::chart::{Names, can_be_logarithmic, has_key, render, swatch, undrawn};
use super::data::rounded;
use super::packed::{Parts, keep};
use crate::chart::{levels, moments, show_level};
use crate::show;
use instrument::figure::{Figure, FigureKind, FigurePoint, FigureScale, Mark};
use instrument::point::Level;
use instrument::quantity::{Quantity, Unit};

/// A figure, ready for its template.
pub(super) struct FigureView<'a> {
    pub(super) figure: &'a Figure,
    pub(super) id: String,
    /// The chart on the initial scale, which shows without the script.
    pub(super) chart: String,
    pub(super) scale: FigureScale,
    /// The packed part with the chart on the other scale, if readers can switch it.
    pub(super) other_chart: Option<usize>,
    /// Name and swatch of the series that readers can hide; empty if there is only one, or too many.
    pub(super) legend: Vec<(&'a str, String)>,
    /// Class and text of each mark.
    pub(super) marks: Vec<(&'static str, String)>,
    /// The same for all figures along one axis: the script marks the place of the pointer in all of them. Empty for names.
    pub(super) x_key: String,
    pub(super) rows: Vec<Row<'a>>,
    /// Number of points without a place in the chart.
    pub(super) undrawn: usize,
    /// True if a warning touches any point.
    pub(super) has_doubtful: bool,
    /// True if a value is not known well enough to be shown.
    pub(super) has_vague: bool,
}

/// One level of the x axis.
pub(super) struct Row<'a> {
    /// The level as a number or name, in the notation of data files.
    pub(super) raw: String,
    pub(super) level: String,
    /// One cell for each series; `None` if it has no point here.
    pub(super) cells: Vec<Option<Cell<'a>>>,
}

/// One estimate: as text, and as numbers for the script.
pub(super) struct Cell<'a> {
    pub(super) point: &'a FigurePoint,
    pub(super) value: String,
    pub(super) range: String,
    pub(super) centre: String,
    pub(super) ends: [String; 2],
}

impl<'a> FigureView<'a> {
    pub(super) fn new(
        experiment: &str,
        figure: &'a Figure,
        anchors: &mut Anchors,
        parts: &mut Parts,
    ) -> Self {
        let (scale, other) = scales(figure);
        let draw = |scale| render(figure, scale, Names::InPage);
        let series = figure.series.iter().enumerate();
        let legend = series.filter(|_| has_key(figure));
        Self {
            figure,
            id: anchors.take(&format!("{experiment}.{}", figure.key)),
            chart: draw(scale),
            scale,
            other_chart: other.map(|scale| keep(parts, draw(scale))),
            legend: legend
                .map(|(index, series)| (series.label.as_str(), swatch(index)))
                .collect(),
            marks: figure.marks.iter().map(|it| mark(figure, it)).collect(),
            x_key: match figure.kind {
                FigureKind::Curve => format!("{}|{:?}", figure.x.title, figure.x.unit),
                FigureKind::Bars | FigureKind::Timeline | FigureKind::Matrix => String::new(),
            },
            rows: match figure.kind {
                FigureKind::Timeline => rows_of_moments(figure),
                FigureKind::Curve | FigureKind::Bars | FigureKind::Matrix => rows(figure),
            },
            undrawn: undrawn(figure),
            has_doubtful: figure.points().any(|point| point.doubtful),
            has_vague: figure.points().any(|it| show::is_vague(&it.estimate)),
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

/// The class of a mark, and its name with its place, its origin, and whether it is within the measured sizes.
pub(super) fn mark(figure: &Figure, mark: &Mark) -> (&'static str, String) {
    let unit = figure.x.unit.unwrap_or(Unit::Count);
    let place = show::quantity(&Quantity {
        value: mark.at,
        interval: mark.interval,
        unit,
    });
    let mut text = format!("{}: {place}", mark.label);
    let origin = show::origin(mark.origin);
    if !mark.label.contains(origin) {
        text = format!("{text}, {origin}");
    }
    if !is_within(figure, mark.at) {
        text += ", beyond what was measured";
    }
    (origin, text)
}

fn is_within(figure: &Figure, at: f64) -> bool {
    let numbers = || levels(figure).into_iter().filter_map(Level::number);
    let (first, last) = (numbers().min(), numbers().max());
    first.is_some_and(|first| first as f64 <= at) && last.is_some_and(|last| at <= last as f64)
}

fn rows(figure: &Figure) -> Vec<Row<'_>> {
    let row = |level: &Level| {
        let cells = figure.series.iter().map(|series| {
            let point = series.points.iter().find(|point| point.x == *level)?;
            Some(Cell::new(figure, point))
        });
        Row {
            raw: level.to_string(),
            level: show_level(&figure.x, level),
            cells: cells.collect(),
        }
    };
    levels(figure).into_iter().map(row).collect()
}

/// One row for each start of a state, in chronological order.
fn rows_of_moments(figure: &Figure) -> Vec<Row<'_>> {
    let rows = moments(figure).into_iter().map(|(lane, point)| {
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
    });
    rows.collect()
}

impl<'a> Cell<'a> {
    fn new(figure: &Figure, point: &'a FigurePoint) -> Self {
        let unit = figure.y.unit.unwrap_or(Unit::Count);
        let estimate = &point.estimate;
        let number = |number: f64| rounded(number).to_string();
        let interval = estimate.interval.filter(|_| estimate.is_sound());
        let ends = interval.map(|ends| [ends.low, ends.high].map(number));
        Self {
            point,
            value: show::centre(unit, estimate),
            range: show::ends(unit, estimate),
            centre: number(estimate.centre),
            ends: ends.unwrap_or_default(),
        }
    }
}
