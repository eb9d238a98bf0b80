//! Runs for tests.

pub mod random;

use instrument::clock::Calibration;
use instrument::experiment::{Better, Definition, Isolation, Metric};
use instrument::noise::Warning;
use instrument::plan::Profile;
use instrument::point::{Axis, Point};
use instrument::quantity::{Nanoseconds, Unit};
use instrument::runner::{Ending, Event, Observer, ObserverError, Progress};
use instrument::sample::{Around, Batch, Disturbance, FullSpeed, Legs, Reading, Sample};
use oscope_record::store::{Recorder, Store};
use oscope_record::{Closing, ExperimentRecord, Header, PointRecord, Run};
use platform::environment::Environment;
use platform::machine::Machine;
use platform::usage::Usage;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// An empty store with its path, in a new directory.
pub fn new_store() -> (TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("oscope.db");
    let store = Store::open(&path).expect("a store");
    (folder, path, store)
}

/// A closed store with `runs` runs.
pub fn stored(runs: u128) -> (TempDir, PathBuf) {
    let (folder, path, mut store) = new_store();
    for id in 0..runs {
        store.insert(&complete(id)).expect("a valid run");
    }
    (folder, path)
}

/// A run with everything but its experiments.
pub fn begun(id: u128) -> Run {
    Run {
        header: Header {
            id: format!("{id:032x}"),
            name: None,
            tags: BTreeMap::from([("disk".into(), "new, \"fast\"".into())]),
            started: "2026-03-01T12:00:00.5Z".parse().unwrap(),
            ended: None,
            interrupted: false,
            profile: Profile::Quick,
            budget_ns: 6e10,
            seed: u64::MAX - 1,
            command_line: vec!["oscope".into(), "run".into()],
            version: "0.1.0".into(),
            directory: "/var/tmp".into(),
            machine_fingerprint: "0123456789abcdef".into(),
            proven: true,
            limited: None,
            redacted: false,
        },
        machine: Machine {
            memory_bytes: Some(16 << 30),
            ..Machine::default()
        },
        environment: Environment {
            load_average: Some([0.1, 0.2, 0.3]),
            ..Environment::default()
        },
        storage: None,
        calibration: Calibration {
            resolution_ns: 1.0,
            cost_ns: 21.4,
        },
        experiments: Vec::new(),
    }
}

/// A small run with one of everything.
pub fn complete(id: u128) -> Run {
    let mut run = begun(id);
    let small = Point::new()
        .with("operation", "read")
        .with("block_size", 4096);
    let large = Point::new()
        .with("operation", "a \"b\", c")
        .with("block_size", 65_536);
    let warnings = vec![
        Warning::Drift {
            metric: "read".into(),
            change: 0.25,
        },
        Warning::NotWarm,
        Warning::SeveralModes {
            metric: "read".into(),
            centres: vec![1.5, 3.0],
        },
    ];
    run.experiments = vec![
        ExperimentRecord {
            definition: definition("file.block_size"),
            skipped: None,
            points: vec![
                PointRecord {
                    point: small,
                    batches: vec![batch(0), batch(1)],
                    closing: Some(Closing {
                        ending: Ending::TargetReached,
                        warnings,
                    }),
                },
                PointRecord {
                    point: large,
                    batches: Vec::new(),
                    closing: Some(Closing {
                        ending: Ending::Failed("read: no such file".into()),
                        warnings: Vec::new(),
                    }),
                },
            ],
        },
        ExperimentRecord {
            definition: definition("memory.bandwidth"),
            skipped: Some("it needs the rights of root".into()),
            points: Vec::new(),
        },
    ];
    run
}

/// A definition with two axes and two metrics.
pub fn definition(id: &str) -> Definition {
    Definition {
        id: id.into(),
        title: "Block size".into(),
        question: "Which block size?".into(),
        method: "Reads.\nAgain.".into(),
        source: "common practice".into(),
        axes: vec![
            Axis::choice("operation", "operation"),
            Axis::bytes("block_size", "block size"),
        ],
        metrics: vec![
            Metric::new("read", "reading", Unit::BytesPerSecond, Better::Higher).bounded(1e12),
            Metric::new("latency", "latency", Unit::Nanoseconds, Better::Lower),
        ],
        isolation: Isolation::FreshProcess,
    }
}

const AROUND: Around = Around {
    chain_ns: (2351, 2360),
    width_change_ns: -12,
    switches: 1,
    cpu: Some(3),
};

/// A batch with one sample of each kind, different for each `index`.
pub fn batch(index: u64) -> Batch {
    let readings = [
        Reading::Once {
            work: 4096.0,
            wall_ns: 2_000_000 + index,
            reference_ns: None,
            around: None,
        },
        Reading::Once {
            work: 0.1 + 0.2,
            wall_ns: 77,
            reference_ns: Some(10_400),
            around: Some(AROUND),
        },
        Reading::Latencies {
            count: 9,
            p50_ns: 20.5,
            p5_ns: 10.0,
            p95_ns: 95.0,
            p99_ns: 1.0 / 3.0,
            reference_ns: None,
            around: None,
        },
        Reading::Value(-1.25e-7),
        Reading::Legs(Legs {
            iterations: 50,
            work: 4096.0,
            wall_ns: vec![200_000 + index, 210_000],
            reference_ns: vec![10_300, 20_600],
            around: vec![
                AROUND,
                Around {
                    cpu: None,
                    ..AROUND
                },
            ],
            short_iterations: 5,
            short_wall_ns: vec![21_000],
        }),
    ];
    let usage = Usage {
        user_ns: 5,
        system_ns: 6,
        minor_faults: 7,
        ..Usage::default()
    };
    let sample = |reading| Sample {
        metric: "read".into(),
        reading,
        usage,
        at_ns: 12_345 + index,
    };
    Batch {
        samples: readings.into_iter().map(sample).collect(),
        remarks: vec!["the cache was emptied by drop_caches".into()],
        warm: index.is_multiple_of(2),
        cpu: Some(3),
        started_ns: 1000 * index,
        wall_ns: 30_000_000,
        disturbance: Disturbance {
            stolen_ns: Some(1),
            others_ns: Some(-10_000_000),
        },
        pass: Some(index as u32),
        full_speed_ns: None,
        full_speed: Some(FullSpeed {
            core_type: Some(0),
            chain_ns: 2350.5,
            best_chain_ns: 2349.5,
            alone_ratio: 0.95,
            longest_chain_ns: Some(2680.5),
            earlier_chain_ns: Some((2349.5, 2360.5)),
        }),
    }
}

/// Sends the events of `run` to `recorder`, in passes over the points like the runner.
pub fn replay(run: &Run, recorder: &mut Recorder<'_>) -> Result<(), ObserverError> {
    for ExperimentRecord {
        definition,
        skipped,
        points,
    } in &run.experiments
    {
        if let Some(reason) = skipped {
            recorder.observe(&Event::Skipped { definition, reason })?;
            continue;
        }
        let points: Vec<Point> = points.iter().map(|record| record.point.clone()).collect();
        start(recorder, definition, &points);
    }
    let batches = |record: &PointRecord| record.batches.len();
    let passes = records(run).map(|(_, record)| batches(record)).max();
    let passes = passes.unwrap_or(0);
    for pass in 0..passes {
        let visited = || records(run).filter(|(_, record)| batches(record) > pass);
        recorder.observe(&Event::Pass {
            pass,
            passes,
            visits: visited().count(),
        })?;
        for (definition, record) in visited().collect::<Vec<_>>().into_iter().rev() {
            take(recorder, definition, &record.point, &record.batches[pass])?;
        }
    }
    for (definition, PointRecord { point, closing, .. }) in records(run) {
        if let Some(Closing { ending, warnings }) = closing {
            recorder.observe(&Event::Closed {
                definition,
                point,
                ending,
                warnings,
            })?;
        }
    }
    Ok(())
}

/// The points of all experiments that were measured.
fn records(run: &Run) -> impl Iterator<Item = (&Definition, &PointRecord)> {
    let measured = run.experiments.iter().filter(|of| of.skipped.is_none());
    measured.flat_map(|of| of.points.iter().map(|record| (&of.definition, record)))
}

/// Starts an experiment with these points.
pub fn start(recorder: &mut Recorder<'_>, definition: &Definition, points: &[Point]) {
    let started = recorder.observe(&Event::Started { definition, points });
    started.expect("the store takes it");
}

/// Sends one batch to `recorder`.
pub fn take(
    recorder: &mut Recorder<'_>,
    definition: &Definition,
    point: &Point,
    batch: &Batch,
) -> Result<(), ObserverError> {
    recorder.observe(&Event::Visiting { definition, point })?;
    let progress = Progress {
        pass: 0,
        passes: 1,
        done: 0,
        visits: 1,
        remaining: Nanoseconds(0.0),
    };
    recorder.observe(&Event::Taken {
        definition,
        point,
        batch,
        estimates: &[],
        progress,
    })
}
