//! Results made up for tests: known numbers, from which findings must follow.

use instrument::clock::SystemClock;
use instrument::experiment::Definition;
use instrument::experiment::{Experiment, MeasureError};
use instrument::finding::{Finding, Number};
use instrument::limits::Limits;
use instrument::link::Link;
use instrument::plan::{Profile, Setting};
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::{Estimate, PointResult, Results};
use instrument::sample::{Batch, Reading, Sample};
use instrument::sampler::{Output, Sampler, Task};
use platform::machine::{Cache, CacheKind, Machine};
use platform::usage::Usage;
use std::path::{Path, PathBuf};

/// What an access costs where a working set of `size` is gone round: `base`, and what missing each of
/// the `levels` (capacity, added cost) adds.
pub(crate) fn hierarchy_cost(base: f64, levels: &[(f64, f64)], size: f64) -> f64 {
    use instrument::statistics::levels::{Level, Levels};
    let level = |&(capacity_bytes, added_cost): &(f64, f64)| Level {
        capacity_bytes,
        added_cost,
        capacity_interval: None,
        added_cost_interval: None,
    };
    let hierarchy = Levels {
        base_cost: base,
        levels: levels.iter().map(level).collect(),
        relative_error: 0.0,
    };
    hierarchy.predicted(size)
}

/// An estimate of a rate from one value for each process.
pub(crate) fn estimate(metric: &str, by_process: &[f64]) -> Estimate {
    use instrument::experiment::{Better, Isolation, Metric};
    let metric = Metric::new(metric, metric, Unit::BytesPerSecond, Better::Higher);
    let batches: Vec<Batch> = by_process
        .iter()
        .map(|rate| batch(&metric.name, *rate))
        .collect();
    Estimate::from_batches(&metric, Isolation::FreshProcess, &batches).expect("there are samples")
}

/// A batch with one sample whose rate per second is `rate`.
fn batch(metric: &str, rate: f64) -> Batch {
    // A long time, so that rounding to whole ns does not show.
    let wall_ns = 1_000_000_000_000;
    let reading = Reading::Once {
        work: rate * 1000.0,
        wall_ns,
    };
    let sample = Sample {
        metric: metric.into(),
        reading,
        usage: Usage::default(),
        at_ns: 0,
    };
    Batch {
        samples: vec![sample],
        warm: true,
        ..Batch::default()
    }
}

/// A point at which five processes measured rates about those given, 0.2 % apart.
pub(crate) fn result(point: Point, rates: &[(&str, f64)]) -> PointResult {
    spread(point, rates, 0.002)
}

/// As [`result`], the processes `step` apart, a share of the rate.
pub(crate) fn spread(point: Point, rates: &[(&str, f64)], step: f64) -> PointResult {
    let estimates = rates.iter().map(|(metric, rate)| {
        let of = |index: i32| rate * (1.0 + step * f64::from(index));
        estimate(metric, &[of(-2), of(1), of(0), of(-1), of(2)])
    });
    let estimates = estimates.collect();
    PointResult {
        point,
        estimates,
        warnings: Vec::new(),
        remarks: Vec::new(),
    }
}

/// As [`result`], for metrics whose values are times in ns or counts.
pub(crate) fn costs(point: Point, values: &[(&str, f64)]) -> PointResult {
    use instrument::experiment::{Better, Isolation, Metric};
    let estimate = |(metric, value): &(&str, f64)| {
        let batches = [-2, 1, 0, -1, 2].map(|index: i32| Batch {
            samples: vec![Sample {
                metric: (*metric).into(),
                reading: Reading::Value(value * (1.0 + 0.002 * f64::from(index))),
                usage: Usage::default(),
                at_ns: 0,
            }],
            warm: true,
            ..Batch::default()
        });
        let metric = Metric::new(metric, metric, Unit::Nanoseconds, Better::Lower);
        Estimate::from_batches(&metric, Isolation::FreshProcess, &batches)
            .expect("there are samples")
    };
    PointResult {
        point,
        estimates: values.iter().map(estimate).collect(),
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
        remote: None,
        link: None,
        time_scale: 1.0,
        is_root: false,
        machine: machine(),
        limits: Limits::default(),
    }
}

/// What `experiment` really measures at `point` on this machine in a very short task, and its
/// remarks.
pub(crate) fn measure(
    experiment: &dyn Experiment,
    point: &Point,
    scratch: &Path,
) -> Result<(Vec<Sample>, Vec<String>), MeasureError> {
    measure_over(None, experiment, point, scratch)
}

/// As [`measure`], with a receiver on another machine.
pub(crate) fn measure_over(
    link: Option<Link>,
    experiment: &dyn Experiment,
    point: &Point,
    scratch: &Path,
) -> Result<(Vec<Sample>, Vec<String>), MeasureError> {
    let task = Task {
        samples: 2,
        sample_ns: 10_000,
        batch_ns: 1_000_000,
        calibration: platform::clock::Calibration {
            resolution_ns: 1.0,
            cost_ns: 30.0,
        },
        scratch: scratch.to_owned(),
        remote: Some(scratch.to_owned()),
        link,
        seed: 1,
    };
    let (mut samples, mut remarks) = (Vec::new(), Vec::new());
    let mut sink = |output| {
        match output {
            Output::Sample(sample) => samples.push(sample),
            Output::Remark(remark) => remarks.push(remark),
            Output::NotWarm => {}
        }
        Ok(())
    };
    experiment.measure(point, &mut Sampler::new(&SystemClock, &task, &mut sink))?;
    Ok((samples, remarks))
}

/// How many of the samples are of `metric`.
pub(crate) fn count(samples: &[Sample], metric: &str) -> usize {
    samples
        .iter()
        .filter(|sample| sample.metric == metric)
        .count()
}

/// The values of `metric`, which are counted and not timed.
pub(crate) fn values(samples: &[Sample], metric: &str) -> Vec<f64> {
    let of_metric = samples.iter().filter(|sample| sample.metric == metric);
    of_metric
        .filter_map(|sample| match sample.reading {
            Reading::Value(value) => Some(value),
            _ => None,
        })
        .collect()
}

/// A point at which five processes timed work about so long, 0.2 % apart: for each metric of the
/// experiment that is named, the wall time in ns and the work done.
pub(crate) fn cost_result(
    experiment: &dyn Experiment,
    point: &Point,
    costs: &[(&str, f64, f64)],
) -> PointResult {
    let definition = experiment.definition();
    let batches: Vec<Batch> = [0.996, 1.002, 1.0, 0.998, 1.004]
        .into_iter()
        .map(|factor| Batch {
            samples: costs
                .iter()
                .map(|(metric, wall_ns, work)| Sample {
                    metric: (*metric).into(),
                    // A long time, so that rounding to whole ns does not show.
                    reading: Reading::Once {
                        work: work * 1e6,
                        wall_ns: (wall_ns * factor * 1e6) as u64,
                    },
                    usage: Usage::default(),
                    at_ns: 0,
                })
                .collect(),
            warm: true,
            ..Batch::default()
        })
        .collect();
    PointResult::new(&definition, point, &batches, Some(&[]))
}

/// The finding called `key`.
pub(crate) fn finding<'f>(findings: &'f [Finding], key: &str) -> &'f Finding {
    let finding = findings.iter().find(|finding| finding.key == key);
    finding.expect(key)
}

/// The number `name` of a finding.
pub(crate) fn number<'f>(finding: &'f Finding, name: &str) -> &'f Number {
    let number = finding.numbers.iter().find(|number| number.name == name);
    number.expect(name)
}

/// The value of the number `name` of the finding called `key`.
pub(crate) fn value(findings: &[Finding], key: &str, name: &str) -> f64 {
    number(finding(findings, key), name).value
}
