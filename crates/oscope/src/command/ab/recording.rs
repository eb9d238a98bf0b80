//! The comparison as an experiment of a stored run.

use super::programs::Program;
use super::timed::Timed;
use anyhow::{Context, Result, anyhow};
use instrument::ab::{Block, Ending};
use instrument::clock::calibrate;
use instrument::definition::{Better, Definition, Isolation, Metric};
use instrument::plan::Profile;
use instrument::point::{Axis, Point};
use instrument::quantity::{Nanoseconds, Unit};
use instrument::results::PointResult;
use instrument::runner::{self, Event, Observer};
use instrument::sample::{Batch, Disturbance, Reading, Sample};
use platform::clock::now_ns;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use platform::usage::Usage;
use record::store::{Recorder, Store};
use record::{Header, Run, draw_id, now};
use std::ops::Range;
use std::path::Path;

/// Length of the stretches of time whose blocks are stored together: as a batch of each program, and
/// as a pass.
const STRETCH_NS: u64 = 500_000_000;

/// Name of the metric that holds the ratios of the blocks.
const RATIO: &str = "ratio";

/// Records the runs of a comparison.
pub struct Recording<'s> {
    recorder: Recorder<'s>,
    definition: Definition,
    points: Vec<Point>,
    /// All runs of each program so far. Their samples would take several times the memory.
    rows: Vec<Vec<Row>>,
    /// The stretches of each program that are stored as batches, one after the other.
    stretches: Vec<Vec<Stretch>>,
    /// Number of passes so far: stretches of whole blocks, in which each program ran.
    passes: u32,
    started_ns: u64,
}

/// One run of a program.
#[derive(Clone, Copy)]
struct Row {
    wall_ns: u64,
    usage: Usage,
    peak_bytes: Option<u64>,
    /// Its end.
    at_ns: u64,
    /// Its time over that of the first program in the same turn, and the end of their block.
    ratio: Option<(f64, u64)>,
}

/// Runs that are stored as one batch.
struct Stretch {
    runs: Range<usize>,
    started_ns: u64,
    wall_ns: u64,
    pass: u32,
}

impl<'s> Recording<'s> {
    /// Starts a run in the store.
    pub fn begin(
        store: &'s mut Store,
        programs: &[Program],
        seed: u64,
        budget: Option<Nanoseconds>,
    ) -> Result<Self> {
        let recorder = store.begin(&run(seed, budget)?)?;
        let points: Vec<_> = programs
            .iter()
            .map(|program| Point::new().with("program", program.name.as_str()))
            .collect();
        let mut recording = Self {
            recorder,
            definition: definition(),
            rows: vec![Vec::new(); points.len()],
            stretches: points.iter().map(|_| Vec::new()).collect(),
            passes: 0,
            points,
            started_ns: now_ns(),
        };
        let Self {
            recorder,
            definition,
            points,
            ..
        } = &mut recording;
        tell(recorder, &Event::Started { definition, points })?;
        Ok(recording)
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
            self.rows[program].extend(runs.iter().map(|timed| Row {
                wall_ns: timed.ran.wall_ns,
                usage: timed.ran.finished.usage,
                peak_bytes: timed.peak_bytes(),
                at_ns: timed.at_ns,
                ratio: ratios.next().map(|ratio| (ratio.exp(), at_ns)),
            }));
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
        for index in 0..self.points.len() {
            let stored = self.stretches[index].last().map_or(0, |last| last.runs.end);
            let stretch = Stretch {
                runs: stored..self.rows[index].len(),
                started_ns,
                wall_ns: end_ns - started_ns,
                pass: self.passes,
            };
            if stretch.runs.is_empty() {
                continue;
            }
            let batch = stretch.batch(&self.rows[index]);
            let event = Event::Taken {
                definition: &self.definition,
                point: &self.points[index],
                batch: &batch,
                estimates: &[],
                progress: runner::Progress {
                    pass: self.passes as usize,
                    passes: 1,
                    done: 0,
                    visits: self.points.len(),
                    remaining: Nanoseconds(0.0),
                },
            };
            tell(&mut self.recorder, &event)?;
            self.stretches[index].push(stretch);
        }
        self.passes += 1;
        Ok(())
    }

    /// Ends the run: with the reason why the comparison ended, or the error that ended it.
    pub fn finish(mut self, ending: Result<Ending, String>) -> Result<()> {
        self.flush()?;
        let is_interrupted = ending == Ok(Ending::Stopped);
        let ending = match ending {
            Ok(Ending::Told) => runner::Ending::TargetReached,
            Ok(Ending::BudgetUsed | Ending::RunsUsed) => runner::Ending::BudgetUsed,
            Ok(Ending::Stopped) => runner::Ending::Interrupted,
            Ok(Ending::Failed) => runner::Ending::Failed("it could not be measured further".into()),
            Err(reason) => runner::Ending::Failed(reason),
        };
        for (index, point) in self.points.iter().enumerate() {
            let stretches = self.stretches[index].iter();
            let batches: Vec<_> = stretches.map(|it| it.batch(&self.rows[index])).collect();
            let result = PointResult::new(&self.definition, point, &batches, None);
            let event = Event::Closed {
                definition: &self.definition,
                point,
                ending: &ending,
                warnings: &result.warnings,
            };
            tell(&mut self.recorder, &event)?;
        }
        Ok(self.recorder.finish(is_interrupted)?)
    }
}

pub fn tell(recorder: &mut Recorder<'_>, event: &Event<'_>) -> Result<()> {
    recorder.observe(event).map_err(|error| anyhow!(error))
}

impl Stretch {
    fn batch(&self, rows: &[Row]) -> Batch {
        Batch {
            warm: true,
            started_ns: self.started_ns,
            wall_ns: self.wall_ns,
            disturbance: Disturbance::default(),
            pass: Some(self.pass),
            samples: rows[self.runs.clone()].iter().flat_map(samples).collect(),
            ..Batch::default()
        }
    }
}

/// The samples of one run of a program.
fn samples(row: &Row) -> Vec<Sample> {
    let Row { usage, at_ns, .. } = *row;
    let wall = Sample {
        metric: "wall".into(),
        reading: Reading::Once {
            work: 1.0,
            wall_ns: row.wall_ns,
            reference_ns: None,
            around: None,
        },
        usage,
        at_ns,
    };
    let mut samples = vec![
        wall,
        value("user", usage.user_ns as f64, at_ns),
        value("system", usage.system_ns as f64, at_ns),
    ];
    let peak = row.peak_bytes;
    samples.extend(peak.map(|bytes| value("peak_memory", bytes as f64, at_ns)));
    samples.extend(row.ratio.map(|(ratio, at_ns)| value(RATIO, ratio, at_ns)));
    samples
}

fn value(metric: &str, value: f64, at_ns: u64) -> Sample {
    Sample {
        at_ns,
        ..Sample::new(metric, Reading::Value(value))
    }
}

fn definition() -> Definition {
    let time = |name, title| Metric::new(name, title, Unit::Nanoseconds, Better::Lower);
    Definition {
        id: "ab.programs".into(),
        title: "Programs side by side".into(),
        question: "Which of these programs is faster, and by how much?".into(),
        // Without the programs' names: the text stays when a run is redacted.
        method: "The programs run by turns in blocks. Each block runs them in a random order and back, as \
             ABBA. Timed is each run from before the start of its process until its exit \
             is known. `ratio` is the time of a program over that of the first in the same turn. A \
             batch holds the runs of about half a second, in whole blocks, and is a pass."
            .into(),
        source: "oscope ab".into(),
        axes: vec![Axis::choice("program", "program")],
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

/// The run before its first sample.
pub fn run(seed: u64, budget: Option<Nanoseconds>) -> Result<Run> {
    let environment = Environment::read();
    let machine = Machine::read();
    let directory = std::env::current_dir().unwrap_or_else(|_| ".".into());
    let header = Header {
        id: draw_id().context("the system gives no random numbers")?,
        name: None,
        tags: [].into(),
        started: now(),
        ended: None,
        interrupted: false,
        profile: Profile::Quick,
        budget_ns: budget.map_or(0.0, |budget| budget.0),
        seed,
        command_line: environment.command_line.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        directory: directory.to_string_lossy().into_owned().into(),
        machine_fingerprint: machine.fingerprint(),
        proven: true,
        limited: None,
        redacted: false,
    };
    Ok(Run {
        header,
        machine,
        environment,
        storage: Storage::behind(Path::new(".")).ok(),
        calibration: calibrate(),
        experiments: Vec::new(),
    })
}
