//! The use of the available time.

use super::mocks::{
    Log, MS, Mock, MockExecutor, PRECISION, plan, plan_for, quiet, run, run_points, setting, wild,
};
use oscope_instrument::clock::Clock;
use oscope_instrument::experiment::Experiment;
use oscope_instrument::noise::Warning;
use oscope_instrument::plan::VisitCosts;
use oscope_instrument::point::Point;
use oscope_instrument::quantity::Nanoseconds;
use std::collections::BTreeMap;

/// Batches of the point 0 that take `dear_ms`, and of the others `other_ms`.
fn with_dear_point(dear_ms: i64, other_ms: i64) -> Box<dyn Fn(u64, usize) -> i64> {
    Box::new(move |n, _| if n == 0 { dear_ms } else { other_ms } * MS)
}

/// What the visits to each point are known to take.
fn costs(mock: &Mock, visits_ms: &[f64]) -> VisitCosts {
    let mut costs = VisitCosts::default();
    for (point, visit_ms) in mock.points(&setting()).into_iter().zip(visits_ms) {
        costs.add(mock.id, point, visit_ms * 1e6);
    }
    costs
}

/// The number of warnings that a value did not become precise.
fn missed(log: &Log) -> usize {
    let missed = |warning: &&Warning| matches!(warning, Warning::TargetMissed { .. });
    log.warnings.iter().filter(missed).count()
}

#[test]
fn the_budget_ends_what_never_settles_and_says_so() {
    let mocks = [Mock::new("mock.one", 2)];
    let plan = plan(&mocks);
    let mut executor = MockExecutor::new(20 * MS, wild);
    let (_, log) = run(&mut executor, &plan);
    assert_eq!((log.count("BudgetUsed"), missed(&log)), (2, 2));
    let (spent_ns, budget_ns) = (executor.clock.now_ns() as f64, plan.budget().0);
    assert!(spent_ns > budget_ns - 20e6 && spent_ns <= budget_ns);
}

#[test]
fn what_is_seen_too_seldom_for_an_estimate_is_not_called_wide() {
    // The time suffices for two visits of each point.
    let visit_ns = PRECISION.point_budget_ns.cast_signed() / 2;
    let (_, log, _) = run_points(2, visit_ns, wild);
    assert_eq!((log.count("BudgetUsed"), missed(&log)), (2, 0));
}

#[test]
fn a_budget_for_the_run_is_divided_by_points() {
    let mocks = [Mock::new("mock.one", 1), Mock::new("mock.three", 3)];
    let plan = plan_for(Some(Nanoseconds(4e9)), &mocks, 1);
    let budgets = plan.experiments.iter().map(|planned| planned.budget_ns);
    assert!(budgets.eq([1_000_000_000, 3_000_000_000]));
    assert_eq!(plan.point_count(), 4);
}

#[test]
fn dear_points_never_take_the_time_of_cheap_ones() {
    let mocks = [Mock::new("mock.one", 4)];
    let plan = plan(&mocks);
    let mut executor = MockExecutor::new(10 * MS, quiet);
    executor.takes = with_dear_point(500, 10);
    let (_, log) = run(&mut executor, &plan);
    assert!((1..=3).all(|n| executor.given[&n] >= plan.precision.passes));
    assert_eq!(log.count("close n=0: BudgetUsed"), 1);
    assert!(executor.clock.now_ns() as f64 <= plan.budget().0 + 500e6);
}

#[test]
fn files_made_by_first_visits_do_not_keep_later_visits_away() {
    let mocks = [Mock::new("mock.one", 4)];
    let plan = plan(&mocks);
    let mut executor = MockExecutor::new(MS, quiet);
    executor.takes = Box::new(|_, given| if given == 0 { 390 * MS } else { MS });
    run(&mut executor, &plan);
    let known = executor.given.values().filter(|visits| **visits >= 5);
    assert_eq!(known.count(), 4, "{:?}", executor.given);
}

#[test]
fn points_that_the_time_will_not_reach_are_named_after_the_first_pass() {
    let mocks = [Mock::new("mock.cheap", 4), Mock::new("mock.dear", 1)];
    let mut executor = MockExecutor::new(10 * MS, quiet);
    executor.takes = with_dear_point(400, 10);
    let (_, log) = run(&mut executor, &plan(&mocks));
    // The point 0 is dear in both.
    let named = r#"scarce [("mock.cheap", 1), ("mock.dear", 1)]"#;
    assert_eq!(log.count(named), 1, "{:?}", log.lines);
    assert_eq!(log.count("scarce"), 1);
}

#[test]
fn spare_time_goes_to_points_that_are_not_known_well_enough() {
    let mixed = |n, given| {
        if n == 0 {
            quiet(n, given)
        } else {
            wild(n, given)
        }
    };
    let visit_ns = PRECISION.point_budget_ns.cast_signed() / 15;
    let (_, _, executor) = run_points(2, visit_ns, mixed);
    let given = executor.given;
    assert!(given[&1] > given[&0] + 2, "{given:?}");
}

#[test]
fn points_that_the_time_does_not_reach_are_counted_as_not_measured() {
    let mocks = [Mock::new("mock.one", 5)];
    let plan = plan_for(Some(Nanoseconds(2e6)), &mocks, 1);
    let (outcome, log) = run(&mut MockExecutor::new(MS, quiet), &plan);
    let reached = log.count("take");
    assert!((1..5).contains(&reached), "{reached} points were reached");
    assert_eq!(outcome.unreached, 5 - reached);
}

#[test]
fn a_time_too_short_for_the_first_pass_leaves_no_experiment_out() {
    let mocks = ["mock.one", "mock.two", "mock.three"].map(|id| Mock::new(id, 6));
    let plan = plan_for(Some(Nanoseconds(6e6)), &mocks, 1);
    assert!(plan.keeps_files);
    let mut executor = MockExecutor::new(MS, quiet);
    let (outcome, _) = run(&mut executor, &plan);
    for Mock { id, .. } in mocks {
        let mut visits = executor.tasks.iter();
        assert!(visits.any(|task| task.experiment == id), "{id}");
    }
    assert!(outcome.unreached >= 12, "{outcome:?}");
}

#[test]
fn a_time_too_short_for_all_points_suffices_for_as_many_as_it_can() {
    let mocks = ["mock.one", "mock.two"].map(|id| Mock::new(id, 50));
    // Of 500 visits that all estimates need, there is time for 200.
    let plan = plan_for(Some(Nanoseconds(200e6)), &mocks, 1);
    let mut executor = MockExecutor::new(MS, quiet);
    run(&mut executor, &plan);
    let mut visits: BTreeMap<(&str, &Point), usize> = BTreeMap::new();
    for task in &executor.tasks {
        let point = (&*task.experiment, &task.points[0]);
        *visits.entry(point).or_default() += 1;
    }
    let estimated = visits.values().filter(|visits| **visits >= 5).count();
    assert!((22..=40).contains(&estimated), "{estimated}");
    for Mock { id, .. } in mocks {
        let points = visits.keys().filter(|(of, _)| *of == id).count();
        assert!(points >= 15, "{id}: {points}");
    }
}

#[test]
fn with_known_costs_only_points_in_reach_are_visited_and_the_others_named_first() {
    let mocks = [Mock::new("mock.one", 4)];
    let mut executor = MockExecutor::new(10 * MS, quiet);
    executor.takes = with_dear_point(1000, 10);
    executor.visit_costs = costs(&mocks[0], &[1000.0, 10.0, 10.0, 10.0]);
    let (_, log) = run(&mut executor, &plan(&mocks));
    let lines = log.lines.iter().map(String::as_str);
    let first: Vec<&str> = lines.skip_while(|line| line.starts_with("start")).collect();
    assert_eq!(first[..2], [r#"scarce [("mock.one", 1)]"#, "pass 0 of 3"]);
    assert_eq!(log.count("scarce"), 1);
    assert!((1..=3).all(|n| executor.given[&n] >= PRECISION.passes));
}

#[test]
fn the_run_ends_before_a_visit_that_its_time_does_not_suffice_for() {
    let mocks = [Mock::new("mock.one", 2)];
    let mut executor = MockExecutor::new(30 * MS, wild);
    executor.takes = with_dear_point(140, 30);
    run(&mut executor, &plan_for(Some(Nanoseconds(1e9)), &mocks, 3));
    assert!(executor.clock.now_ns() <= 1_000_000_000);
}

/// The largest error of the time left that is reported after the first pass, as a share of the time left. The
/// last visits are left out: with one visit less the rest is another.
fn worst_error(takes: fn(u64, usize) -> i64, points: u64, budget_s: f64) -> f64 {
    let mocks = ["mock.one", "mock.two"].map(|id| Mock::new(id, points));
    let plan = plan_for(Some(Nanoseconds(budget_s * 1e9)), &mocks, 7);
    let mut executor = MockExecutor::new(MS, wild);
    executor.takes = Box::new(takes);
    let (_, log) = run(&mut executor, &plan);
    let end_ns = executor.clock.now_ns() as f64;
    let dearest_ns = (0..points).map(|n| takes(n, 1)).max().unwrap_or(0) as f64;
    let errors = log.reported.iter().filter_map(|it| {
        assert!((0.0..=budget_s * 1e9).contains(&it.remaining.0));
        let left_ns = end_ns - it.spent_ns;
        let error = (it.remaining.0 - left_ns).abs() / left_ns;
        (it.pass > 0 && left_ns > 10.0 * dearest_ns).then_some(error)
    });
    let errors: Vec<f64> = errors.collect();
    assert!(errors.len() > 20, "{}", errors.len());
    errors.into_iter().fold(0.0, f64::max)
}

#[test]
fn the_time_left_never_exceeds_the_budget_and_is_known_within_a_tenth_after_the_first_pass() {
    let even: fn(u64, usize) -> i64 = |_, _| 10 * MS;
    let mixed: fn(u64, usize) -> i64 = |n, given| {
        let usual_ms = 5 + (n * 7) % 40;
        let takes_ns = usual_ms * MS.unsigned_abs() * (19 + given as u64 % 3) / 20;
        takes_ns.cast_signed()
    };
    for (name, takes) in [("even", even), ("mixed", mixed)] {
        for (points, budget_s) in [(5, 100.0), (5, 3.0), (30, 15.0), (30, 60.0), (30, 1000.0)] {
            let error = worst_error(takes, points, budget_s);
            assert!(error < 0.1, "{name} {points} {budget_s}: {error}");
        }
    }
}

#[test]
fn a_clock_that_goes_backwards_neither_panics_nor_loops() {
    let mut executor = MockExecutor::new(-MS, quiet);
    executor.clock.advance(100_000 * MS);
    let (_, log) = run(&mut executor, &plan(&[Mock::new("mock.one", 2)]));
    assert_eq!(log.count("TargetReached"), 2);
}

#[test]
fn the_least_time_of_a_plan_is_that_of_its_cheapest_estimate() {
    let mocks = [Mock::new("mock.one", 2)];
    let plan = plan(&mocks);
    let unknown = plan.least_times(&VisitCosts::default());
    assert_eq!(unknown, (Nanoseconds(5e6), None));
    let (one, all) = plan.least_times(&costs(&mocks[0], &[30.0, 10.0]));
    assert_eq!(one, Nanoseconds(50e6));
    assert!((all.unwrap().0 / 240e6 - 1.0).abs() < 1e-9);
}
