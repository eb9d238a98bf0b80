//! The comparison as an experiment of a stored run.

use super::programs::Program;
use super::stretch::{RATIO, Row, Stretch};
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
use platform::clock::now_ns;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use record::store::{Recorder, Store};
use record::{Header, Run, draw_id, now};
use std::path::Path;

/// Length of the stretches of time whose blocks are stored together: as a batch of each program, and
/// as a pass.
const STRETCH_NS: u64 = 500_000_000;

/// Records the runs of a comparison.
pub struct Recording<'s> {
    recorder: Recorder<'s>,
    definition: Definition,
    points: Vec<Point>,
    /// The runs of each program that are not stored yet.
    rows: Vec<Vec<Row>>,
    /// The stretches of each program that are stored as batches, one after the other.
    stretches: Vec<Vec<Stretch>>,
    /// Number of passes so far: stretches of whole blocks, in which each program ran.
    passes: u32,
    started_ns: u64,
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
            let rows = std::mem::take(&mut self.rows[index]);
            let Some(stretch) = Stretch::new(&rows, started_ns, end_ns, self.passes) else {
                continue;
            };
            let batch = stretch.batch(&rows);
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
            let batches = Stretch::batches_in_short(&self.stretches[index]);
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

pub fn definition() -> Definition {
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
