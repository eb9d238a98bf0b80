//! Runs for tests.

pub mod random;

use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::quantity::Nanoseconds;
use instrument::runner::{Event, Observer, ObserverError, Progress};
use instrument::sample::Batch;
use oscope_record::store::{Recorder, Store};
use oscope_record::{ExperimentRecord, PointRecord, Run, file};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Checks that a value is of a pattern. A failure shows the value, and the context if there is one.
macro_rules! assert_matches {
    ($value:expr, $pattern:pat $(if $guard:expr)? $(, $context:expr)?) => {
        match &$value {
            $pattern $(if $guard)? => {}
            other => {
                let context: &[&dyn std::fmt::Debug] = &[$(&$context)?];
                panic!("{other:?} {context:?}")
            }
        }
    };
}
pub(crate) use assert_matches;

/// A small run with one of everything.
static FIXTURE: LazyLock<Run> = LazyLock::new(|| {
    let document = include_bytes!("../../fixtures/unproven.oscope.json");
    file::parse(document).expect("a valid run")
});

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
    let mut run = Run {
        experiments: Vec::new(),
        ..FIXTURE.clone()
    };
    run.header.id = format!("{id:032x}");
    (run.header.name, run.header.ended) = (None, None);
    run.header.proven = true;
    run
}

/// A small run with one of everything, which has no end.
pub fn complete(id: u128) -> Run {
    let mut run = begun(id);
    run.experiments.clone_from(&FIXTURE.experiments);
    run.experiments[0].points[0].batches = vec![batch(0), batch(1)];
    run
}

/// A definition with two axes and two metrics.
pub fn definition(id: &str) -> Definition {
    Definition {
        id: id.into(),
        ..FIXTURE.experiments[0].definition.clone()
    }
}

/// A batch with one sample of each kind, different for each `index`.
pub fn batch(index: u64) -> Batch {
    let mut batch = FIXTURE.experiments[0].points[0].batches[1].clone();
    for sample in &mut batch.samples {
        sample.at_ns = 12_345 + index;
    }
    Batch {
        started_ns: 1000 * index,
        pass: Some(index as u32),
        ..batch
    }
}

/// The exported file of `run`.
pub fn exported(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::new();
    file::export(run, &mut bytes).expect("a valid run");
    bytes
}

/// The same as JSON.
pub fn document(run: &Run) -> serde_json::Value {
    serde_json::from_slice(&exported(run)).expect("JSON")
}

/// Changes the store at `path` behind its back.
pub fn change(path: &Path, sql: &str) {
    let plain = Connection::open(path).expect("a store");
    plain.execute_batch(sql).expect("valid SQL");
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
        if let Some(closing) = closing {
            recorder.observe(&Event::Closed {
                definition,
                point,
                closing,
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
