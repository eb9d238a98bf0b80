//! Runs that go on after they were stopped.

use super::mocks::{Log, MS, Mock, MockExecutor, plan, quiet, run, runner};
use oscope_instrument::plan::Plan;
use oscope_instrument::point::Point;
use oscope_instrument::quantity::Nanoseconds;
use oscope_instrument::runner::{Closing, Earlier, Ending, Outcome, PointRecord};
use oscope_instrument::sample::Batch;
use std::collections::BTreeMap;
use std::path::Path;

fn points(plan: &Plan<'_>) -> Vec<Point> {
    plan.experiments[0].points.clone().unwrap_or_default()
}

/// A run of `mock.one` that stopped in its third pass, with these points.
fn earlier(points: Vec<PointRecord>) -> Earlier {
    Earlier {
        experiments: BTreeMap::from([("mock.one".to_owned(), points)]),
        passes_begun: 3,
        passes_left: 7,
        left: Nanoseconds(1e9),
    }
}

fn point(point: Point, batches: usize, failed: Option<&str>) -> PointRecord {
    let batch = Batch {
        wall_ns: 20_000_000,
        pass: Some(0),
        ..Batch::default()
    };
    let closing = |reason: &str| Closing {
        ending: Ending::Failed(reason.into()),
        warnings: Vec::new(),
    };
    PointRecord {
        point,
        batches: vec![batch; batches],
        closing: failed.map(closing),
    }
}

fn resume(plan: &Plan<'_>, earlier: &Earlier) -> (Outcome, Log, Vec<u64>) {
    let mut log = Log::default();
    let mut executor = MockExecutor::new(20 * MS, quiet);
    let clock = executor.clock.clone();
    let outcome = runner(&clock, &mut executor, &mut log, Path::new("nowhere"))
        .resume(plan, earlier)
        .expect("a log keeps everything");
    (outcome, log, executor.order)
}

#[test]
fn a_resumed_run_visits_new_points_first_and_closed_ones_never() {
    let mocks = [Mock::new("mock.one", 4)];
    let plan = plan(&mocks);
    let all = points(&plan);
    let earlier = earlier(vec![
        point(all[0].clone(), 2, None),
        point(all[1].clone(), 0, None),
        point(all[2].clone(), 0, None),
        point(all[3].clone(), 0, Some("no such file system")),
    ]);
    let (outcome, log, order) = resume(&plan, &earlier);
    assert_eq!(log.count("start"), 0, "observers know it");
    assert_eq!(log.lines[0], "pass 3 of 2");
    let mut first = order[..2].to_vec();
    first.sort_unstable();
    assert_eq!(first, [1, 2]);
    assert!(order.contains(&0) && !order.contains(&3), "{order:?}");
    assert_eq!(outcome.missing, 1);
    assert_eq!(outcome.started, 1);
    assert_eq!(log.count("pass "), 7);
    assert_eq!(log.count("close "), 3);
}

#[test]
fn what_was_skipped_or_never_announced_is_so_again() {
    let mocks = ["mock.one", "mock.two"].map(|id| Mock::new(id, 1));
    let plan = plan(&mocks);
    let (outcome, log, _) = resume(&plan, &earlier(Vec::new()));
    assert_eq!((outcome.skipped, outcome.started), (1, 1));
    assert_eq!(log.count("skip"), 0);
    assert_eq!(log.count("start mock.two"), 1);
}

#[test]
fn a_resumed_run_does_not_repeat_its_first_order() {
    let mocks = [Mock::new("mock.one", 16)];
    let plan = plan(&mocks);
    let mut executor = MockExecutor::new(20 * MS, quiet);
    run(&mut executor, &plan);
    let none = points(&plan).into_iter().map(|it| point(it, 0, None));
    let (_, _, order) = resume(&plan, &earlier(none.collect()));
    assert_ne!(executor.order[..16], order[..16]);
}
