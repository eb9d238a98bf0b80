//! The points that a round visits, their order, and the decision to close each.

use crate::mocks::{MS, Mock, MockExecutor, plan, quiet, run, setting, wild};
use oscope_instrument::experiment::Better;
use oscope_instrument::plan::Plan;
use oscope_instrument::runner::Outcome;

#[test]
fn a_quiet_point_is_closed_when_its_interval_is_narrow() {
    let mock = Mock::new("mock.one", 3);
    let plan = plan(&[&mock]);
    let mut executor = MockExecutor::new(MS, quiet);
    let (outcome, log) = run(&mut executor, &plan);
    assert_eq!(
        outcome,
        Outcome {
            started: 1,
            ..Outcome::default()
        }
    );
    assert_eq!(log.count("TargetReached"), 3);
    let minimum = plan.precision.min_processes;
    assert_eq!(executor.order.len(), 3 * minimum);
    assert!(log.warnings.is_empty(), "{:?}", log.warnings);
}

#[test]
fn every_round_visits_each_open_point_once_in_an_order_of_its_own() {
    let mock = Mock::new("mock.one", 8);
    let plan = Plan::new(&[&mock], &setting(), None, 7);
    let mut executor = MockExecutor::new(MS, quiet);
    run(&mut executor, &plan);
    let rounds: Vec<Vec<u64>> = executor.order.chunks(8).map(<[u64]>::to_vec).collect();
    for round in &rounds {
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<_>>());
    }
    assert!(
        rounds.windows(2).any(|pair| pair[0] != pair[1]),
        "every round had the same order"
    );
}

#[test]
fn the_seed_decides_the_order() {
    let order = |seed| {
        let mock = Mock::new("mock.one", 8);
        let plan = Plan::new(&[&mock], &setting(), None, seed);
        let mut executor = MockExecutor::new(MS, quiet);
        run(&mut executor, &plan);
        executor.order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn each_process_gets_a_seed_of_its_own() {
    let mock = Mock::new("mock.one", 2);
    let plan = plan(&[&mock]);
    let mut executor = MockExecutor::new(MS, quiet);
    run(&mut executor, &plan);
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
    let mut executor = MockExecutor::new(MS, wild);
    let (_, log) = run(&mut executor, &plan);
    assert_eq!(executor.order.len(), plan.precision.min_processes);
    assert_eq!(log.count("TargetReached"), 1);
}
