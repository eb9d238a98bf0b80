//! Contents of the run's scratch directory during the run.

use super::mocks::{Log, MS, Mock, MockExecutor, runner, setting, wild};
use oscope_instrument::need::Need;
use oscope_instrument::plan::{Plan, Setting};
use oscope_instrument::quantity::Bytes;
use oscope_instrument::runner::{BatchError, Executor, Request};
use oscope_instrument::sample::Batch;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Writes a file at each visit, named after its experiment, and lists the other files there.
struct FileMaker<'a> {
    inner: MockExecutor<'a>,
    scratch: &'a Path,
    experiments: Vec<String>,
    /// At each visit: true if no files of other experiments were there.
    alone: Vec<bool>,
}

impl Executor for FileMaker<'_> {
    fn execute(&mut self, request: &Request) -> Vec<Result<Batch, BatchError>> {
        let (own, point) = (&request.experiment, &request.points[0]);
        let directory = &request.task.scratch;
        fs::create_dir_all(directory).expect("a directory");
        fs::write(directory.join(format!("{own} {point}")), "bytes").expect("a file");
        let names = files_below(self.scratch);
        let is_alone = names.iter().all(|name| name.starts_with(own));
        self.alone.push(is_alone);
        self.experiments.push(own.clone());
        self.inner.execute(request)
    }

    fn is_interrupted(&self) -> bool {
        self.inner.is_interrupted()
    }
}

fn files_below(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(directory).expect("it is there") {
        let entry = entry.expect("it is there");
        if entry.path().is_dir() {
            names.extend(files_below(&entry.path()));
        } else {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names
}

/// Runs two experiments that need 60 bytes each on a disk with so much free space. Returns, for each
/// visit, whether no files of the other experiment were there.
fn visits_alone(free_bytes: u64) -> Vec<bool> {
    let scratch = tempfile::tempdir().expect("a directory for temporary files");
    let [one, two] = ["mock.one", "mock.two"].map(|id| Mock {
        needs: vec![Need::Space(Bytes(60))],
        ..Mock::new(id, 3)
    });
    let setting = Setting {
        free_bytes,
        ..setting()
    };
    let plan = Plan::new(&[&one, &two], &setting, None, 1);
    let inner = MockExecutor::new(20 * MS, wild);
    let clock = inner.clock.clone();
    let mut executor = FileMaker {
        inner,
        scratch: scratch.path(),
        experiments: Vec::new(),
        alone: Vec::new(),
    };
    let mut log = Log::default();
    let mut runner = runner(&clock, &mut executor, &mut log, scratch.path());
    runner.run(&plan).expect("the log takes every event");
    assert_eq!(files_below(scratch.path()), BTreeSet::new());
    let turns = executor.experiments.chunk_by(|one, next| one == next);
    assert!(turns.count() > 3, "{:?}", executor.experiments);
    executor.alone
}

#[test]
fn files_of_an_experiment_stay_where_the_disk_has_room_and_are_gone_before_another_makes_its_own() {
    assert!(visits_alone(200).into_iter().all(|is_alone| is_alone));
    assert!(visits_alone(300).into_iter().any(|is_alone| !is_alone));
}
