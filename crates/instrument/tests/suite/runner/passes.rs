//! The points that a pass visits, and their order.

use super::mocks::{
    Log, MS, Mock, MockExecutor, PRECISION, plan, plan_for, quiet, run, run_points, setting, wild,
};
use oscope_instrument::estimate::FEWEST_PROCESSES;
use oscope_instrument::experiment::Better;
use oscope_instrument::quantity::Nanoseconds;
use oscope_instrument::runner::Outcome;
use std::collections::BTreeSet;

#[test]
fn the_passes_fill_the_time_and_quiet_points_reach_their_target() {
    let (outcome, log, _) = run_points(3, 20 * MS, quiet);
    let expected = Outcome {
        started: 1,
        ..Outcome::default()
    };
    assert_eq!(outcome, expected);
    assert_eq!(log.count("TargetReached"), 3);
    assert_eq!(log.count("pass "), PRECISION.passes);
    assert!(log.warnings.is_empty(), "{:?}", log.warnings);
}

#[test]
fn the_first_pass_visits_every_point_once_and_later_ones_in_another_order() {
    let mocks = ["mock.one", "mock.two"].map(|id| Mock::new(id, 8));
    let mut executor = MockExecutor::new(80 * MS, quiet);
    run(&mut executor, &plan_for(None, &mocks, 7));
    let first = executor.tasks[..16].iter();
    let ids: Vec<&str> = first.map(|request| request.experiment.as_str()).collect();
    // The experiments take turns.
    assert!(ids.iter().step_by(2).all(|id| *id == ids[0]), "{ids:?}");
    assert!(ids[1..].iter().step_by(2).all(|id| *id == ids[1]) && ids[0] != ids[1]);
    let orders = [0, 1].map(|first| -> Vec<u64> {
        let order = executor.order[first..16].iter();
        order.step_by(2).copied().collect()
    });
    assert_ne!(orders[0], orders[1]);
    for mut order in orders {
        order.sort_unstable();
        assert_eq!(order, (0..8).collect::<Vec<_>>());
    }
}

#[test]
fn every_pass_visits_a_point_for_which_there_is_time() {
    let (_, log, _) = run_points(4, 40 * MS, quiet);
    let mut taken = 0;
    let mut passes = log.lines.split(|line| line.starts_with("pass ")).skip(1);
    assert!(passes.all(|pass| {
        taken += 1;
        (0..4).all(|n| pass.contains(&format!("take n={n}")))
    }));
    assert_eq!(taken, PRECISION.passes);
}

#[test]
fn the_seed_decides_the_order() {
    let order = |seed| {
        let mut executor = MockExecutor::new(20 * MS, quiet);
        run(
            &mut executor,
            &plan_for(None, &[Mock::new("mock.one", 8)], seed),
        );
        executor.order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_process_visits_many_points_if_they_share_it_and_each_of_them_once() {
    let mock = Mock {
        shares_process: true,
        ..Mock::new("mock.one", 8)
    };
    let mut executor = MockExecutor::new(20 * MS, quiet);
    run(&mut executor, &plan(&[mock]));
    let processes = executor.tasks.iter().map(|request| &request.points);
    let mut most = 0;
    for points in processes.clone() {
        most = most.max(points.len());
        let twice = |(index, point)| points[..index].contains(point);
        assert!(!points.iter().enumerate().any(twice), "{points:?}");
    }
    assert_eq!(most, 8);
    // The first pass does not know yet how long a visit takes.
    assert_eq!(executor.tasks[0].points.len(), 4);
    assert!(executor.given.values().all(|batches| *batches >= 5));
}

#[test]
fn each_process_gets_a_seed_of_its_own() {
    let (_, _, executor) = run_points(2, 20 * MS, quiet);
    let seeds = executor.tasks.iter().map(|request| request.task.seed);
    assert_eq!(seeds.collect::<BTreeSet<u64>>().len(), executor.tasks.len());
}

/// The log of a run of five points, of which two come first for at most `time`.
fn with_first(time: Nanoseconds, visit_ns: i64) -> (Log, MockExecutor<'static>) {
    let mocks = [Mock::new("mock.one", 5)];
    let first = [Mock::new("mock.one", 2), Mock::new("mock.other", 1)];
    let mut plan = plan(&mocks);
    plan.put_first(&first, &setting(), time);
    let mut executor = MockExecutor::new(visit_ns, quiet);
    let (_, log) = run(&mut executor, &plan);
    (log, executor)
}

#[test]
fn points_that_come_first_have_estimates_before_others_are_visited() {
    let (log, executor) = with_first(Nanoseconds(1e9), 20 * MS);
    let others = executor.order.iter().position(|n| *n > 1);
    let before = &executor.order[..others.expect("they are visited too")];
    for first in [0, 1] {
        let visits = before.iter().filter(|n| **n == first).count();
        assert!(visits >= FEWEST_PROCESSES, "{visits}");
    }
    // What is visited already has its turn in the next pass.
    assert_eq!(log.count("pass 3 of 3"), 1, "{:?}", log.lines);
    assert_eq!(log.count("pass "), 3 + PRECISION.passes);
    let mut given = executor.given.values();
    assert!(given.all(|given| *given >= FEWEST_PROCESSES));
}

#[test]
fn points_that_come_first_have_their_passes_even_if_visits_take_longer_than_expected() {
    let mocks = [Mock::new("mock.one", 20)];
    let mut plan = plan(&mocks);
    plan.put_first(&[Mock::new("mock.one", 10)], &setting(), Nanoseconds(1e9));
    let mut executor = MockExecutor::new(MS, quiet);
    executor.takes = Box::new(|_, given| if given == 0 { 10 * MS } else { 40 * MS });
    let (_, log) = run(&mut executor, &plan);
    let visits = log.lines.split(|line| line.starts_with("pass ")).skip(2);
    let visits: Vec<usize> = visits.take(2).map(<[String]>::len).collect();
    assert!(visits.iter().all(|visits| *visits >= 8), "{visits:?}");
}

#[test]
fn a_point_that_comes_first_is_added_if_it_was_not_planned() {
    let mocks = [Mock::new("mock.one", 2)];
    let mut plan = plan(&mocks);
    plan.put_first(&[Mock::new("mock.one", 3)], &setting(), Nanoseconds(1e9));
    assert_eq!(plan.point_count(), 3);
}

#[test]
fn points_that_come_first_take_no_more_than_their_time_and_a_quarter_of_the_run() {
    // All have two seconds.
    for (time, most_ms) in [(Nanoseconds(100e6), 100), (Nanoseconds(9e9), 500)] {
        let (log, executor) = with_first(time, 40 * MS);
        let others = executor.order.iter().position(|n| *n > 1);
        let spent_ms = 40 * others.expect("they are visited too");
        assert!(
            (most_ms - 80..=most_ms + 40).contains(&spent_ms),
            "{spent_ms}"
        );
        assert_eq!(log.count("pass 3 of "), 1, "{:?}", log.lines);
    }
}

#[test]
fn facts_have_no_target() {
    let mock = Mock {
        better: Better::Neither,
        ..Mock::new("mock.one", 1)
    };
    let (_, log) = run(&mut MockExecutor::new(20 * MS, wild), &plan(&[mock]));
    assert_eq!(log.count("TargetReached"), 1);
}
