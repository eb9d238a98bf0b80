//! Mock experiments, a mock executor and a mock observer.

use crate::common::MockClock;
use oscope_instrument::clock::{Calibration, Clock};
use oscope_instrument::experiment::{Better, Design, Experiment, MeasureError, Metric};
use oscope_instrument::given::Givens;
use oscope_instrument::limits::Limits;
use oscope_instrument::need::Need;
use oscope_instrument::noise::Warning;
use oscope_instrument::plan::{Plan, Precision, Profile, Setting, VisitCosts};
use oscope_instrument::point::{AxisOf, Point};
use oscope_instrument::quantity::{Count, Nanoseconds};
use oscope_instrument::runner::{
    BatchError, Event, Executor, Observer, ObserverError, Outcome, Request, Runner,
};
use oscope_instrument::sample::{Batch, Legs, Reading, Sample};
use oscope_instrument::sampler::Sampler;
use platform::machine::{Machine, Topology};
use platform::usage::Usage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const N: AxisOf<Count> = AxisOf::new("n", "number");

/// An experiment with `points` points that never measures in this process.
pub(crate) struct Mock {
    pub(crate) id: &'static str,
    pub(crate) points: u64,
    /// The numbers of its points, if they depend on the setting.
    pub(crate) fitting: Option<fn(&Setting) -> Vec<u64>>,
    pub(crate) better: Better,
    pub(crate) needs: Vec<Need>,
    pub(crate) shares_process: bool,
}

impl Mock {
    pub(crate) fn new(id: &'static str, points: u64) -> Self {
        Self {
            id,
            points,
            fitting: None,
            better: Better::Lower,
            needs: Vec::new(),
            shares_process: false,
        }
    }
}

impl Experiment for Mock {
    fn design(&self) -> &'static Design {
        let cost = Metric {
            better: self.better,
            ..Metric::time("cost", "cost")
        };
        // Leaks a few bytes for each mock.
        Box::leak(Box::new(Design {
            id: self.id,
            title: "a mock",
            question: "Does the runner work?",
            method: "",
            source: "",
            axes: const { &[N.axis()] },
            metrics: Box::leak(Box::new([cost])),
        }))
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        self.needs.clone()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let fitting = self.fitting.map(|numbers| numbers(setting));
        let numbers = fitting.unwrap_or_else(|| (0..self.points).collect());
        let point = |n| Point::new().at(N, Count(n));
        numbers.into_iter().map(point).collect()
    }

    fn shares_process(&self, _: &Point) -> bool {
        self.shares_process
    }

    fn measure(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported("a mock measures nothing".into()))
    }
}

/// Decides what a visit gives: a function of the point's number and of its number of earlier batches.
pub(crate) type Answer<'a> = dyn FnMut(u64, usize) -> Result<f64, BatchError> + 'a;

/// Makes up batches.
pub(crate) struct MockExecutor<'a> {
    pub(crate) clock: MockClock,
    /// The time of a batch in ns by the point's number and its number of earlier batches.
    pub(crate) takes: Box<dyn Fn(u64, usize) -> i64>,
    answer: Box<Answer<'a>>,
    pub(crate) given: BTreeMap<u64, usize>,
    pub(crate) stop_after: usize,
    /// What visits took in earlier runs of the machine.
    pub(crate) visit_costs: VisitCosts,
    pub(crate) order: Vec<u64>,
    pub(crate) tasks: Vec<Request>,
}

impl<'a> MockExecutor<'a> {
    pub(crate) fn new(
        batch_ns: i64,
        answer: impl FnMut(u64, usize) -> Result<f64, BatchError> + 'a,
    ) -> Self {
        Self {
            clock: MockClock::default(),
            takes: Box::new(move |_, _| batch_ns),
            answer: Box::new(answer),
            given: BTreeMap::new(),
            stop_after: usize::MAX,
            visit_costs: VisitCosts::default(),
            order: Vec::new(),
            tasks: Vec::new(),
        }
    }

    fn batch(&mut self, point: &Point) -> Result<Batch, BatchError> {
        let Count(n) = point.level(N).expect("every mock point has a number");
        self.order.push(n);
        let given = self.given.entry(n).or_default();
        let batch_ns = (self.takes)(n, *given);
        self.clock.advance(batch_ns);
        let cost_ns = (self.answer)(n, *given)?;
        *given += 1;
        let ns = (cost_ns * 1000.0) as u64;
        let sample = Sample {
            metric: "cost".into(),
            reading: Reading::Legs(Legs {
                iterations: 1000,
                work: 1.0,
                wall_ns: vec![ns, ns + 1, ns + 2],
                ..Legs::default()
            }),
            usage: Usage {
                user_ns: 3 * ns,
                ..Usage::default()
            },
            at_ns: self.clock.now_ns(),
        };
        Ok(Batch {
            samples: vec![sample],
            warm: true,
            wall_ns: batch_ns.unsigned_abs(),
            ..Batch::default()
        })
    }
}

impl Executor for MockExecutor<'_> {
    fn execute(&mut self, request: &Request) -> Vec<Result<Batch, BatchError>> {
        self.tasks.push(request.clone());
        let points = request.points.iter();
        points.map(|point| self.batch(point)).collect()
    }

    fn is_interrupted(&self) -> bool {
        self.order.len() >= self.stop_after
    }
}

/// The time left as it was reported with a batch.
pub(crate) struct Reported {
    pub(crate) pass: usize,
    /// The time of all batches so far, in ns.
    pub(crate) spent_ns: f64,
    pub(crate) remaining: Nanoseconds,
}

/// Writes one line for each event.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) reported: Vec<Reported>,
    pub(crate) fail_at: Option<usize>,
}

impl Observer for Log {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.lines.push(match event {
            Event::Started { definition, points } => {
                format!("start {} with {}", definition.id, points.len())
            }
            Event::Refined { points, .. } => format!("refine by {}", points.len()),
            Event::Skipped { definition, reason } => format!("skip {}: {reason}", definition.id),
            Event::Visiting { .. } | Event::Using { .. } | Event::PassEnded => return Ok(()),
            Event::Taken {
                point,
                batch,
                progress,
                ..
            } => {
                let before_ns = self.reported.last().map_or(0.0, |last| last.spent_ns);
                self.reported.push(Reported {
                    pass: progress.pass,
                    spent_ns: before_ns + batch.wall_ns as f64,
                    remaining: progress.remaining,
                });
                format!("take {point}")
            }
            Event::Closed { point, closing, .. } => {
                self.warnings.extend_from_slice(&closing.warnings);
                format!("close {point}: {:?}", closing.ending)
            }
            Event::Scarce { experiments, .. } => format!("scarce {experiments:?}"),
            Event::Pass { pass, visits, .. } => format!("pass {pass} of {visits}"),
        });
        match self.fail_at {
            Some(count) if self.lines.len() >= count => Err("the disk is full".into()),
            _ => Ok(()),
        }
    }
}

impl Log {
    pub(crate) fn count(&self, text: &str) -> usize {
        self.lines.iter().filter(|line| line.contains(text)).count()
    }
}

pub(crate) const MS: i64 = 1_000_000;

pub(crate) fn setting() -> Setting {
    Setting {
        profile: Profile::Quick,
        directory: PathBuf::from("nowhere"),
        free_bytes: 0,
        available_bytes: 0,
        swap_bytes: 0,
        given: Givens::default(),
        time_scale: 1.0,
        can_limit_memory: false,
        is_root: false,
        machine: Machine::default(),
        limits: Limits::default(),
    }
}

pub(crate) fn plan(mocks: &[Mock]) -> Plan<'_> {
    plan_for(None, mocks, 1)
}

/// The plan for a run of `time`, or of the usual one.
pub(crate) fn plan_for(time: Option<Nanoseconds>, mocks: &[Mock], seed: u64) -> Plan<'_> {
    let experiments: Vec<&dyn Experiment> = mocks.iter().map(|mock| mock as _).collect();
    Plan::new(&experiments, &setting(), time, seed)
}

/// Executes the plan and returns its outcome and the log of events.
pub(crate) fn run(executor: &mut MockExecutor<'_>, plan: &Plan<'_>) -> (Outcome, Log) {
    let mut log = Log::default();
    let clock = executor.clock.clone();
    let visit_costs = executor.visit_costs.clone();
    let runner = runner(&clock, executor, &mut log, Path::new("nowhere"));
    let mut runner = Runner {
        visit_costs,
        ..runner
    };
    let outcome = runner.run(plan).expect("a log keeps everything");
    (outcome, log)
}

/// As [`run`], of one experiment with `points` points whose batches take `batch_ns`.
pub(crate) fn run_points<'a>(
    points: u64,
    batch_ns: i64,
    answer: impl FnMut(u64, usize) -> Result<f64, BatchError> + 'a,
) -> (Outcome, Log, MockExecutor<'a>) {
    let mut executor = MockExecutor::new(batch_ns, answer);
    let (outcome, log) = run(&mut executor, &plan(&[Mock::new("mock.one", points)]));
    (outcome, log, executor)
}

/// The precision of all plans.
pub(crate) const PRECISION: Precision = Profile::Quick.precision();

/// A runner whose scratch directory is `scratch`.
pub(crate) fn runner<'a>(
    clock: &'a dyn Clock,
    executor: &'a mut dyn Executor,
    observer: &'a mut Log,
    scratch: &Path,
) -> Runner<'a> {
    Runner {
        clock,
        executor,
        observers: vec![observer],
        calibration: Calibration {
            resolution_ns: 1.0,
            cost_ns: 20.0,
        },
        scratch: scratch.to_owned(),
        given: Givens::default(),
        topology: Topology::default(),
        full_speeds: Vec::new(),
        visit_costs: VisitCosts::default(),
    }
}

/// Costs that differ by a few per mille between processes.
#[expect(clippy::unnecessary_wraps, reason = "the executor asks for a result")]
pub(crate) fn quiet(n: u64, given: usize) -> Result<f64, BatchError> {
    Ok(100.0 + n as f64 + 0.1 * (given % 3) as f64)
}

/// Costs that never become precise.
#[expect(clippy::unnecessary_wraps, reason = "the executor asks for a result")]
pub(crate) fn wild(_: u64, given: usize) -> Result<f64, BatchError> {
    const COSTS_NS: [f64; 5] = [100.0, 300.0, 170.0, 500.0, 230.0];
    Ok(COSTS_NS[given % COSTS_NS.len()])
}
