//! A table's graph as the report printed its numbers, and the same graph of the values here.

use super::{JudgedFigure, JudgedTable};
use crate::chart::is_wide;
use crate::lists::by_key;
use instrument::estimate::{Estimate, Verdict};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::Level;
use instrument::quantity::{Quantity, Unit};

/// Fewer numbers make no graph.
const FEWEST: usize = 3;

/// Two graphs of the same kind, with the same series and axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The numbers as printed.
    pub reported: Figure,
    /// The values here; `None` if none was measured.
    pub here: Option<Figure>,
    /// Number of printed values that have none here.
    pub missing: usize,
    /// True if the report has this graph and names its axes.
    pub has_reported_axes: bool,
}

/// A series of a table.
struct Row<'a> {
    label: &'a str,
    figures: Vec<&'a JudgedFigure>,
}

/// The graphs of a table: one for each unit and for each set of places along the axis.
pub fn graphs(judged: &JudgedTable) -> Vec<Graph> {
    let mut groups: Vec<Vec<Row<'_>>> = Vec::new();
    for row in rows(judged) {
        let group = groups.iter_mut().find(|group| is_along(&group[0], &row));
        match group {
            Some(group) if group.iter().any(|other| is_repeated(other, &row)) => {}
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let count = |group: &Vec<Row<'_>>| group.iter().map(|row| row.figures.len()).sum::<usize>();
    let drawn = groups.iter().filter(|group| count(group) >= FEWEST);
    drawn.map(|group| graph(judged, group)).collect()
}

/// The series of a table, one after the other, each of one unit.
fn rows(judged: &JudgedTable) -> Vec<Row<'_>> {
    let figures = judged.figures.iter();
    let rows = by_key(figures.map(|it| ((it.figure.series.as_str(), unit(it)), it)));
    let rows = rows.into_iter();
    rows.map(|((label, _), figures)| Row { label, figures })
        .collect()
}

fn unit(figure: &JudgedFigure) -> Unit {
    figure.figure.unit.in_base().0
}

/// True if two series can share a graph: they have the same unit, and the same places on its axis.
fn is_along(one: &Row<'_>, other: &Row<'_>) -> bool {
    let places = |row: &Row<'_>| {
        let places = row.figures.iter().map(|it| it.figure.x);
        places.collect::<Vec<_>>()
    };
    let has_axis = |row: &Row<'_>| row.figures.iter().any(|it| it.figure.x.is_some());
    unit(one.figures[0]) == unit(other.figures[0])
        && (places(one) == places(other) || !has_axis(one) && !has_axis(other))
}

/// True if both series are the same values, printed in two units.
fn is_repeated(one: &Row<'_>, other: &Row<'_>) -> bool {
    let pairs = || one.figures.iter().zip(&other.figures);
    one.figures.len() == other.figures.len()
        && pairs().all(|(one, other)| {
            one.figure.what == other.figure.what
                && one.figure.here.is_some()
                && one.figure.here == other.figure.here
        })
}

fn graph(judged: &JudgedTable, rows: &[Row<'_>]) -> Graph {
    let figures = || rows.iter().flat_map(|row| &row.figures);
    let places = || figures().filter_map(|it| it.figure.x);
    let ends = [places().reduce(f64::min), places().reduce(f64::max)];
    let reported = |it: &JudgedFigure| {
        let printed = Quantity::exact(it.figure.value(), unit(it));
        Some(point(it, printed, Verdict::Sound))
    };
    let here = |it: &JudgedFigure| match it.here {
        Some(here) if here.interval.is_some() => Some(point(it, here, Verdict::Sound)),
        // The ends of the axis stay, so that both graphs have the same one; between them, a line goes on
        // over a place that was not measured.
        here if it.figure.x.is_some() && ends.contains(&it.figure.x) => {
            let unknown = Quantity::exact(0.0, unit(it));
            Some(point(it, here.unwrap_or(unknown), Verdict::TooFew))
        }
        _ => None,
    };
    let is_measured = figures().any(|it| it.here.is_some());
    let missing = figures().filter(|it| it.here.is_none_or(|here| here.interval.is_none()));
    let axes = judged.table.axes.as_ref();
    let mut graph = Graph {
        reported: figure(judged, rows, &reported),
        here: is_measured.then(|| figure(judged, rows, &here)),
        missing: missing.count(),
        has_reported_axes: axes.is_some_and(|axes| axes.as_reported),
    };
    let is_wide = is_wide(&graph.reported) || graph.here.as_ref().is_some_and(is_wide);
    let usual = if is_wide {
        FigureScale::Logarithmic
    } else {
        FigureScale::Linear
    };
    let scale = axes.and_then(|axes| axes.y_scale).unwrap_or(usual);
    graph.reported.y.scale = scale;
    if let Some(here) = &mut graph.here {
        here.y.scale = scale;
    }
    graph
}

fn figure(
    judged: &JudgedTable,
    rows: &[Row<'_>],
    point: &dyn Fn(&JudgedFigure) -> Option<FigurePoint>,
) -> Figure {
    let table = judged.table;
    let series: Vec<Series> = rows
        .iter()
        .map(|row| Series {
            label: row.label.to_owned(),
            points: row.figures.iter().filter_map(|it| point(it)).collect(),
        })
        .collect();
    let is_curve = rows[0].figures[0].figure.x.is_some();
    let axes = table.axes.as_ref().filter(|_| is_curve);
    let unit = unit(rows[0].figures[0]);
    Figure {
        key: table.id.clone(),
        title: table.title.clone(),
        kind: if is_curve {
            FigureKind::Curve
        } else {
            FigureKind::Bars
        },
        x: FigureAxis::new(
            axes.map_or("", |axes| axes.x.as_str()),
            axes.map(|axes| axes.unit),
            axes.map_or(FigureScale::Linear, |axes| axes.x_scale),
        ),
        y: FigureAxis::new(y_title(unit), Some(unit), FigureScale::Linear),
        series,
        marks: Vec::new(),
    }
}

fn y_title(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond | Unit::OperationsPerSecond => "speed",
        Unit::Nanoseconds => "time",
        Unit::Bytes => "size",
        Unit::Count => "number",
        Unit::Share => "share",
        Unit::Ratio => "ratio",
    }
}

fn point(figure: &JudgedFigure, quantity: Quantity, verdict: Verdict) -> FigurePoint {
    FigurePoint {
        x: match figure.figure.x {
            Some(x) => Level::Number(x as u64),
            None => Level::Choice(figure.figure.what.clone()),
        },
        estimate: Estimate {
            verdict,
            ..quantity.into()
        },
        doubtful: false,
    }
}
