//! Runs that end before their time.

use super::mocks::{Log, MS, Mock, MockExecutor, plan, quiet, run, runner, wild};
use oscope_instrument::runner::{BatchError, Outcome};
use std::path::Path;

#[test]
fn a_wish_to_stop_keeps_what_was_measured() {
    let mocks = ["mock.one", "mock.two"].map(|id| Mock::new(id, 4));
    let mut executor = MockExecutor::new(MS, wild);
    executor.stop_after = 6;
    let (outcome, log) = run(&mut executor, &plan(&mocks));
    assert!(outcome.interrupted);
    assert_eq!(log.count("take"), 6);
    assert_eq!(log.count("Interrupted"), 8);
}

#[test]
fn a_batch_cut_short_by_the_wish_to_stop_is_no_failure() {
    let cut = |n, given| match given {
        1 => Err(BatchError::Interrupted),
        _ => quiet(n, given),
    };
    let mut executor = MockExecutor::new(MS, cut);
    executor.stop_after = 2;
    let (outcome, log) = run(&mut executor, &plan(&[Mock::new("mock.one", 1)]));
    let expected = Outcome {
        started: 1,
        interrupted: true,
        ..Outcome::default()
    };
    assert_eq!(outcome, expected);
    assert_eq!(log.count("Interrupted"), 1);
}

#[test]
fn an_observer_that_cannot_keep_the_samples_ends_the_run() {
    let mut executor = MockExecutor::new(MS, quiet);
    let mut log = Log {
        fail_at: Some(3),
        ..Log::default()
    };
    let clock = executor.clock.clone();
    let mut runner = runner(&clock, &mut executor, &mut log, Path::new("nowhere"));
    let error = runner.run(&plan(&[Mock::new("mock.one", 3)])).unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
    assert_eq!(executor.order.len(), 1);
}
