//! A machine at a glance: what of a run the first screen of its page and its card draw.

use crate::{Analysis, ExperimentAnalysis};
use instrument::figure::MarkOrigin;
use instrument::point::{Level, Point};
use instrument::quantity::Unit;
use instrument::results::{Estimate, PointResult};
use platform::machine::CacheKind;

const LATENCY: &str = "memory.latency";
const BANDWIDTH: &str = "memory.bandwidth";
const BLOCK_SIZE: &str = "file.block_size";
/// A value whose interval ends at more than this factor of its beginning is not drawn.
const VAGUE: f64 = 10.0;
/// A cache is recognised at a size that differs by less than this factor from the documented one.
const ABOUT: f64 = 1.5;

/// The three pictures of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Glance {
    pub(crate) staircase: Staircase,
    /// From the shortest to the longest.
    pub(crate) ladder: Vec<Rung>,
    /// Throughput of files in bytes/s over the block size in bytes.
    pub(crate) files: Vec<Curve>,
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
}

impl Glance {
    /// What `analysis` has of it; what was not measured is left out.
    pub(crate) fn of(analysis: &Analysis<'_>) -> Self {
        let latency = longest(analysis, LATENCY, "load", "working_set");
        let bandwidth = longest(analysis, BANDWIDTH, "read", "block_size");
        Self {
            ladder: ladder(analysis, latency.as_ref()),
            staircase: Staircase {
                knees: latency.as_ref().map_or_else(Vec::new, |_| knees(analysis)),
                latency,
                bandwidth,
            },
            files: files(analysis),
        }
    }
}

fn experiment<'r, 'a>(analysis: &'r Analysis<'a>, id: &str) -> Option<&'r ExperimentAnalysis<'a>> {
    let mut all = analysis.experiments.iter();
    all.find(|experiment| experiment.definition.id == id)
}

/// `metric` along the axis `x`, at those levels of all other axes that have the most sound points.
fn longest(analysis: &Analysis<'_>, id: &str, metric: &str, x: &str) -> Option<Curve> {
    let experiment = experiment(analysis, id)?;
    let mut curves: Vec<(Vec<(&str, &Level)>, Curve)> = Vec::new();
    for result in &experiment.points {
        let Some(point) = along(result, metric, x) else {
            continue;
        };
        let others: Vec<_> = result
            .point
            .levels()
            .filter(|(axis, _)| *axis != x)
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

/// The place of a result on the axis `x`, and its value if that is sound.
fn along(result: &PointResult, metric: &str, x: &str) -> Option<(f64, Option<f64>)> {
    let size = result.point.get(x)?.number()?;
    let estimate = result.estimate(metric)?;
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
    let figures = experiment(analysis, LATENCY).map(|found| &found.figures);
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

/// The throughput of each pass over a file, in the order of the plan.
fn files(analysis: &Analysis<'_>) -> Vec<Curve> {
    let Some(experiment) = experiment(analysis, BLOCK_SIZE) else {
        return Vec::new();
    };
    let mut curves: Vec<Curve> = Vec::new();
    for result in &experiment.points {
        let (Some(point), Some(pass)) = (
            along(result, "throughput", "block_size"),
            result.point.get("pass"),
        ) else {
            continue;
        };
        let label = pass.to_string();
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

/// A rung of the ladder: which value of which experiment it is.
struct Named {
    label: &'static str,
    experiment: &'static str,
    metric: &'static str,
    /// Levels that the point must have.
    levels: &'static [(&'static str, &'static str)],
}

const fn rung(
    label: &'static str,
    experiment: &'static str,
    metric: &'static str,
    levels: &'static [(&'static str, &'static str)],
) -> Named {
    Named {
        label,
        experiment,
        metric,
        levels,
    }
}

const CALLS: &str = "process.calls";
const RUNGS: &[Named] = &[
    rung(
        "user thread switch",
        "threads.switch",
        "switch",
        &[("kind", "user"), ("threads", "2")],
    ),
    rung(
        "lock, nobody waits",
        "threads.lock",
        "entry",
        &[("body", "simple"), ("lock", "Lock"), ("threads", "1")],
    ),
    rung("line, core to core", "memory.cores", "one_way", &[]),
    rung(
        "system call",
        CALLS,
        "rate",
        &[("call", "getpid"), ("optimisation", "3")],
    ),
    rung(
        "open and close",
        CALLS,
        "rate",
        &[("call", "open+close"), ("optimisation", "3")],
    ),
    rung(
        "page fault",
        "memory.page_fault",
        "cost",
        &[("touch", "first touch")],
    ),
    rung(
        "process switch",
        "process.switch",
        "switch",
        &[
            ("kind", "processes"),
            ("count", "2"),
            ("working_set", "0"),
            ("placement", "one core"),
        ],
    ),
    rung(
        "pipe, there and back",
        "process.ipc",
        "round_trip",
        &[
            ("mechanism", "pipe"),
            ("message_size", "1"),
            ("placement", "one core"),
        ],
    ),
    rung(
        "create a thread",
        CALLS,
        "rate",
        &[("call", "thread create+join"), ("optimisation", "3")],
    ),
    rung(
        "cold page fault",
        "memory.page_fault",
        "cost",
        &[("touch", "file, on device")],
    ),
    rung(
        "cold 4 KiB read",
        "file.random",
        "random",
        &[("chunk_size", "4096")],
    ),
    rung(
        "write and fsync",
        "file.sync",
        "latency",
        &[("method", "write+fsync"), ("place", "overwrite")],
    ),
    rung(
        "fork, exit, wait",
        CALLS,
        "rate",
        &[("call", "fork+exit+wait"), ("optimisation", "3")],
    ),
    rung(
        "posix_spawn",
        CALLS,
        "rate",
        &[("call", "posix_spawn+wait"), ("optimisation", "3")],
    ),
    rung(
        "fork of 256 MiB",
        "process.fork_size",
        "cost",
        &[("resident_size", "268435456"), ("pages", "4 KiB pages")],
    ),
];

fn ladder(analysis: &Analysis<'_>, latency: Option<&Curve>) -> Vec<Rung> {
    let loads = latency.map_or(&[][..], |curve| &curve.points);
    let load = |label, place: Option<&(f64, Option<f64>)>| {
        let ns = place.and_then(|(_, ns)| *ns)?;
        Some(Rung { label, ns })
    };
    let mut rungs: Vec<Rung> = RUNGS
        .iter()
        .filter_map(|named| named.find(analysis))
        .chain(load("load, nearest cache", loads.first()))
        .chain(load("load, memory", loads.last()))
        .collect();
    rungs.sort_by(|one, other| one.ns.total_cmp(&other.ns));
    rungs
}

impl Named {
    fn find(&self, analysis: &Analysis<'_>) -> Option<Rung> {
        let experiment = experiment(analysis, self.experiment)?;
        let result = experiment
            .points
            .iter()
            .find(|result| self.is_at(&result.point))?;
        let centre = positive(result.estimate(self.metric)?)?;
        let metric = experiment.definition.metric(self.metric)?;
        let ns = match metric.unit {
            Unit::Nanoseconds => centre,
            Unit::OperationsPerSecond => 1e9 / centre,
            Unit::BytesPerSecond => result.point.get("chunk_size")?.number()? as f64 * 1e9 / centre,
            _ => return None,
        };
        Some(Rung {
            label: self.label,
            ns,
        })
    }

    fn is_at(&self, point: &Point) -> bool {
        self.levels.iter().all(|(axis, level)| {
            let found = point.get(axis);
            found.is_some_and(|found| found.to_string() == *level)
        })
    }
}
