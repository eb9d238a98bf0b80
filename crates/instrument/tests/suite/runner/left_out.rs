//! Points and experiments that are not measured, and the reasons.

use super::mocks::{MS, Mock, MockExecutor, PRECISION, plan, plan_for, quiet, run, run_points};
use oscope_instrument::given::Taken;
use oscope_instrument::need::Need;
use oscope_instrument::quantity::{Bytes, Nanoseconds};
use oscope_instrument::runner::{BatchError, Outcome};

#[test]
fn a_point_that_cannot_be_measured_is_closed_with_the_reason_and_leaves_the_others_alone() {
    let failed = || BatchError::Failed("the page cache could not be emptied".into());
    let unsupported = || BatchError::Unsupported("there is no such thing".into());
    let beyond = || BatchError::Beyond("beyond the limit of 1 GiB written".into());
    let outcome = |failed, missing, beyond| Outcome {
        started: 1,
        failed,
        missing,
        beyond,
        ..Outcome::default()
    };
    // Batches of the point before it fails, and visits to it.
    let cases: [(&dyn Fn() -> BatchError, _, _, _); 4] = [
        (&failed, 2, 3, outcome(1, 0, 0)),
        (&unsupported, 0, 1, outcome(0, 1, 0)),
        (&disturbed, 0, 3, outcome(0, 1, 0)),
        (&beyond, 1, 2, outcome(0, 0, 1)),
    ];
    for (error, batches, visits, expected) in cases {
        let (outcome, log, executor) = run_points(3, MS, |n, given| {
            if n == 1 && given == batches {
                Err(error())
            } else {
                quiet(n, given)
            }
        });
        assert_eq!(outcome, expected, "{}", error());
        assert_eq!(executor.order.iter().filter(|&&n| n == 1).count(), visits);
        assert_eq!(executor.given[&1], batches);
        let closed = format!("close n=1: Failed(\"{}\")", error());
        assert_eq!(log.count(&closed), 1, "{:?}", log.lines);
        assert_eq!(log.count("TargetReached"), 2);
    }
}

fn disturbed() -> BatchError {
    BatchError::Disturbed("the file left the page cache".into())
}

#[test]
fn a_point_that_was_disturbed_is_tried_again() {
    let mut attempts = 0;
    // Two of three attempts are disturbed, never three in a row.
    let (outcome, log, executor) = run_points(2, MS, |n, given| {
        attempts += usize::from(n == 1);
        if n == 1 && attempts % 3 > 0 {
            Err(disturbed())
        } else {
            quiet(n, given)
        }
    });
    assert_eq!((outcome.missing, outcome.failed), (0, 0));
    assert_eq!(log.count("TargetReached"), 2);
    assert!(executor.given[&1] >= PRECISION.passes);
}

#[test]
fn where_time_ends_between_two_disturbances_they_are_the_reason() {
    let mocks = [Mock::new("mock.one", 1)];
    let plan = plan_for(Some(Nanoseconds(2.5 * MS as f64)), &mocks, 1);
    let mut executor = MockExecutor::new(2 * MS, |_, _| Err(disturbed()));
    let (outcome, log) = run(&mut executor, &plan);
    assert_eq!((outcome.missing, outcome.failed), (1, 0));
    assert!((1..3).contains(&executor.order.len()));
    let closed = "close n=0: Failed(\"the file left the page cache\")";
    assert_eq!(log.count(closed), 1);
}

/// An experiment with a need.
fn needing(id: &'static str, points: u64, need: Need) -> Mock {
    Mock {
        needs: vec![need],
        ..Mock::new(id, points)
    }
}

#[test]
fn an_experiment_whose_need_is_not_met_is_skipped_with_its_reason() {
    let mocks = [
        needing("mock.memory", 1, Need::Memory(Bytes(1 << 20))),
        Mock::new("mock.empty", 0),
    ];
    let (outcome, log) = run(&mut MockExecutor::new(MS, quiet), &plan(&mocks));
    assert_eq!(outcome.skipped, 2);
    let memory = "it needs 1.00 MiB of memory, of which 0 B are available";
    let empty = "none of its points fits this machine";
    let expected = [
        format!("skip mock.memory: {memory}"),
        format!("skip mock.empty: {empty}"),
    ];
    assert_eq!(log.lines, expected);
}

#[test]
fn what_only_the_user_can_name_is_left_out_and_has_not_failed() {
    let lamp = Need::Given(Taken {
        option: "--lamp",
        purpose: "names a lamp",
        example: "oscope run mock.lamp --lamp NAME",
        without: Some("it needs a lamp"),
    });
    let mocks = [needing("mock.lamp", 1, lamp)];
    let (outcome, _) = run(&mut MockExecutor::new(MS, quiet), &plan(&mocks));
    assert_eq!((outcome.left_out, outcome.skipped), (1, 0));
}

#[test]
fn a_question_that_does_not_arise_is_answered_only_when_asked_alone() {
    let several = Need::Several {
        count: 1,
        what: "memory nodes".into(),
    };
    let mocks = [
        needing("mock.nodes", 4, several),
        Mock::new("mock.other", 1),
    ];
    let both = plan(&mocks);
    let ids: Vec<&str> = both
        .experiments
        .iter()
        .map(|it| it.experiment.id())
        .collect();
    assert_eq!(ids, ["mock.other"]);

    let alone = plan(&mocks[..1]);
    let reason = alone.experiments[0].points.as_ref().unwrap_err();
    assert_eq!(reason, "this machine has fewer than two memory nodes");
    assert!(alone.experiments[0].is_left_out);
}
