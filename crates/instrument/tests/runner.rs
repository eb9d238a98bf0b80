//! The runner on a clock and experiments made up for the purpose: order, stopping rule, budget,
//! failures and the wish to stop.

use oscope_instrument::clock::Clock;
use oscope_instrument::experiment::{
    Better, Definition, Experiment, Isolation, MeasureError, Metric,
};
use oscope_instrument::figure::Figure;
use oscope_instrument::finding::Finding;
use oscope_instrument::need::Need;
use oscope_instrument::noise::Warning;
use oscope_instrument::plan::{Plan, Profile, Setting};
use oscope_instrument::point::{Axis, Point};
use oscope_instrument::quantity::{Nanoseconds, Unit};
use oscope_instrument::results::Results;
use oscope_instrument::runner::{
    BatchError, Ending, Event, Executor, Observer, ObserverError, Outcome, Request, Runner,
};
use oscope_instrument::sample::{Batch, Reading, Sample};
use oscope_instrument::sampler::Sampler;
use platform::clock::Calibration;
use platform::machine::Machine;
use platform::usage::Usage;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A clock that goes only where it is put.
#[derive(Default)]
struct MockClock(Cell<u64>);

impl MockClock {
    fn advance(&self, ns: i64) {
        self.0.set(self.0.get().saturating_add_signed(ns));
    }
}

impl Clock for MockClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn usage(&self) -> platform::Result<Usage> {
        Ok(Usage::default())
    }
}

/// An experiment with `points` points, never measured in this process.
struct Mock {
    id: &'static str,
    points: u64,
    isolation: Isolation,
    better: Better,
    needs: Vec<Need>,
}

impl Mock {
    fn new(id: &'static str, points: u64) -> Self {
        Self {
            id,
            points,
            isolation: Isolation::FreshProcess,
            better: Better::Lower,
            needs: Vec::new(),
        }
    }
}

impl Experiment for Mock {
    fn id(&self) -> &'static str {
        self.id
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id.into(),
            title: "a mock".into(),
            question: "Does the runner work?".into(),
            method: String::new(),
            source: String::new(),
            axes: vec![Axis::count("n", "number")],
            metrics: vec![Metric::new("cost", "cost", Unit::Nanoseconds, self.better)],
            isolation: self.isolation,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        self.needs.clone()
    }

    fn points(&self, _: &Setting) -> Vec<Point> {
        (0..self.points)
            .map(|n| Point::new().with("n", n))
            .collect()
    }

    fn measure(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported("a mock measures nothing".into()))
    }

    fn findings(&self, _: &Results) -> Vec<Finding> {
        Vec::new()
    }

    fn figures(&self, _: &Results) -> Vec<Figure> {
        Vec::new()
    }
}

/// Makes batches up: what a point answers is decided by a function of its number and of how many
/// batches it has given.
struct MockExecutor<'a, F> {
    clock: &'a MockClock,
    batch_ns: i64,
    answer: F,
    given: BTreeMap<u64, usize>,
    stop_after: usize,
    order: Vec<u64>,
    tasks: Vec<Request>,
}

impl<'a, F: FnMut(u64, usize) -> Result<f64, BatchError>> MockExecutor<'a, F> {
    fn new(clock: &'a MockClock, batch_ns: i64, answer: F) -> Self {
        Self {
            clock,
            batch_ns,
            answer,
            given: BTreeMap::new(),
            stop_after: usize::MAX,
            order: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

impl<F: FnMut(u64, usize) -> Result<f64, BatchError>> Executor for MockExecutor<'_, F> {
    fn execute(&mut self, request: &Request) -> Result<Batch, BatchError> {
        let n = request
            .point
            .number("n")
            .expect("every mock point has a number");
        self.order.push(n);
        self.tasks.push(request.clone());
        self.clock.advance(self.batch_ns);
        let given = self.given.entry(n).or_default();
        let cost_ns = (self.answer)(n, *given)?;
        *given += 1;
        let sample = |offset: f64| {
            let ns = (cost_ns * 1000.0 + offset) as u64;
            Sample {
                metric: "cost".into(),
                reading: Reading::Difference {
                    iterations: 1000,
                    work: 1.0,
                    short_ns: ns,
                    long_ns: 2 * ns,
                },
                usage: Usage {
                    user_ns: 3 * ns,
                    ..Usage::default()
                },
                at_ns: self.clock.now_ns(),
            }
        };
        Ok(Batch {
            samples: vec![sample(0.0), sample(1.0), sample(2.0)],
            warm: true,
            wall_ns: self.batch_ns.unsigned_abs(),
            ..Batch::default()
        })
    }

    fn is_interrupted(&self) -> bool {
        self.order.len() >= self.stop_after
    }
}

/// Writes down what happens, a line an event.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    warnings: Vec<Warning>,
    remaining: Vec<Nanoseconds>,
    fail_at: Option<usize>,
}

impl Observer for Log {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.lines.push(match event {
            Event::Started { definition, points } => {
                format!("start {} with {}", definition.id, points.len())
            }
            Event::Skipped { definition, reason } => format!("skip {}: {reason}", definition.id),
            Event::Visiting { .. } => return Ok(()),
            Event::Taken {
                point, progress, ..
            } => {
                self.remaining.push(progress.remaining);
                format!("take {point}")
            }
            Event::Closed {
                point,
                ending,
                warnings,
                ..
            } => {
                self.warnings.extend_from_slice(warnings);
                format!("close {point}: {ending:?}")
            }
            Event::Finished { definition } => format!("end {}", definition.id),
            Event::Extended { points, .. } => format!("extend {points}"),
        });
        match self.fail_at {
            Some(count) if self.lines.len() >= count => Err("the disk is full".into()),
            _ => Ok(()),
        }
    }
}

impl Log {
    fn count(&self, text: &str) -> usize {
        self.lines.iter().filter(|line| line.contains(text)).count()
    }
}

const MS: i64 = 1_000_000;

fn setting() -> Setting {
    Setting {
        profile: Profile::Quick,
        directory: PathBuf::from("nowhere"),
        free_bytes: 0,
        available_bytes: 0,
        swap_bytes: 0,
        remote: None,
        link: None,
        time_scale: 1.0,
        can_limit_memory: false,
        is_root: false,
        machine: Machine::default(),
    }
}

fn run(
    clock: &MockClock,
    executor: &mut dyn Executor,
    log: &mut Log,
    plan: &Plan<'_>,
) -> Result<Outcome, ObserverError> {
    Runner {
        clock,
        executor,
        observers: vec![log],
        calibration: Calibration {
            resolution_ns: 1.0,
            cost_ns: 20.0,
        },
        scratch: PathBuf::from("nowhere"),
        remote: None,
        link: None,
    }
    .run(plan)
}

/// Costs that differ by a few per mille from process to process.
#[expect(clippy::unnecessary_wraps, reason = "the executor asks for a result")]
fn quiet(n: u64, given: usize) -> Result<f64, BatchError> {
    Ok(100.0 + n as f64 + 0.1 * (given % 3) as f64)
}

/// Costs that never settle.
#[expect(clippy::unnecessary_wraps, reason = "the executor asks for a result")]
fn wild(_: u64, given: usize) -> Result<f64, BatchError> {
    Ok(if given.is_multiple_of(2) {
        100.0
    } else {
        300.0
    })
}

#[test]
fn a_quiet_point_is_closed_when_its_interval_is_narrow() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 3);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
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
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 8);
    let plan = Plan::new(&[&mock], &setting(), None, 7);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    run(&clock, &mut executor, &mut Log::default(), &plan).unwrap();
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
        let clock = MockClock::default();
        let mock = Mock::new("mock.one", 8);
        let plan = Plan::new(&[&mock], &setting(), None, seed);
        let mut executor = MockExecutor::new(&clock, MS, quiet);
        run(&clock, &mut executor, &mut Log::default(), &plan).unwrap();
        executor.order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn each_process_gets_a_seed_of_its_own() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 2);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    run(&clock, &mut executor, &mut Log::default(), &plan).unwrap();
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
fn the_budget_ends_what_never_settles_and_says_so() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 2);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, 10 * MS, wild);
    let mut log = Log::default();
    run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(log.count("BudgetUsed"), 2);
    let spent_ns = clock.now_ns() as f64;
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
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 2);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mixed = |n, given| {
        if n == 0 {
            quiet(n, given)
        } else {
            wild(n, given)
        }
    };
    let mut executor = MockExecutor::new(&clock, 10 * MS, mixed);
    let mut log = Log::default();
    run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(executor.given[&0], plan.precision.min_processes);
    let own_share = plan.precision.point_budget_ns / 10_000_000;
    assert!(executor.given[&1] as u64 > own_share);
}

#[test]
fn what_experiments_leave_over_goes_to_the_points_that_want_the_least() {
    let clock = MockClock::default();
    let (needy, easy) = (Mock::new("mock.needy", 2), Mock::new("mock.easy", 1));
    let plan = Plan::new(&[&needy, &easy], &setting(), None, 1);
    // The first point settles just before its experiment's time is used up, the second never.
    let late = |n: u64, given: usize| match n {
        0 if given < 20 && given.is_multiple_of(2) => Ok(130.0),
        0 => Ok(100.0),
        _ => wild(n, given),
    };
    let mut executor = MockExecutor::new(&clock, 20 * MS, late);
    let mut log = Log::default();
    run(&clock, &mut executor, &mut log, &plan).unwrap();
    let mut lines = log.lines.iter().map(String::as_str);
    assert!(lines.any(|line| line == "extend 2"), "{:?}", log.lines);
    let next = lines.find(|line| *line != "take n=0");
    assert_eq!(next, Some("close n=0: TargetReached"));
    assert_eq!(lines.next(), Some("take n=1"));
    assert_eq!(lines.next_back(), Some("close n=1: BudgetUsed"));
    assert!(clock.now_ns() as f64 <= plan.budget().0 + 20e6);
}

#[test]
fn facts_have_no_target() {
    let clock = MockClock::default();
    let mut mock = Mock::new("mock.one", 1);
    mock.better = Better::Neither;
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, wild);
    let mut log = Log::default();
    run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(executor.order.len(), plan.precision.min_processes);
    assert_eq!(log.count("TargetReached"), 1);
}

#[test]
fn one_point_that_fails_leaves_the_others_alone() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 3);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let failing = |n, given| match (n, given) {
        (1, 2) => Err(BatchError::Failed(
            "the page cache could not be emptied".into(),
        )),
        _ => quiet(n, given),
    };
    let mut executor = MockExecutor::new(&clock, MS, failing);
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(
        outcome,
        Outcome {
            started: 1,
            failed: 1,
            ..Outcome::default()
        }
    );
    assert_eq!(log.count("TargetReached"), 2);
    assert_eq!(
        log.count("close n=1: Failed(\"the page cache could not be emptied\")"),
        1
    );
    assert_eq!(
        executor.given[&1], 2,
        "what it gave before is kept, and no more is asked of it"
    );
}

#[test]
fn points_that_the_time_does_not_reach_are_counted_as_not_measured() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 5);
    let plan = Plan::new(&[&mock], &setting(), Some(Nanoseconds(2e6)), 1);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
    let reached = log.count("take");
    assert!((1..5).contains(&reached), "{reached} points were reached");
    assert_eq!(outcome.failed, 5 - reached);
}

#[test]
fn a_wish_to_stop_keeps_what_was_measured() {
    let clock = MockClock::default();
    let (one, two) = (Mock::new("mock.one", 4), Mock::new("mock.two", 4));
    let plan = Plan::new(&[&one, &two], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, wild);
    executor.stop_after = 6;
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert!(outcome.interrupted);
    assert_eq!(log.count("take"), 6);
    assert_eq!(log.count("Interrupted"), 4);
    assert_eq!(log.count("mock.two"), 0);
}

#[test]
fn a_batch_cut_short_by_the_wish_to_stop_is_no_failure() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 1);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let cut = |n, given| {
        if given == 1 {
            Err(BatchError::Interrupted)
        } else {
            quiet(n, given)
        }
    };
    let mut executor = MockExecutor::new(&clock, MS, cut);
    executor.stop_after = 2;
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(
        outcome,
        Outcome {
            started: 1,
            interrupted: true,
            ..Outcome::default()
        }
    );
    assert_eq!(log.count("Interrupted"), 1);
}

#[test]
fn an_experiment_that_lacks_something_is_skipped_with_its_reason() {
    let clock = MockClock::default();
    let mut rootly = Mock::new("mock.root", 1);
    rootly.needs = vec![Need::Root];
    let mut featured = Mock::new("mock.feature", 1);
    featured.needs = vec![Need::Feature {
        present: false,
        name: "time machine".into(),
    }];
    let empty = Mock::new("mock.empty", 0);
    let plan = Plan::new(&[&rootly, &featured, &empty], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(outcome.skipped, 3);
    assert_eq!(
        log.lines,
        [
            "skip mock.root: it needs the rights of root",
            "skip mock.feature: this system has no time machine",
            "skip mock.empty: nothing of it fits this machine",
        ]
    );
}

#[test]
fn where_one_process_takes_all_samples_a_point_is_visited_once() {
    let clock = MockClock::default();
    let mut mock = Mock::new("mock.one", 3);
    mock.isolation = Isolation::OneProcess;
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, wild);
    run(&clock, &mut executor, &mut Log::default(), &plan).unwrap();
    let mut order = executor.order.clone();
    order.sort_unstable();
    assert_eq!(order, [0, 1, 2]);
    assert_eq!(
        executor.tasks[0].task.batch_ns,
        plan.precision.point_budget_ns
    );
}

#[test]
fn an_observer_that_cannot_keep_the_samples_ends_the_run() {
    let clock = MockClock::default();
    let mock = Mock::new("mock.one", 3);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    let mut log = Log {
        fail_at: Some(3),
        ..Log::default()
    };
    let error = run(&clock, &mut executor, &mut log, &plan).unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
    assert_eq!(executor.order.len(), 2);
}

#[test]
fn the_time_left_falls_and_never_exceeds_the_budget() {
    let clock = MockClock::default();
    let (one, two) = (Mock::new("mock.one", 2), Mock::new("mock.two", 2));
    let plan = Plan::new(&[&one, &two], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, 10 * MS, wild);
    let mut log = Log::default();
    run(&clock, &mut executor, &mut log, &plan).unwrap();
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
    let clock = MockClock::default();
    clock.advance(1000 * MS);
    let mock = Mock::new("mock.one", 2);
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, -MS, quiet);
    let mut log = Log::default();
    run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!(log.count("TargetReached"), 2);
}

#[test]
fn endings_are_plain_data() {
    let text = serde_json::to_string(&Ending::Failed("no space".into())).unwrap();
    assert_eq!(text, r#"{"failed":"no space"}"#);
}

#[test]
fn what_only_the_user_can_name_is_left_out_and_has_not_failed() {
    let clock = MockClock::default();
    let mock = Mock {
        needs: vec![Need::Remote],
        ..Mock::new("mock.remote", 1)
    };
    let plan = Plan::new(&[&mock], &setting(), None, 1);
    let mut executor = MockExecutor::new(&clock, MS, quiet);
    let mut log = Log::default();
    let outcome = run(&clock, &mut executor, &mut log, &plan).unwrap();
    assert_eq!((outcome.left_out, outcome.skipped), (1, 0));
}

#[test]
fn a_question_that_does_not_arise_is_answered_only_when_asked_alone() {
    let nodes = Mock {
        needs: vec![Need::Several {
            count: 1,
            what: "memory nodes".into(),
        }],
        ..Mock::new("mock.nodes", 4)
    };
    let other = Mock::new("mock.other", 1);
    let both = Plan::new(&[&nodes, &other], &setting(), None, 1);
    let ids: Vec<&str> = both
        .experiments
        .iter()
        .map(|planned| planned.experiment.id())
        .collect();
    assert_eq!(ids, ["mock.other"]);

    let alone = Plan::new(&[&nodes], &setting(), None, 1);
    let reason = alone.experiments[0].points.as_ref().unwrap_err();
    assert_eq!(reason, "this machine has fewer than two memory nodes");
    assert!(alone.experiments[0].is_left_out);
}
