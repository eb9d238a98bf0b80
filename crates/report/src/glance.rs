//! A machine at a glance: what of a run the first screen of its page and its card draw.

use crate::{Analysis, ExperimentAnalysis};
use experiments::glance::{
    BANDWIDTH, CORES, FILES, LATENCY, LOAD_FROM_CACHE, LOAD_FROM_LARGEST, LOAD_FROM_MEMORY,
    NamedValue, RUNGS, SizeCurve,
};
use instrument::figure::{Figure, FigureKind, MarkOrigin};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::results::{Estimate, PointResult};
use instrument::statistics::Interval;
use platform::machine::{CacheKind, Machine};

/// A value whose interval ends at more than this factor of its beginning is not drawn.
const VAGUE: f64 = 10.0;
/// A cache is recognised at a size that differs by less than this factor from the documented one.
const ABOUT: f64 = 1.5;
/// Fewer processors make a single pair, which the ladder has.
const FEWEST_CORES: usize = 3;

/// The pictures of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Glance {
    pub(crate) staircase: Staircase,
    /// From the shortest to the longest.
    pub(crate) ladder: Vec<Rung>,
    /// Throughput of files in bytes/s over the block size in bytes.
    pub(crate) files: Vec<Curve>,
    /// The time of a cache line between each two processors; `None` for fewer than three.
    pub(crate) cores: Option<Figure>,
}

/// Latency and bandwidth over the size of what is walked, from the first cache outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Staircase {
    /// The time of a load in ns over the working set in bytes.
    pub(crate) latency: Option<Curve>,
    /// Bytes/s of reading on one core over the block size in bytes.
    pub(crate) bandwidth: Option<Curve>,
    /// Sizes at which loads get slower, found in the latencies.
    pub(crate) knees: Vec<Knee>,
}

/// A curve along sizes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    pub(crate) label: String,
    /// In ascending order of size; `None` at a size whose value is not sound.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// A size at which a level of memory ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Knee {
    pub(crate) bytes: f64,
    /// The cache that is documented with about this size.
    pub(crate) cache_level: Option<u32>,
}

/// A latency.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rung {
    pub(crate) label: &'static str,
    pub(crate) ns: f64,
    /// The interval in ns; `None` if it has none.
    pub(crate) interval: Option<Interval>,
}

impl Glance {
    /// What `analysis` has of it; what was not measured is left out.
    pub(crate) fn of(analysis: &Analysis<'_>) -> Self {
        let latency = longest(analysis, &LATENCY);
        let bandwidth = longest(analysis, &BANDWIDTH);
        Self {
            ladder: ladder(analysis, latency.as_ref()),
            staircase: Staircase {
                knees: latency.as_ref().map_or_else(Vec::new, |_| knees(analysis)),
                latency,
                bandwidth,
            },
            files: files(analysis),
            cores: cores(analysis),
        }
    }
}

fn experiment<'r, 'a>(analysis: &'r Analysis<'a>, id: &str) -> Option<&'r ExperimentAnalysis<'a>> {
    let mut all = analysis.experiments.iter();
    all.find(|experiment| experiment.definition.id == id)
}

/// The curve at those levels of all other axes that have the most sound points.
fn longest(analysis: &Analysis<'_>, wanted: &SizeCurve) -> Option<Curve> {
    let experiment = experiment(analysis, wanted.experiment)?;
    let mut curves: Vec<(Vec<(&str, &Level)>, Curve)> = Vec::new();
    for result in &experiment.points {
        let Some(point) = along(result, wanted) else {
            continue;
        };
        let others: Vec<_> = result
            .point
            .levels()
            .filter(|(axis, _)| *axis != wanted.size)
            .collect();
        match curves.iter_mut().find(|(known, _)| *known == others) {
            Some((_, curve)) => curve.points.push(point),
            None => curves.push((
                others,
                Curve {
                    label: String::new(),
                    points: vec![point],
                },
            )),
        }
    }
    let sound = |curve: &Curve| curve.points.iter().filter(|(_, y)| y.is_some()).count();
    let (_, mut curve) = curves.into_iter().max_by_key(|(_, curve)| sound(curve))?;
    curve
        .points
        .sort_by(|(one, _), (other, _)| one.total_cmp(other));
    (sound(&curve) >= 2).then_some(curve)
}

/// The place of a result on the curve, and its value if that is sound.
fn along(result: &PointResult, wanted: &SizeCurve) -> Option<(f64, Option<f64>)> {
    let size = result.point.get(wanted.size)?.number()?;
    let estimate = result.estimate(wanted.metric)?;
    Some((size as f64, positive(estimate)))
}

/// The centre of a sound estimate of which at least the order of magnitude is known.
fn positive(estimate: &Estimate) -> Option<f64> {
    let known = estimate.interval;
    let is_known = known.is_none_or(|known| known.high <= VAGUE * known.low);
    (estimate.is_sound() && is_known && estimate.centre > 0.0).then_some(estimate.centre)
}

/// The ends of levels that the latencies show.
fn knees(analysis: &Analysis<'_>) -> Vec<Knee> {
    let figures = experiment(analysis, LATENCY.experiment).map(|found| &found.figures);
    let marks = figures
        .into_iter()
        .flatten()
        .flat_map(|figure| &figure.marks);
    let found = marks.filter(|mark| mark.origin == MarkOrigin::Found && mark.at > 0.0);
    let mut sizes: Vec<f64> = found.map(|mark| mark.at).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let caches = &analysis.run.machine.caches;
    let level = |bytes: f64| {
        let data = caches
            .iter()
            .filter(|cache| cache.kind != CacheKind::Instruction);
        let mut about = data.filter(|cache| {
            let documented = cache.size_bytes.map(|documented| documented as f64 / bytes);
            documented.is_some_and(|times| (1.0 / ABOUT..ABOUT).contains(&times))
        });
        about.next().map(|cache| cache.level)
    };
    let knee = |bytes| Knee {
        bytes,
        cache_level: level(bytes),
    };
    sizes.into_iter().map(knee).collect()
}

/// The curves of files, one for each level of the axis that tells them apart, in the order of the plan.
fn files(analysis: &Analysis<'_>) -> Vec<Curve> {
    let Some(experiment) = experiment(analysis, FILES.experiment) else {
        return Vec::new();
    };
    let mut curves: Vec<Curve> = Vec::new();
    for result in &experiment.points {
        let told_apart = FILES.by.and_then(|by| result.point.get(by));
        let (Some(point), Some(level)) = (along(result, &FILES), told_apart) else {
            continue;
        };
        let label = level.to_string();
        match curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                label,
                points: vec![point],
            }),
        }
    }
    for curve in &mut curves {
        curve
            .points
            .sort_by(|(one, _), (other, _)| one.total_cmp(other));
    }
    curves.retain(|curve| curve.points.iter().filter(|(_, y)| y.is_some()).count() >= 2);
    curves
}

fn cores(analysis: &Analysis<'_>) -> Option<Figure> {
    let mut figures = experiment(analysis, CORES)?.figures.iter();
    let matrix = figures.find(|figure| figure.kind == FigureKind::Matrix)?;
    (matrix.series.len() >= FEWEST_CORES).then(|| matrix.clone())
}

fn ladder(analysis: &Analysis<'_>, latency: Option<&Curve>) -> Vec<Rung> {
    let loads = latency.map_or(&[][..], |curve| &curve.points);
    let load = |label, place: Option<&(f64, Option<f64>)>| {
        let (size, ns) = *place?;
        let ns = ns?;
        Some(Rung {
            label,
            ns,
            interval: interval_of_load(analysis, size, ns),
        })
    };
    let mut rungs: Vec<Rung> = RUNGS
        .iter()
        .filter_map(|named| rung(named, analysis))
        .chain(load(LOAD_FROM_CACHE, loads.first()))
        .chain(load(last_load(&analysis.run.machine, loads), loads.last()))
        .collect();
    rungs.sort_by(|one, other| one.ns.total_cmp(&other.ns));
    rungs
}

/// The name of the load from the largest working set. It comes from memory only if no documented cache
/// holds much of it.
fn last_load(machine: &Machine, loads: &[(f64, Option<f64>)]) -> &'static str {
    let caches = machine.caches.iter();
    let data = caches.filter(|cache| cache.kind != CacheKind::Instruction);
    let largest_cache = data.filter_map(|cache| cache.size_bytes).max().unwrap_or(0);
    match loads.last() {
        Some((size, _)) if *size >= 2.0 * largest_cache as f64 => LOAD_FROM_MEMORY,
        _ => LOAD_FROM_LARGEST,
    }
}

/// The interval of the load that takes `ns` in a working set of `size` bytes.
fn interval_of_load(analysis: &Analysis<'_>, size: f64, ns: f64) -> Option<Interval> {
    let points = &experiment(analysis, LATENCY.experiment)?.points;
    let mut there = points
        .iter()
        .filter(|point| along(point, &LATENCY) == Some((size, Some(ns))));
    there.next()?.estimate(LATENCY.metric)?.interval
}

fn rung(named: &NamedValue, analysis: &Analysis<'_>) -> Option<Rung> {
    let experiment = experiment(analysis, named.experiment)?;
    let result = experiment
        .points
        .iter()
        .find(|result| named.is_at(&result.point))?;
    let estimate = result.estimate(named.metric)?;
    let centre = positive(estimate)?;
    let metric = experiment.definition.metric(named.metric)?;
    // A rate is the time of as many ns for one operation, or for the bytes that it moves.
    let ns_of_a_second = match metric.unit {
        Unit::Nanoseconds => None,
        Unit::OperationsPerSecond => Some(1e9),
        Unit::BytesPerSecond => Some(named.bytes(&result.point)? as f64 * 1e9),
        _ => return None,
    };
    let ns = |value: f64| ns_of_a_second.map_or(value, |of| of / value);
    Some(Rung {
        label: named.label,
        ns: ns(centre),
        interval: estimate.interval.and_then(|known| match ns_of_a_second {
            None => Some(known),
            Some(_) => Interval::new(ns(known.high), ns(known.low)),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::{LOAD_FROM_LARGEST, LOAD_FROM_MEMORY, last_load};
    use platform::machine::{Cache, CacheKind, Machine};

    #[test]
    fn a_load_that_a_cache_may_answer_is_not_one_from_memory() {
        let cache = Cache {
            level: 3,
            kind: CacheKind::Unified,
            size_bytes: Some(32 << 20),
            line_bytes: None,
            ways: None,
            shared_by_cpus: 2,
            instances: 1,
        };
        let machine = Machine {
            caches: vec![cache],
            ..Machine::default()
        };
        let mib = f64::from(1 << 20);
        let named = |size| last_load(&machine, &[(1024.0, Some(1.0)), (size, Some(13.0))]);
        assert_eq!(named(mib), LOAD_FROM_LARGEST, "a run that was cut off");
        assert_eq!(named(33.0 * mib), LOAD_FROM_LARGEST);
        assert_eq!(named(64.0 * mib), LOAD_FROM_MEMORY);
    }
}
