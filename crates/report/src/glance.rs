//! A machine at a glance: what of a run the first screen of its page and its card draw.

use crate::first_screen::{NamedQuery, SizeCurve, first_screen};
use crate::lists::by_key;
use crate::reproduce::inverse;
use crate::{Analysis, show};
use instrument::figure::{
    Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Mark, MarkOrigin, Series,
};
use instrument::point::Level;
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, PointResult, Verdict};
use platform::machine::{Cache, CacheKind, Machine};

/// A cache is recognised at a size that differs by less than this factor from the documented one.
const ABOUT: f64 = 1.5;
/// Fewer processors make a single pair, which the ladder has.
const FEWEST_CORES: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) title: &'static str,
    /// The experiment that gives most of its numbers.
    pub(crate) experiment: &'static str,
    pub(crate) figure: Figure,
    /// Values with another unit along the same axis.
    pub(crate) second: Option<Figure>,
}

impl Picture {
    /// True for the latency ladder.
    pub(crate) fn is_ladder(&self) -> bool {
        self.figure.kind == FigureKind::Bars
    }
}

/// The pictures that the run has something to draw in.
pub(crate) fn pictures(analysis: &Analysis<'_>) -> Vec<Picture> {
    let pictures = [staircase, ladder, files, cores].into_iter();
    pictures.filter_map(|picture| picture(analysis)).collect()
}

fn sizes(title: &str, unit: Unit, series: Vec<Series>) -> Figure {
    figure(FigureKind::Curve, Some(Unit::Bytes), (title, unit), series)
}

fn figure(
    kind: FigureKind,
    x: Option<Unit>,
    (title, y): (&str, Unit),
    series: Vec<Series>,
) -> Figure {
    Figure {
        key: String::new(),
        title: String::new(),
        kind,
        x: FigureAxis::new("", x, FigureScale::Logarithmic),
        y: FigureAxis::new(title, Some(y), FigureScale::Logarithmic),
        series,
        marks: Vec::new(),
    }
}

/// The time of a load and the speed of reading on one core, over the size of what is walked.
fn staircase(analysis: &Analysis<'_>) -> Option<Picture> {
    let latency = longest(analysis, &first_screen().latency);
    let loads = latency.map(|(_, curve)| Figure {
        marks: knees(analysis),
        ..sizes("a load takes", Unit::Nanoseconds, vec![curve])
    });
    let reads = longest(analysis, &first_screen().bandwidth)
        .map(|(_, curve)| sizes("one core reads", Unit::BytesPerSecond, vec![curve]));
    let (figure, second) = match (loads, reads) {
        (Some(loads), reads) => (loads, reads),
        (None, reads) => (reads?, None),
    };
    Some(Picture {
        title: "Memory staircase",
        experiment: &first_screen().latency.experiment,
        figure,
        second,
    })
}

/// The latency ladder: what takes time, from a nanosecond to a second, a bar for each of its rungs.
pub(crate) fn ladder(analysis: &Analysis<'_>) -> Option<Picture> {
    let series = Series {
        label: String::new(),
        points: rungs(analysis),
    };
    (!series.points.is_empty()).then(|| Picture {
        title: "Latency ladder",
        experiment: &first_screen().most_rungs,
        figure: figure(
            FigureKind::Bars,
            None,
            ("", Unit::Nanoseconds),
            vec![series],
        ),
        second: None,
    })
}

/// The throughput of files and of what stores them, over the block size.
fn files(analysis: &Analysis<'_>) -> Option<Picture> {
    let curves = curves(analysis, &first_screen().files).map(|(_, curve)| curve);
    let curves: Vec<Series> = curves.collect();
    (!curves.is_empty()).then(|| Picture {
        title: "Files by block size",
        experiment: &first_screen().files.experiment,
        figure: sizes("", Unit::BytesPerSecond, curves),
        second: None,
    })
}

/// The time of a cache line between each two processors; `None` for fewer than three.
fn cores(analysis: &Analysis<'_>) -> Option<Picture> {
    let mut figures = analysis.experiment(&first_screen().cores)?.figures.iter();
    let matrix = figures.find(|figure| figure.kind == FigureKind::Matrix)?;
    // The names of processors explain themselves.
    let named = |axis: &FigureAxis, title: &str| FigureAxis {
        title: title.into(),
        ..axis.clone()
    };
    (matrix.series.len() >= FEWEST_CORES).then(|| Picture {
        title: "Core to core",
        experiment: &first_screen().cores,
        figure: Figure {
            x: named(&matrix.x, ""),
            y: named(&matrix.y, "cache line between processors"),
            ..matrix.clone()
        },
        second: None,
    })
}

/// Of these curves the one with the most sound points, with the levels that it is at.
fn longest<'a>(
    analysis: &'a Analysis<'_>,
    wanted: &'a SizeCurve,
) -> Option<(Vec<(&'a str, &'a Level)>, Series)> {
    curves(analysis, wanted).max_by_key(|(_, curve)| sound(curve))
}

/// The curve of the rungs: at pages of another size, the same machine would have others.
fn loads(analysis: &Analysis<'_>) -> Option<Series> {
    let wanted = &first_screen().latency;
    let mut curves = curves(analysis, wanted);
    let is_wanted = |apart: &[(&str, &Level)]| {
        let mut wanted = wanted.at.iter();
        wanted.all(|(named_axis, named)| {
            let mut apart = apart.iter();
            apart.any(|(axis, level)| axis == named_axis && experiments::is_named(named, level))
        })
    };
    let (_, found) = curves.find(|(apart, _)| is_wanted(apart))?;
    Some(found)
}

/// Curves with at least two sound points, each with the levels that it is at: one for each level of the axis that
/// distinguishes them, or for all levels of all other axes, in the order of the plan.
fn curves<'a>(
    analysis: &'a Analysis<'_>,
    wanted: &'a SizeCurve,
) -> impl Iterator<Item = (Vec<(&'a str, &'a Level)>, Series)> {
    let is_apart = move |axis: &str| match &wanted.by {
        Some(by) => axis == by,
        None => axis != wanted.size,
    };
    let found = analysis.experiment(&wanted.experiment).into_iter();
    let placed = found.flat_map(|it| &it.points).filter_map(|result| {
        let levels = result.point.levels().filter(|(axis, _)| is_apart(axis));
        let apart: Vec<(&str, &Level)> = levels.collect();
        Some((apart, along(result, wanted)?))
    });
    let curves = by_key(placed).into_iter().map(|(apart, mut points)| {
        points.sort_by(|one, other| one.x.cmp(&other.x));
        let named = apart.first().filter(|_| wanted.by.is_some());
        let label = named.map_or_else(String::new, |(_, level)| level.to_string());
        (apart, Series { label, points })
    });
    curves.filter(|(_, curve)| sound(curve) >= 2)
}

/// Number of sound points.
fn sound(curve: &Series) -> usize {
    let points = curve.points.iter();
    points.filter(|point| point.estimate.is_sound()).count()
}

/// The point of a result on the curve; its value is sound only if it can be shown.
fn along(result: &PointResult, wanted: &SizeCurve) -> Option<FigurePoint> {
    let size = result.point.get(&wanted.size)?;
    let mut estimate = result.estimate(&wanted.metric)?.clone();
    if !is_known(&estimate) {
        estimate.verdict = Verdict::TooFew;
    }
    size.number().map(|_| FigurePoint {
        x: size.clone(),
        estimate,
        doubtful: result.is_doubtful(&wanted.metric),
    })
}

/// True for a sound estimate that is known well enough to be shown.
fn is_known(estimate: &Estimate) -> bool {
    estimate.is_sound() && !show::is_vague(estimate) && estimate.centre > 0.0
}

/// The ends of levels that the latencies show. One at which a documented cache ends is named after it; another was
/// only found, and its mark says so and has its interval.
fn knees(analysis: &Analysis<'_>) -> Vec<Mark> {
    let latency = analysis.experiment(&first_screen().latency.experiment);
    let figures = latency.into_iter().flat_map(|it| &it.figures);
    let marks = figures.flat_map(|figure| &figure.marks);
    let found = marks.filter(|mark| mark.origin == MarkOrigin::Found && mark.at > 0.0);
    let mut found: Vec<&Mark> = found.collect();
    found.sort_by(|one, other| one.at.total_cmp(&other.at));
    found.dedup_by_key(|mark| mark.at);
    let caches = &analysis.run.machine.caches;
    found.into_iter().map(|mark| knee(mark, caches)).collect()
}

fn knee(found: &Mark, caches: &[Cache]) -> Mark {
    let at = found.at;
    let data = caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction);
    let mut about = data.filter(|cache| {
        let documented = cache.size_bytes.map(|documented| documented as f64 / at);
        documented.is_some_and(|times| (1.0 / ABOUT..ABOUT).contains(&times))
    });
    // A curve has few sizes: without its interval, a capacity would look better known than it is.
    let size = |interval| match interval {
        Some(ends) => show::range(Unit::Bytes, ends, at),
        None => show::value(Unit::Bytes, at, None),
    };
    match (about.next(), found.interval) {
        (Some(cache), _) => Mark {
            label: format!("L{} {}", cache.level, size(None)),
            at,
            interval: None,
            origin: MarkOrigin::Documented,
        },
        (None, interval) => Mark {
            label: format!("found {}", size(interval)),
            ..found.clone()
        },
    }
}

/// The rungs of the ladder, from the shortest to the longest.
fn rungs(analysis: &Analysis<'_>) -> Vec<FigurePoint> {
    let latency = || longest(analysis, &first_screen().latency).map(|(_, curve)| curve);
    let loads = loads(analysis).or_else(latency);
    let loads = loads.map_or_else(Vec::new, |curve| curve.points);
    let largest = loads.last().and_then(|point| point.x.number());
    let last = last_load(&analysis.run.machine, largest);
    let ends = [("load, nearest cache", loads.first()), (last, loads.last())];
    let of_loads = ends.into_iter().filter_map(|(label, point)| {
        let estimate = &point?.estimate;
        estimate
            .is_sound()
            .then(|| rung(label, estimate.quantity()))
    });
    let named = first_screen().rungs.iter().filter_map(|named| {
        let (_, estimate) = found(named, analysis)?;
        let time = match named.query.inverse_of {
            Some(work) => inverse(estimate.quantity(), work),
            None => estimate.quantity(),
        };
        Some(rung(&named.label, time))
    });
    let mut rungs: Vec<FigurePoint> = named.chain(of_loads).collect();
    rungs.sort_by(|one, other| one.estimate.centre.total_cmp(&other.estimate.centre));
    rungs
}

fn rung(label: &str, time: Quantity) -> FigurePoint {
    FigurePoint {
        x: Level::Choice(label.to_owned()),
        estimate: time.into(),
        doubtful: false,
    }
}

/// The name of the load from the `largest` working set. It comes from memory only if no documented cache
/// holds much of it.
fn last_load(machine: &Machine, largest: Option<u64>) -> &'static str {
    let caches = machine.caches.iter();
    let data = caches.filter(|cache| cache.kind != CacheKind::Instruction);
    let cache = data.filter_map(|cache| cache.size_bytes).max().unwrap_or(0);
    match largest {
        Some(size) if size >= 2 * cache => "load, memory",
        _ => "load, largest set",
    }
}

/// The point and the estimate of a rung; `None` if it is not known well enough to be shown.
pub(crate) fn found<'a>(
    named: &NamedQuery,
    analysis: &'a Analysis<'_>,
) -> Option<(&'a PointResult, &'a Estimate)> {
    let query = &named.query;
    let points = &analysis.experiment(&query.experiment)?.points;
    let result = points.iter().find(|result| named.is_at(&result.point))?;
    let estimate = result.estimate(&query.metric).filter(|it| is_known(it))?;
    Some((result, estimate))
}

#[cfg(test)]
mod tests {
    use super::{knee, last_load};
    use instrument::figure::{Mark, MarkOrigin};
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;
    use platform::machine::{Cache, CacheKind, Machine};

    fn cache(level: u32, kib: u64) -> Cache {
        Cache {
            level,
            kind: CacheKind::Unified,
            size_bytes: Some(kib << 10),
            line_bytes: None,
            ways: None,
            shared_by_cpus: 2,
            instances: 1,
        }
    }

    #[test]
    fn only_a_level_that_a_documented_cache_explains_is_named_after_it() {
        let mib = f64::from(1 << 20);
        let found = |at: f64| {
            let ends = Interval::new(0.9 * at * mib, 1.2 * at * mib);
            Mark::found("level", Quantity::new(at * mib, ends, Unit::Bytes))
        };
        let caches = [cache(2, 1024), cache(3, 32 << 10)];
        let named = knee(&found(0.8), &caches);
        assert!(named.label.starts_with("L2 "), "{}", named.label);
        assert_eq!(
            (named.origin, named.interval),
            (MarkOrigin::Documented, None)
        );
        for unnamed in [71.9, 1.6] {
            let mark = knee(&found(unnamed), &caches);
            assert!(mark.label.starts_with("found "), "{}", mark.label);
            assert_eq!(mark.origin, MarkOrigin::Found);
            assert!(mark.interval.is_some());
        }
    }

    #[test]
    fn a_load_that_a_cache_may_answer_is_not_one_from_memory() {
        let machine = Machine {
            caches: vec![cache(3, 32 << 10)],
            ..Machine::default()
        };
        let named = |mib: u64| last_load(&machine, Some(mib << 20));
        assert_eq!(named(1), "load, largest set", "a run that was cut off");
        assert_eq!(named(33), "load, largest set");
        assert_eq!(named(64), "load, memory");
    }
}
