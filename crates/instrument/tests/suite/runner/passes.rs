//! The points that a pass visits, and their order.

use super::mocks::{
    MS, Mock, MockExecutor, PRECISION, plan, quiet, run, run_points, setting, wild,
};
use oscope_instrument::experiment::Better;
use oscope_instrument::plan::Plan;
use oscope_instrument::runner::Outcome;

#[test]
fn the_passes_fill_the_time_and_quiet_points_reach_their_target() {
    let (outcome, log, _) = run_points(3, 20 * MS, quiet);
    assert_eq!(
        outcome,
        Outcome {
            started: 1,
            ..Outcome::default()
        }
    );
    assert_eq!(log.count("TargetReached"), 3);
    assert_eq!(log.count("pass "), PRECISION.passes);
    assert!(log.warnings.is_empty(), "{:?}", log.warnings);
}

#[test]
fn the_first_pass_visits_every_point_once_and_later_ones_in_another_order() {
    let (one, two) = (Mock::new("mock.one", 8), Mock::new("mock.two", 8));
    let plan = Plan::new(&[&one, &two], &setting(), None, 7);
    let mut executor = MockExecutor::new(80 * MS, quiet);
    run(&mut executor, &plan);
    let first = &executor.tasks[..16];
    let ids: Vec<&str> = first
        .iter()
        .map(|request| request.experiment.as_str())
        .collect();
    // The experiments take turns.
    assert!(ids.iter().step_by(2).all(|id| *id == ids[0]), "{ids:?}");
    assert!(ids[1..].iter().step_by(2).all(|id| *id == ids[1]) && ids[0] != ids[1]);
    let of = |first: usize| -> Vec<u64> {
        let order = executor.order[first..16].iter();
        order.step_by(2).copied().collect()
    };
    for experiment in [of(0), of(1)] {
        let mut sorted = experiment;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<_>>());
    }
    assert_ne!(of(0), of(1));
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
        let mock = Mock::new("mock.one", 8);
        let plan = Plan::new(&[&mock], &setting(), None, seed);
        let mut executor = MockExecutor::new(20 * MS, quiet);
        run(&mut executor, &plan);
        executor.order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_process_visits_many_points_if_they_share_it_and_each_of_them_once() {
    let mut mock = Mock::new("mock.one", 8);
    mock.shares_process = true;
    let plan = plan(&[&mock]);
    let mut executor = MockExecutor::new(20 * MS, quiet);
    run(&mut executor, &plan);
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
    let mut seeds: Vec<u64> = executor
        .tasks
        .iter()
        .map(|request| request.task.seed)
        .collect();
    let count = seeds.len();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), count);
}

#[test]
fn facts_have_no_target() {
    let mut mock = Mock::new("mock.one", 1);
    mock.better = Better::Neither;
    let plan = plan(&[&mock]);
    let mut executor = MockExecutor::new(20 * MS, wild);
    let (_, log) = run(&mut executor, &plan);
    assert_eq!(log.count("TargetReached"), 1);
}
