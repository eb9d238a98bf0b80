//! Charts of values that a publication printed, for experiments that only it made.

use crate::chart::is_wide;
use crate::lists::{by_key, joined};
use instrument::definition::Metric;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::{Axis, AxisKind, Level, Point};
use instrument::quantity::Unit;
use instrument::results::{PointResult, Results};

/// Fewer places along an axis show nothing that their numbers do not.
const FEWEST: usize = 3;
/// More bars are no picture but a table.
const MOST_BARS: usize = 16;

/// The charts of printed values: a curve along the axis of numbers, else bars.
pub(crate) fn figures(results: &Results<'_>) -> Vec<Figure> {
    let metrics = results.definition.metrics.iter();
    let metrics: Vec<&Metric> = metrics.filter(|metric| metric.has_target()).collect();
    let drawn = metrics
        .iter()
        .filter_map(|metric| of_metric(results, metric));
    let mut figures: Vec<Figure> = drawn.collect();
    if metrics.len() > 1 {
        for figure in &mut figures {
            figure.title = format!("{}: {}", figure.title, figure.y.title);
        }
    }
    figures
}

fn of_metric(results: &Results<'_>, metric: &Metric) -> Option<Figure> {
    let all = &results.definition.axes;
    let points: Vec<&PointResult> = results
        .points
        .iter()
        .filter(|result| result.estimate(&metric.name).is_some())
        .collect();
    let along = all.iter().find(|axis| is_numeric(axis, &points));
    let (kind, along) = match along.or(all.first())? {
        along if is_numeric(along, &points) => (FigureKind::Curve, along),
        along if points.len() <= MOST_BARS => (FigureKind::Bars, along),
        _ => return None,
    };
    let series = series(&points, metric, along, kind);
    let places = series.iter().map(|series| series.points.len()).max();
    let title = match (along.kind, kind) {
        (AxisKind::Choice, FigureKind::Curve) => "size",
        _ => &along.title,
    };
    let mut figure = Figure {
        key: metric.name.clone(),
        title: results.definition.title.clone(),
        kind,
        x: FigureAxis::new(title, unit(along, kind), FigureScale::Logarithmic),
        y: FigureAxis::new(
            metric.title.as_str(),
            Some(metric.unit),
            FigureScale::Linear,
        ),
        series,
        marks: Vec::new(),
    };
    if is_wide(&figure) {
        figure.y.scale = FigureScale::Logarithmic;
    }
    (places? >= FEWEST).then_some(figure)
}

/// A series for each combination of the other axes' levels, in the order of the publication.
fn series(points: &[&PointResult], metric: &Metric, along: &Axis, kind: FigureKind) -> Vec<Series> {
    let is_curve = kind == FigureKind::Curve;
    let placed = points.iter().filter_map(|result| {
        let level = result.point.get(&along.name)?;
        let number = number(level).filter(|_| is_curve);
        let point = FigurePoint {
            x: number.map_or_else(|| level.clone(), Level::Number),
            estimate: result.estimate(&metric.name)?.clone(),
            doubtful: false,
        };
        Some((label(&result.point, along), point))
    });
    let series = by_key(placed).into_iter().map(|(label, mut points)| {
        if is_curve {
            points.sort_by_key(|point| point.x.number());
        }
        Series { label, points }
    });
    series.collect()
}

/// The levels of all other axes.
fn label(point: &Point, along: &Axis) -> String {
    let others = point.levels().filter(|(axis, _)| *axis != along.name);
    joined(", ", others.map(|(_, level)| level.to_string()))
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

/// The number of a level: of a name, the bytes in it, as `64 KB` or as in Google Benchmark's
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
        // Of names, only those with bytes are placed along an axis.
        AxisKind::Choice => (kind == FigureKind::Curve).then_some(Unit::Bytes),
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
    fn values_along_sizes_are_curves_of_few_series_and_values_of_names_bars() {
        use FigureKind::{Bars, Curve};
        let (unnamed, wsl) = ("unnamed-files", "unnamed-wsl");
        let pentium = "pentium4-2003-linux";
        // The number of charts, and of the first its kind, its series and its first number.
        let cases = [
            (unnamed, "file.block_size_reported", 1, Curve, 1, Some(4096)),
            // The sizes are in the names of the benchmarks.
            (wsl, "file.dd_benchmark_reported", 1, Curve, 4, Some(512)),
            (
                pentium,
                "file.change_in_place_reported",
                1,
                Curve,
                8,
                Some(1024),
            ),
            (pentium, "memory.levels_reported", 1, Bars, 2, None),
        ];
        for (reference, experiment, charts, kind, series, number) in cases {
            let figures = figures(reference, experiment);
            assert_eq!(figures.len(), charts, "{experiment}");
            for figure in &figures {
                let points = &figure.series[0].points;
                assert_eq!(
                    (figure.kind, figure.series.len()),
                    (kind, series),
                    "{experiment}"
                );
                assert_eq!(points[0].x.number(), number, "{experiment}");
                assert!(
                    points.is_sorted_by_key(|point| point.x.number()),
                    "{experiment}"
                );
            }
        }
        assert!(
            figures(pentium, "memory.loops_reported").is_empty(),
            "a number alone"
        );
        let levels = &figures(pentium, "memory.levels_reported")[0];
        assert_eq!(levels.y.scale, FigureScale::Logarithmic);
    }
}
