//! Runs with limits: the points left out, the reasons, and the effect of rests on the time.

use super::mocks::{Log, MS, Mock, MockExecutor, run, setting};
use oscope_instrument::experiment::Experiment;
use oscope_instrument::limits::Limits;
use oscope_instrument::need::Need;
use oscope_instrument::plan::{Plan, Setting};
use oscope_instrument::quantity::{Bytes, Nanoseconds};
use oscope_instrument::runner::Outcome;

const MIB: u64 = 1 << 20;

/// A mock with points that depend on the setting.
fn fitting(numbers: fn(&Setting) -> Vec<u64>) -> Mock {
    Mock {
        fitting: Some(numbers),
        ..Mock::new("mock.fitting", 0)
    }
}

/// A large machine, of which the run may use this much.
fn within(limits: Limits) -> Setting {
    let mut machine = setting().machine;
    machine.topology.threads = Some(4);
    Setting {
        free_bytes: 1000 * MIB,
        available_bytes: 1000 * MIB,
        swap_bytes: 1000 * MIB,
        machine,
        limits,
        ..setting()
    }
}

fn memory(mib: u64) -> Limits {
    Limits {
        memory_bytes: Some(mib * MIB),
        ..Limits::default()
    }
}

fn carried_out(experiment: &dyn Experiment, limits: Limits) -> (Outcome, Log) {
    let plan = Plan::new(&[experiment], &within(limits), None, 1);
    let mut executor = MockExecutor::new(MS, |_, _| Ok(100.0));
    run(&mut executor, &plan)
}

#[test]
fn points_that_need_more_memory_are_closed_with_the_limit_as_their_reason() {
    let sizes = |setting: &Setting| {
        let fits = |size: &u64| size * MIB <= setting.available_bytes;
        [1, 64, 512].into_iter().filter(fits).collect()
    };
    let (outcome, log) = carried_out(&fitting(sizes), memory(100));
    let expected = Outcome {
        started: 1,
        beyond: 1,
        ..Outcome::default()
    };
    assert_eq!(outcome, expected, "it is no failure");
    assert_eq!(log.count("start mock.fitting with 3"), 1);
    let closed = "close n=512: Failed(\"beyond the limit of 100 MiB of memory\")";
    assert_eq!(log.count(closed), 1, "{:?}", log.lines);
    assert_eq!(log.count("take n=512"), 0);
    assert!(log.count("take n=64") > 0);
}

#[test]
fn each_limit_is_named_by_what_it_leaves_out() {
    let everything = |setting: &Setting| {
        let threads = setting.machine.topology.threads.unwrap_or(0) as u64;
        let swapped = (setting.swap_bytes > 0).then_some(100);
        let files = (setting.free_bytes >= 500 * MIB).then_some(200);
        (1..=threads).chain(swapped).chain(files).collect()
    };
    let limits = Limits {
        cpus: Some(3),
        disk_bytes: Some(MIB),
        ..Limits::default()
    };
    let (outcome, log) = carried_out(&fitting(everything), limits);
    assert_eq!(outcome.beyond, 3);
    for closed in [
        "close n=4: Failed(\"beyond the limit of 3 processors at once\")",
        "close n=200: Failed(\"beyond the limit of 1.00 MiB of scratch files\")",
        "close n=100: Failed(\"beyond the limits: a run with limits uses no swap\")",
    ] {
        assert_eq!(log.count(closed), 1, "{:?}", log.lines);
    }
}

#[test]
fn an_experiment_that_fits_itself_to_the_limits_leaves_out_nothing() {
    let smaller = |setting: &Setting| vec![setting.available_bytes / 4];
    let (outcome, log) = carried_out(&fitting(smaller), memory(100));
    assert_eq!((outcome.beyond, log.count("close")), (0, 1));
}

#[test]
fn an_experiment_that_needs_more_is_left_out_as_the_limits_ask() {
    let mut large = Mock::new("mock.large", 2);
    large.needs = vec![Need::Space(Bytes(500 * MIB))];
    let limits = Limits {
        disk_bytes: Some(100 * MIB),
        ..Limits::default()
    };
    let (outcome, log) = carried_out(&large, limits);
    assert_eq!((outcome.left_out, outcome.skipped), (1, 0));
    let reason = "skip mock.large: beyond the limit of 100 MiB of scratch files: it needs 500 MiB";
    assert_eq!(log.count(reason), 1, "{:?}", log.lines);

    // What the machine itself does not have is not reported as a limit.
    large.needs = vec![Need::Space(Bytes(5000 * MIB))];
    let (outcome, log) = carried_out(&large, limits);
    assert_eq!((outcome.left_out, outcome.skipped), (0, 1));
    assert_eq!(log.count("beyond"), 0, "{:?}", log.lines);
}

#[test]
fn rests_are_part_of_the_time_and_a_time_that_is_given_holds_them() {
    let mock = Mock::new("mock.one", 4);
    let quarter = within(Limits {
        processor_percent: Some(25.0),
        ..Limits::default()
    });
    let plan = |setting: &Setting, budget| Plan::new(&[&mock], setting, budget, 1);
    let usual = plan(&within(Limits::default()), None).budget();
    assert!((plan(&quarter, None).budget().0 / usual.0 - 4.0).abs() < 1e-6);
    let given = Nanoseconds(60e9);
    assert!((plan(&quarter, Some(given)).budget().0 / given.0 - 1.0).abs() < 1e-6);
}
