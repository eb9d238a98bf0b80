//! The use of the available time.

use crate::mocks::{MS, Mock, MockExecutor, plan, quiet, run, setting, wild};
use oscope_instrument::clock::Clock;
use oscope_instrument::noise::Warning;
use oscope_instrument::plan::Plan;
use oscope_instrument::quantity::Nanoseconds;

#[test]
fn the_budget_ends_what_never_settles_and_says_so() {
    let mock = Mock::new("mock.one", 2);
    let plan = plan(&[&mock]);
    let mut executor = MockExecutor::new(10 * MS, wild);
    let (_, log) = run(&mut executor, &plan);
    assert_eq!(log.count("BudgetUsed"), 2);
    let spent_ns = executor.clock.now_ns() as f64;
    assert!(
        spent_ns >= plan.budget().0 && spent_ns <= plan.budget().0 + 10e6,
        "{spent_ns}"
    );
    let missed = |warning: &&Warning| matches!(warning, Warning::TargetMissed { .. });
    assert_eq!(log.warnings.iter().filter(missed).count(), 2);
}

#[test]
fn a_budget_for_the_run_is_divided_by_points() {
    let (one, three) = (Mock::new("mock.one", 1), Mock::new("mock.three", 3));
    let plan = Plan::new(&[&one, &three], &setting(), Some(Nanoseconds(4e9)), 1);
    let budgets: Vec<u64> = plan
        .experiments
        .iter()
        .map(|planned| planned.budget_ns)
        .collect();
    assert_eq!(budgets, [1_000_000_000, 3_000_000_000]);
    assert_eq!(plan.point_count(), 4);
}

#[test]
fn what_the_points_that_settle_leave_over_goes_to_the_others() {
    let mock = Mock::new("mock.one", 2);
    let plan = plan(&[&mock]);
    let mixed = |n, given| {
        if n == 0 {
            quiet(n, given)
        } else {
            wild(n, given)
        }
    };
    let mut executor = MockExecutor::new(10 * MS, mixed);
    run(&mut executor, &plan);
    assert_eq!(executor.given[&0], plan.precision.min_processes);
    let own_share = plan.precision.point_budget_ns / 10_000_000;
    assert!(executor.given[&1] as u64 > own_share);
}

#[test]
fn what_experiments_leave_over_goes_to_the_points_that_want_the_least() {
    let (needy, easy) = (Mock::new("mock.needy", 2), Mock::new("mock.easy", 1));
    let plan = plan(&[&needy, &easy]);
    // The first point becomes precise just before its experiment's time runs out, the second never.
    let late = |n: u64, given: usize| match n {
        0 if given < 20 && given.is_multiple_of(2) => Ok(130.0),
        0 => Ok(100.0),
        _ => wild(n, given),
    };
    let mut executor = MockExecutor::new(20 * MS, late);
    let (_, log) = run(&mut executor, &plan);
    let mut lines = log.lines.iter().map(String::as_str);
    assert!(lines.any(|line| line == "extend 2"), "{:?}", log.lines);
    let next = lines.find(|line| *line != "take n=0");
    assert_eq!(next, Some("close n=0: TargetReached"));
    assert_eq!(lines.next(), Some("take n=1"));
    assert_eq!(lines.next_back(), Some("close n=1: BudgetUsed"));
    assert!(executor.clock.now_ns() as f64 <= plan.budget().0 + 20e6);
}

#[test]
fn points_that_the_time_does_not_reach_are_counted_as_not_measured() {
    let mock = Mock::new("mock.one", 5);
    let plan = Plan::new(&[&mock], &setting(), Some(Nanoseconds(2e6)), 1);
    let mut executor = MockExecutor::new(MS, quiet);
    let (outcome, log) = run(&mut executor, &plan);
    let reached = log.count("take");
    assert!((1..5).contains(&reached), "{reached} points were reached");
    assert_eq!(outcome.unreached, 5 - reached);
}

#[test]
fn the_time_left_falls_and_never_exceeds_the_budget() {
    let (one, two) = (Mock::new("mock.one", 2), Mock::new("mock.two", 2));
    let plan = plan(&[&one, &two]);
    let mut executor = MockExecutor::new(10 * MS, wild);
    let (_, log) = run(&mut executor, &plan);
    let budget_ns = plan.budget().0;
    assert!(
        log.remaining
            .iter()
            .all(|left| left.0 >= 0.0 && left.0 <= budget_ns)
    );
    assert!(log.remaining.last() < log.remaining.first());
}

#[test]
fn a_clock_that_goes_backwards_neither_panics_nor_loops() {
    let mock = Mock::new("mock.one", 2);
    let plan = plan(&[&mock]);
    let mut executor = MockExecutor::new(-MS, quiet);
    executor.clock.advance(1000 * MS);
    let (_, log) = run(&mut executor, &plan);
    assert_eq!(log.count("TargetReached"), 2);
}
