//! Charts of values that a publication printed, for experiments that only it made.

use instrument::definition::Metric;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::{Axis, AxisKind, Level, Point};
use instrument::quantity::Unit;
use instrument::results::{PointResult, Results};

/// Fewer places along an axis show nothing that their numbers do not.
const FEWEST: usize = 3;
/// More series in one chart cannot be told apart.
const MOST_SERIES: usize = 6;
/// More bars are no picture but a table.
const MOST_BARS: usize = 16;
/// Values that span more than this factor are drawn on a logarithmic scale.
const WIDE: f64 = 30.0;

/// The charts of printed values: a curve along the axis of numbers, else bars.
pub(crate) fn figures(results: &Results<'_>) -> Vec<Figure> {
    let metrics = results.definition.metrics.iter();
    let metrics: Vec<&Metric> = metrics.filter(|metric| metric.has_target()).collect();
    let mut figures: Vec<Figure> = metrics
        .iter()
        .flat_map(|metric| of_metric(results, metric))
        .collect();
    if metrics.len() > 1 {
        for figure in &mut figures {
            figure.title = format!("{}: {}", figure.title, figure.y.title);
        }
    }
    figures
}

fn of_metric(results: &Results<'_>, metric: &Metric) -> Vec<Figure> {
    let all = &results.definition.axes;
    let points: Vec<&PointResult> = results
        .points
        .iter()
        .filter(|result| result.estimate(&metric.name).is_some())
        .collect();
    let along = all.iter().find(|axis| is_numeric(axis, &points));
    let (kind, along) = match along.or(all.first()) {
        Some(axis) if is_numeric(axis, &points) => (FigureKind::Curve, axis),
        Some(axis) if points.len() <= MOST_BARS => (FigureKind::Bars, axis),
        _ => return Vec::new(),
    };
    let series = series(&points, metric, along, kind);
    let places = series.iter().map(|series| series.points.len()).max();
    if places.unwrap_or(0) < FEWEST {
        return Vec::new();
    }
    let parts = series.len().div_ceil(MOST_SERIES);
    let in_each = series.len().div_ceil(parts);
    let parts = series.chunks(in_each).enumerate();
    let figure = |(index, part): (usize, &[Series])| {
        let (key, title) = (&metric.name, &results.definition.title);
        let (key, title) = if in_each < series.len() {
            let number = index + 1;
            (format!("{key}_{number}"), format!("{title}, part {number}"))
        } else {
            (key.clone(), title.clone())
        };
        Figure {
            key,
            title,
            kind,
            x: FigureAxis {
                title: match (along.kind, kind) {
                    (AxisKind::Choice, FigureKind::Curve) => "size".into(),
                    _ => along.title.clone(),
                },
                unit: unit(along, kind),
                scale: FigureScale::Logarithmic,
            },
            y: FigureAxis {
                title: metric.title.clone(),
                unit: Some(metric.unit),
                scale: scale(part),
            },
            series: part.to_vec(),
            marks: Vec::new(),
        }
    };
    parts.map(figure).collect()
}

/// A series for each combination of the other axes' levels, in the order of the publication.
fn series(points: &[&PointResult], metric: &Metric, along: &Axis, kind: FigureKind) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for result in points {
        let (Some(level), Some(estimate)) =
            (result.point.get(&along.name), result.estimate(&metric.name))
        else {
            continue;
        };
        let x = match number(level).filter(|_| kind == FigureKind::Curve) {
            Some(number) => Level::Number(number),
            None => level.clone(),
        };
        let point = FigurePoint {
            x,
            estimate: estimate.clone(),
            doubtful: false,
        };
        let label = label(&result.point, along);
        match all.iter_mut().find(|series| series.label == label) {
            Some(series) => series.points.push(point),
            None => all.push(Series {
                label,
                points: vec![point],
            }),
        }
    }
    if kind == FigureKind::Curve {
        for series in &mut all {
            series.points.sort_by_key(|point| point.x.number());
        }
    }
    all
}

/// The levels of all other axes.
fn label(point: &Point, along: &Axis) -> String {
    let others = point.levels().filter(|(axis, _)| *axis != along.name);
    let names: Vec<String> = others.map(|(_, level)| level.to_string()).collect();
    names.join(", ")
}

/// True if the axis has a number at each point, and enough of them for a curve.
fn is_numeric(axis: &Axis, points: &[&PointResult]) -> bool {
    let numbers = points
        .iter()
        .map(|result| result.point.get(&axis.name).and_then(number));
    let numbers: Option<Vec<u64>> = numbers.collect();
    numbers.is_some_and(|mut numbers| {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() >= FEWEST
    })
}

/// The number of a level: of a name, the bytes that it tells, as `64 KB` or as in Google Benchmark's
/// `BM_dd/512`.
fn number(level: &Level) -> Option<u64> {
    match level {
        Level::Number(number) => Some(*number),
        Level::Choice(name) => {
            let plain = name
                .rsplit_once('/')
                .and_then(|(_, size)| size.parse().ok());
            plain.or_else(|| {
                let kilobytes: u64 = name.strip_suffix(" KB")?.parse().ok()?;
                Some(kilobytes << 10)
            })
        }
    }
}

fn unit(axis: &Axis, kind: FigureKind) -> Option<Unit> {
    match axis.kind {
        AxisKind::Bytes => Some(Unit::Bytes),
        AxisKind::Count => Some(Unit::Count),
        // Of names, only those that tell bytes are placed along an axis.
        AxisKind::Choice => (kind == FigureKind::Curve).then_some(Unit::Bytes),
    }
}

/// A logarithmic scale where the smaller values could not be told apart on a linear one.
fn scale(series: &[Series]) -> FigureScale {
    let points = series.iter().flat_map(|series| &series.points);
    let centres = points.map(|point| point.estimate.centre);
    let (low, high) = centres.fold((f64::INFINITY, 0.0_f64), |(low, high), centre| {
        (low.min(centre), high.max(centre))
    });
    if low > 0.0 && high > WIDE * low {
        FigureScale::Logarithmic
    } else {
        FigureScale::Linear
    }
}

#[cfg(test)]
mod tests {
    use crate::Analysis;
    use crate::reference;
    use instrument::figure::{Figure, FigureKind, FigureScale};

    /// The charts of an experiment of a reference.
    fn figures(reference: &str, experiment: &str) -> Vec<Figure> {
        let run = reference::find(reference).expect("it is one").run();
        let analysis = Analysis::new(&run);
        let mut all = analysis.experiments.into_iter();
        let found = all.find(|it| it.definition.id == experiment);
        found.expect("it is in the report").figures
    }

    #[test]
    fn values_along_sizes_are_a_curve() {
        let figures = figures("razer-blade-2020", "file.block_size_reported");
        let [figure] = &figures[..] else {
            panic!("one metric, one chart: {figures:?}");
        };
        assert_eq!(figure.kind, FigureKind::Curve);
        assert_eq!(figure.series.len(), 1);
        assert_eq!(figure.series[0].points[0].x.number(), Some(4096));
    }

    #[test]
    fn names_that_tell_sizes_are_placed_along_an_axis_and_many_series_divided() {
        let figures = figures("pentium4-2003-linux", "file.change_in_place_reported");
        assert_eq!(figures.len(), 2);
        for figure in &figures {
            assert_eq!(figure.kind, FigureKind::Curve);
            assert_eq!(figure.series.len(), 4);
            let first = &figure.series[0];
            let sizes: Vec<_> = first.points.iter().map(|point| point.x.number()).collect();
            assert_eq!(sizes.first(), Some(&Some(1024)));
            assert!(sizes.is_sorted() && sizes.len() == 17, "{sizes:?}");
        }
        assert_eq!(figures[1].series[0].label, "RW Total");
    }

    #[test]
    fn names_of_benchmarks_tell_sizes_too() {
        let figures = figures("razer-blade-2020", "file.dd_reported");
        assert_eq!(figures.len(), 1);
        assert_eq!(figures[0].kind, FigureKind::Curve);
        for series in &figures[0].series {
            let sizes = series.points.iter().map(|point| point.x.number());
            assert_eq!(sizes.collect::<Vec<_>>()[..2], [Some(512), Some(1024)]);
        }
    }

    #[test]
    fn values_of_names_are_bars() {
        let figures = figures("pentium4-2003-linux", "memory.levels_reported");
        assert_eq!(figures.len(), 1);
        assert_eq!(figures[0].kind, FigureKind::Bars);
        assert_eq!(figures[0].y.scale, FigureScale::Logarithmic);
        let labels = figures[0].series.iter().map(|series| &*series.label);
        assert_eq!(labels.collect::<Vec<_>>(), ["write", "read"]);
    }

    #[test]
    fn a_number_alone_is_no_chart() {
        assert!(figures("pentium4-2003-linux", "memory.loops_reported").is_empty());
    }
}
