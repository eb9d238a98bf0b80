//! Contents of the run's scratch directory during the run.

use crate::mocks::{Log, MS, Mock, MockExecutor, plan, quiet, wild};
use oscope_instrument::runner::{BatchError, Executor, Request, Runner};
use oscope_instrument::sample::Batch;
use platform::clock::Calibration;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Writes a file at each visit, named after its experiment, and lists the other files there.
struct FileMaker<'a, E> {
    inner: E,
    scratch: &'a Path,
    experiments: Vec<String>,
}

impl<E: Executor> Executor for FileMaker<'_, E> {
    fn execute(&mut self, request: &Request) -> Result<Batch, BatchError> {
        let (own, point) = (&request.experiment, &request.point);
        let directory = &request.task.scratch;
        fs::create_dir_all(directory).expect("a directory");
        fs::write(directory.join(format!("{own} {point}")), "bytes").expect("a file");
        let names = files_below(self.scratch);
        assert!(names.iter().all(|name| name.starts_with(own)), "{names:?}");
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

#[test]
fn the_files_of_one_experiment_are_gone_before_another_makes_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (Mock::new("mock.one", 3), Mock::new("mock.two", 3));
    // The time that it leaves over goes to the others' points, which never become precise.
    let quiet_one = Mock::new("mock.quiet", 1);
    let plan = plan(&[&one, &two, &quiet_one]);
    let mixed = |n, given| {
        if n == 0 {
            quiet(n, given)
        } else {
            wild(n, given)
        }
    };
    let inner = MockExecutor::new(20 * MS, mixed);
    let clock = inner.clock.clone();
    let mut executor = FileMaker {
        inner,
        scratch: scratch.path(),
        experiments: Vec::new(),
    };
    let mut log = Log::default();
    let mut runner = Runner {
        clock: &clock,
        executor: &mut executor,
        observers: vec![&mut log],
        calibration: Calibration {
            resolution_ns: 1.0,
            cost_ns: 20.0,
        },
        scratch: scratch.path().to_owned(),
        remote: None,
        link: None,
    };
    runner.run(&plan).unwrap();
    assert_eq!(log.count("extend"), 1);
    let turns = executor.experiments.chunk_by(|one, next| one == next);
    assert!(turns.count() > 3, "{:?}", executor.experiments);
}
