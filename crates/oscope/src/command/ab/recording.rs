//! The comparison as an experiment of a stored run.

use super::programs::Program;
use super::results::{certainty, sentence};
use super::runs::Timed;
use crate::arguments::{Arguments, Command};
use crate::command::new_run;
use anyhow::{Result, anyhow};
use clap::Parser;
use instrument::ab::{Block, Contest, Ending, Pair};
use instrument::definition::{Better, Definition, Isolation, Metric};
use instrument::plan::Profile;
use instrument::point::{Axis, Point};
use instrument::quantity::{Nanoseconds, Unit};
use instrument::runner::{self, Closing, Event, Observer};
use instrument::sample::{Batch, Reading, Sample};
use platform::clock::now_ns;
use platform::machine::Machine;
use record::store::{Recorder, Store};
use record::{PointRecord, Run};
use std::iter;

/// Length of the stretches of time whose blocks are stored together: as a batch of each program, and
/// as a pass.
const STRETCH_NS: u64 = 500_000_000;

/// Records the runs of a comparison.
pub struct Recording<'s> {
    recorder: Recorder<'s>,
    definition: Definition,
    programs: Vec<Recorded>,
    /// Number of passes so far: stretches of whole blocks, in which each program ran.
    passes: u32,
    started_ns: u64,
}

/// A program in the record.
struct Recorded {
    point: Point,
    /// The samples that are not stored yet.
    samples: Vec<Sample>,
}

impl<'s> Recording<'s> {
    /// Starts a run in the store.
    pub fn begin(
        store: &'s mut Store,
        programs: &[Program],
        seed: u64,
        budget: Option<Nanoseconds>,
    ) -> Result<Self> {
        let directory = std::env::current_dir().unwrap_or_else(|_| ".".into());
        let mut run = new_run::describe(&directory, Machine::read(), Profile::Quick, seed)?;
        run.header.budget_ns = budget.map_or(0.0, |budget| budget.0);
        let mut recorder = store.begin(&run)?;
        let definition = definition();
        let point = |program: &Program| Point::new().with(PROGRAM, program.name.as_str());
        let points: Vec<Point> = programs.iter().map(point).collect();
        let started = Event::Started {
            definition: &definition,
            points: &points,
        };
        observe(&mut recorder, &started)?;
        let empty = |point| Recorded {
            point,
            samples: Vec::new(),
        };
        Ok(Self {
            recorder,
            definition,
            programs: points.into_iter().map(empty).collect(),
            passes: 0,
            started_ns: now_ns(),
        })
    }

    /// The run's number in the store.
    pub fn number(&self) -> u64 {
        self.recorder.number()
    }

    /// Adds a finished block, with the runs of each program in it.
    pub fn add(&mut self, block: &Block, runs: &[Vec<Timed>]) -> Result<()> {
        let at_ns = now_ns();
        for (program, runs) in runs.iter().enumerate() {
            let ratios = (program > 0).then(|| block.log_ratios(program));
            let mut ratios = ratios.into_iter().flatten();
            let samples = runs
                .iter()
                .flat_map(|timed| samples(timed, ratios.next(), at_ns));
            self.programs[program].samples.extend(samples);
        }
        if at_ns - self.started_ns >= STRETCH_NS {
            self.flush()?;
        }
        Ok(())
    }

    /// Stores the runs since the last time as a batch of each program.
    fn flush(&mut self) -> Result<()> {
        let (started_ns, end_ns) = (self.started_ns, now_ns());
        self.started_ns = end_ns;
        for program in &mut self.programs {
            let samples = std::mem::take(&mut program.samples);
            if samples.is_empty() {
                continue;
            }
            let batch = Batch {
                warm: true,
                started_ns,
                wall_ns: end_ns - started_ns,
                pass: Some(self.passes),
                samples,
                ..Batch::default()
            };
            take(&mut self.recorder, &self.definition, &program.point, &batch)?;
        }
        self.passes += 1;
        Ok(())
    }

    /// Ends the run: with the reason why the comparison ended, or the error that ended it.
    pub fn finish(mut self, ending: Result<Ending, String>) -> Result<()> {
        self.flush()?;
        let is_interrupted = ending == Ok(Ending::Stopped);
        let failure = match ending {
            Ok(Ending::Failed) => Some("it could not be measured further".to_owned()),
            Ok(_) => None,
            Err(reason) => Some(reason),
        };
        for Recorded { point, .. } in &self.programs {
            close(
                &mut self.recorder,
                &self.definition,
                point,
                failure.as_deref(),
            )?;
        }
        Ok(self.recorder.finish(is_interrupted)?)
    }
}

/// The verdicts on the programs of a stored comparison, from the ratios of its turns; nothing if the run has none.
pub fn verdicts(run: &Run) -> Vec<String> {
    let mut experiments = run.experiments.iter();
    let found = experiments.find(|it| it.definition.id == PROGRAMS);
    let points = found.map_or(&[][..], |it| &it.points);
    let ratios: Vec<Vec<(f64, u64)>> = points.iter().skip(1).map(ratios).collect();
    let Some(first) = ratios.first().filter(|ratios| !ratios.is_empty()) else {
        return Vec::new();
    };
    // The margin is in the command line. One that cannot be read has the usual margin.
    let usual = || Arguments::try_parse_from(["oscope", "ab", "true"]);
    let asked = Arguments::try_parse_from(&run.header.command_line).or_else(|_| usual());
    let Ok(Some(Command::Ab(arguments))) = asked.map(|it| it.command) else {
        return Vec::new();
    };
    let margin = arguments.pace.margin;
    let mut contest = Contest::new(points.len(), margin);
    let mut begin = 0;
    for block in first.chunk_by(|one, next| one.1 == next.1) {
        /// Any time will do: the ratios alone count.
        const FIRST_NS: f64 = 1e9;
        let turn = |turn: usize| {
            let rivals = ratios
                .iter()
                .map(|all| all.get(turn).map_or(1.0, |it| it.0) * FIRST_NS);
            iter::once(FIRST_NS).chain(rivals).collect()
        };
        contest.add(&Block::new(
            (begin..begin + block.len()).map(turn).collect(),
        ));
        begin += block.len();
    }
    let name = |index: usize| {
        let level = points[index].point.get(PROGRAM);
        level.map_or_else(String::new, ToString::to_string)
    };
    let verdict = |pair: Pair| {
        let without_time = Pair {
            needed: None,
            ..pair
        };
        sentence(&name(0), &name(without_time.rival), &without_time)
    };
    let verdicts = contest.pairs(0.0).into_iter().map(verdict);
    verdicts.chain([certainty(margin)]).collect()
}

/// The ratios of a program to the first, each with the end of its block.
fn ratios(point: &PointRecord) -> Vec<(f64, u64)> {
    let samples = point.batches.iter().flat_map(|batch| &batch.samples);
    let ratios = samples.filter_map(|sample| match sample.reading {
        Reading::Value(ratio) if sample.metric == RATIO => Some((ratio, sample.at_ns)),
        _ => None,
    });
    ratios.collect()
}

pub fn observe(recorder: &mut Recorder<'_>, event: &Event<'_>) -> Result<()> {
    recorder.observe(event).map_err(|error| anyhow!(error))
}

/// Stores a batch of a point.
pub fn take(
    recorder: &mut Recorder<'_>,
    definition: &Definition,
    point: &Point,
    batch: &Batch,
) -> Result<()> {
    let progress = runner::Progress {
        pass: batch.pass.map_or(0, |pass| pass as usize),
        passes: 1,
        done: 0,
        visits: 1,
        remaining: Nanoseconds(0.0),
    };
    let event = Event::Taken {
        definition,
        point,
        batch,
        estimates: &[],
        progress,
    };
    observe(recorder, &event)
}

/// Ends a point that could not be measured to its end. Others stay open: all their samples are judged when they are read.
pub fn close(
    recorder: &mut Recorder<'_>,
    definition: &Definition,
    point: &Point,
    failure: Option<&str>,
) -> Result<()> {
    let Some(reason) = failure else { return Ok(()) };
    let event = Event::Closed {
        definition,
        point,
        closing: &Closing {
            ending: runner::Ending::Failed(reason.to_owned()),
            warnings: Vec::new(),
        },
    };
    observe(recorder, &event)
}

pub fn definition() -> Definition {
    let time = |name, title| Metric::new(name, title, Unit::Nanoseconds, Better::Lower);
    Definition {
        id: PROGRAMS.into(),
        title: "Programs side by side".into(),
        question: "Which of these programs is faster, and by how much?".into(),
        // Without the programs' names: the text stays when a run is redacted.
        method: "The programs run by turns in blocks. Each block runs them in a random order and back, as \
             ABBA. Timed is each run from before the start of its process until its exit \
             is known, less the start of the shell with `--subtract-shell`. `ratio` is the time of a \
             program over that of the first in the same turn. A batch holds the runs of about half a \
             second, in whole blocks, and is a pass."
            .into(),
        source: "oscope ab".into(),
        axes: vec![Axis::choice(PROGRAM, PROGRAM)],
        metrics: vec![
            time("wall", "wall time"),
            time("user", "CPU time in user mode"),
            time("system", "CPU time in the kernel"),
            Metric::new("peak_memory", "peak memory", Unit::Bytes, Better::Lower),
            Metric::new(
                RATIO,
                "time over that of the first",
                Unit::Ratio,
                Better::Lower,
            ),
        ],
        isolation: Isolation::FreshProcess,
    }
}

/// Name of the comparison of programs in a record.
pub const PROGRAMS: &str = "ab.programs";

/// Name of its axis.
const PROGRAM: &str = "program";

/// Name of the metric that holds the ratios of the blocks.
const RATIO: &str = "ratio";

/// The samples of one run of a program. `ratio` is the log ratio of its time to that of the first in the same turn,
/// whose block ended at `block_ns`.
fn samples(timed: &Timed, ratio: Option<f64>, block_ns: u64) -> Vec<Sample> {
    let (usage, at_ns) = (timed.ran.finished.usage, timed.at_ns);
    let wall = Sample {
        usage,
        at_ns,
        ..Sample::new("wall", once(timed.ran.wall_ns))
    };
    let mut samples = vec![
        wall,
        value("user", usage.user_ns as f64, at_ns),
        value("system", usage.system_ns as f64, at_ns),
    ];
    let peak = timed.peak_bytes();
    samples.extend(peak.map(|bytes| value("peak_memory", bytes as f64, at_ns)));
    samples.extend(ratio.map(|ratio| value(RATIO, ratio.exp(), block_ns)));
    samples
}

fn once(wall_ns: u64) -> Reading {
    Reading::Once {
        work: 1.0,
        wall_ns,
        reference_ns: None,
        around: None,
    }
}

fn value(metric: &str, value: f64, at_ns: u64) -> Sample {
    Sample {
        at_ns,
        ..Sample::new(metric, Reading::Value(value))
    }
}
