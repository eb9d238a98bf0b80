//! Results made up for tests: known numbers, from which findings must follow.

use crate::prelude::Metric;
use instrument::clock::{Calibration, SystemClock};
use instrument::experiment::{Definition, Experiment, MeasureError};
use instrument::figure::Figure;
use instrument::given::Givens;
use instrument::limits::Limits;
use instrument::plan::{Precision, Profile, Setting};
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::{Estimate, PointResult, Results};
use instrument::sample::{Around, Batch, FullSpeed, Reading, Sample};
use instrument::sampler::{Sampler, Task};
use platform::machine::{Cache, CacheKind, Machine};
use std::path::{Path, PathBuf};

/// A batch of a pass with one sample of `metric`, on a core of its own: timed where it is a rate, else recorded
/// as it is.
fn batch(metric: Metric, pass: u32, value: f64) -> Batch {
    const CHAIN_NS: u64 = 2400;
    const WIDTH_NS: u64 = 1800;
    let around = Around {
        chain_ns: (CHAIN_NS, CHAIN_NS),
        cpu: Some(0),
        ..Around::default()
    };
    let reading = match metric.unit {
        Unit::BytesPerSecond | Unit::OperationsPerSecond => Reading::Once {
            work: value * 1000.0,
            // A long time, so that rounding to whole ns does not show.
            wall_ns: 1_000_000_000_000,
            reference_ns: Some(WIDTH_NS),
            around: Some(around),
        },
        _ => Reading::Value(value),
    };
    Batch {
        samples: vec![Sample::new(metric.name, reading)],
        warm: true,
        pass: Some(pass),
        full_speed: Some(FullSpeed {
            chain_ns: CHAIN_NS as f64,
            best_chain_ns: CHAIN_NS as f64,
            alone_ratio: WIDTH_NS as f64 / CHAIN_NS as f64,
            ..FullSpeed::default()
        }),
        ..Batch::default()
    }
}

/// Processes and passes that make an estimate.
const ENOUGH: usize = 5;

/// A rate, for tests of arithmetic.
pub(crate) const RATE: Metric = Metric::bandwidth("rate", "rate");

/// An estimate of `metric` from the values of processes in its unit, which more processes repeat until they are
/// enough for an estimate.
pub(crate) fn estimate_of(metric: Metric, by_process: &[f64]) -> Estimate {
    let batches: Vec<_> = (0..)
        .zip(by_process.iter().cycle().take(by_process.len().max(ENOUGH)))
        .map(|(pass, value)| batch(metric, pass, *value))
        .collect();
    Estimate::from_batches(&(&metric).into(), &batches).expect("there are samples")
}

/// A point at which five processes measured about these values, 0.2 % apart, each in the unit of its
/// metric.
pub(crate) fn measured(point: Point, values: &[(Metric, f64)]) -> PointResult {
    measured_apart(point, values, 0.002)
}

/// As [`measured`], the processes `step` apart, a share of the value.
pub(crate) fn measured_apart(point: Point, values: &[(Metric, f64)], step: f64) -> PointResult {
    let estimates = values.iter().map(|(metric, value)| {
        let of = |index: i32| value * (1.0 + step * f64::from(index));
        estimate_of(*metric, &[of(-2), of(1), of(0), of(-1), of(2)])
    });
    PointResult {
        point,
        estimates: estimates.collect(),
        warnings: Vec::new(),
        remarks: Vec::new(),
    }
}

/// Results of these points on this machine.
pub(crate) fn results<'a>(
    definition: &'a Definition,
    machine: &'a Machine,
    points: Vec<PointResult>,
) -> Results<'a> {
    Results {
        definition,
        machine,
        points,
    }
}

/// A machine with caches of 48 KiB, 2 MiB and 32 MiB and pages of 4 KiB and 2 MiB.
pub(crate) fn machine() -> Machine {
    let cache = |level, kind, size_bytes| Cache {
        level,
        kind,
        size_bytes: Some(size_bytes),
        line_bytes: Some(64),
        ways: None,
        shared_by_cpus: 1,
        instances: 1,
    };
    Machine {
        caches: vec![
            cache(1, CacheKind::Instruction, 32 << 10),
            cache(1, CacheKind::Data, 48 << 10),
            cache(2, CacheKind::Unified, 2 << 20),
            cache(3, CacheKind::Unified, 32 << 20),
        ],
        page_bytes: Some(4096),
        huge_page_bytes: Some(2 << 20),
        ..Machine::default()
    }
}

/// A setting with plenty of everything on [`machine`].
pub(crate) fn setting(profile: Profile) -> Setting {
    Setting {
        profile,
        directory: PathBuf::from("/"),
        free_bytes: 1 << 40,
        available_bytes: 64 << 30,
        swap_bytes: 0,
        can_limit_memory: false,
        given: Givens::default(),
        time_scale: 1.0,
        is_root: false,
        machine: machine(),
        limits: Limits::default(),
    }
}

/// The samples that `experiment` really measures at `point` on this machine in a very short task, and its
/// remarks.
pub(crate) fn measure(
    experiment: &dyn Experiment,
    point: &Point,
    scratch: &Path,
) -> Result<(Vec<Sample>, Vec<String>), MeasureError> {
    measure_with(Givens::default(), experiment, point, scratch)
}

/// As [`measure`], with what the user named.
pub(crate) fn measure_with(
    given: Givens,
    experiment: &dyn Experiment,
    point: &Point,
    scratch: &Path,
) -> Result<(Vec<Sample>, Vec<String>), MeasureError> {
    let task = Task {
        precision: Precision {
            samples: 2,
            legs: 2,
            leg_ns: 10_000,
            batch_ns: 1_000_000,
            ..Profile::Quick.precision()
        },
        calibration: Calibration {
            resolution_ns: 1.0,
            cost_ns: 30.0,
        },
        scratch: scratch.to_owned(),
        given,
        seed: 1,
    };
    let mut batch = Batch::default();
    experiment.measure(point, &mut Sampler::new(&SystemClock, &task, &mut batch))?;
    Ok((batch.samples, batch.remarks))
}

/// The samples of a very short task at `point` here, of which each of `metrics` has one at least.
pub(crate) fn sampled(
    experiment: &dyn Experiment,
    point: &Point,
    metrics: &[Metric],
) -> Vec<Sample> {
    let scratch = tempfile::tempdir().expect("a directory for temporary files");
    let (samples, _) = measure(experiment, point, scratch.path())
        .unwrap_or_else(|error| panic!("{point}: {error}"));
    for metric in metrics {
        assert!(count(&samples, metric) >= 1, "{point}: {}", metric.name);
    }
    samples
}

/// The number of samples of `metric`.
pub(crate) fn count(samples: &[Sample], metric: impl AsRef<str>) -> usize {
    samples
        .iter()
        .filter(|sample| sample.metric == metric.as_ref())
        .count()
}

/// The values of `metric`, which are counted and not timed.
pub(crate) fn values(samples: &[Sample], metric: impl AsRef<str>) -> Vec<f64> {
    let of_metric = samples
        .iter()
        .filter(|sample| sample.metric == metric.as_ref());
    of_metric
        .filter_map(|sample| match sample.reading {
            Reading::Value(value) => Some(value),
            _ => None,
        })
        .collect()
}

/// The figures that `experiment` draws of these points, on [`machine`].
pub(crate) fn figures(experiment: &dyn Experiment, points: Vec<PointResult>) -> Vec<Figure> {
    let (definition, machine) = (experiment.definition(), machine());
    experiment.figures(&results(&definition, &machine, points))
}
