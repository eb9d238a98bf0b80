//! Runs with limits: the points left out, the reasons, and the effect of rests on the time.

use super::mocks::{Log, MS, Mock, MockExecutor, run, setting};
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

fn carried_out(mock: &Mock, limits: Limits) -> (Outcome, Log) {
    let plan = Plan::new(&[mock], &within(limits), None, 1);
    run(&mut MockExecutor::new(MS, |_, _| Ok(100.0)), &plan)
}

#[test]
fn points_beyond_a_limit_are_closed_with_it_as_their_reason() {
    let everything = |setting: &Setting| {
        let threads = setting.machine.topology.threads.unwrap_or(0) as u64;
        let swapped = (setting.swap_bytes > 0).then_some(100);
        let files = (setting.free_bytes >= 500 * MIB).then_some(200);
        let memory = (setting.available_bytes >= 512 * MIB).then_some(300);
        let points = (1..=threads).chain(swapped).chain(files);
        points.chain(memory).collect()
    };
    let limits = Limits {
        cpus: Some(3),
        disk_bytes: Some(MIB),
        memory_bytes: Some(100 * MIB),
        ..Limits::default()
    };
    let (outcome, log) = carried_out(&fitting(everything), limits);
    let expected = Outcome {
        started: 1,
        beyond: 4,
        ..Outcome::default()
    };
    assert_eq!(outcome, expected, "it is no failure");
    assert_eq!(log.count("start mock.fitting with 7"), 1);
    for (n, reason) in [
        (4, "beyond the limit of 3 processors at once"),
        (200, "beyond the limit of 1.00 MiB of scratch files"),
        (100, "beyond the limits: a run with limits uses no swap"),
        (300, "beyond the limit of 100 MiB of memory"),
    ] {
        let closed = format!("close n={n}: Failed(\"{reason}\")");
        assert_eq!(log.count(&closed), 1, "{reason}: {:?}", log.lines);
        assert_eq!(log.count(&format!("take n={n}")), 0, "{reason}");
    }
    assert!(log.count("take n=3") > 0);
}

#[test]
fn an_experiment_that_fits_itself_to_the_limits_leaves_out_nothing() {
    let limits = Limits {
        memory_bytes: Some(100 * MIB),
        ..Limits::default()
    };
    let smaller = |setting: &Setting| vec![setting.available_bytes / 4];
    let (outcome, log) = carried_out(&fitting(smaller), limits);
    assert_eq!((outcome.beyond, log.count("close")), (0, 1));
}

/// What the machine itself does not have is not reported as a limit.
#[test]
fn an_experiment_that_needs_more_is_left_out_as_the_limits_ask() {
    let limit = "skip mock.large: beyond the limit of 100 MiB of scratch files: it needs 500 MiB";
    for (needs_mib, outcomes, reason) in [(500, (1, 0), limit), (5000, (0, 1), "skip mock.large")] {
        let large = Mock {
            needs: vec![Need::Space(Bytes(needs_mib * MIB))],
            ..Mock::new("mock.large", 2)
        };
        let limits = Limits {
            disk_bytes: Some(100 * MIB),
            ..Limits::default()
        };
        let (outcome, log) = carried_out(&large, limits);
        assert_eq!((outcome.left_out, outcome.skipped), outcomes, "{needs_mib}");
        assert_eq!(log.count(reason), 1, "{:?}", log.lines);
        assert_eq!(log.count("beyond"), outcomes.0, "{:?}", log.lines);
    }
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
