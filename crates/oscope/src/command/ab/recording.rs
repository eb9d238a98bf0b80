//! The comparison as an experiment of a stored run.

use super::programs::Program;
use super::runs::Timed;
use crate::command::new_run;
use anyhow::{Result, anyhow};
use instrument::ab::{Block, Ending};
use instrument::definition::{Better, Definition, Isolation, Metric};
use instrument::estimate::mostly_computes;
use instrument::plan::Profile;
use instrument::point::{Axis, Point};
use instrument::quantity::{Nanoseconds, Unit};
use instrument::results::PointResult;
use instrument::runner::{self, Event, Observer};
use instrument::sample::{Batch, Reading, Sample};
use instrument::statistics::prediction::Centre;
use platform::clock::now_ns;
use platform::machine::Machine;
use platform::usage::Usage;
use record::store::{Recorder, Store};

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
    /// The runs that are not stored yet.
    rows: Vec<Row>,
    /// The stored batches, with a typical run in place of all.
    batches: Vec<Batch>,
    /// True if it mostly computes, as its first batch shows.
    is_work: Option<bool>,
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
        let point = |program: &Program| Point::new().with("program", program.name.as_str());
        let points: Vec<Point> = programs.iter().map(point).collect();
        let started = Event::Started {
            definition: &definition,
            points: &points,
        };
        observe(&mut recorder, &started)?;
        let empty = |point| Recorded {
            point,
            rows: Vec::new(),
            batches: Vec::new(),
            is_work: None,
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
            let rows = runs.iter().map(|timed| Row {
                wall_ns: timed.ran.wall_ns,
                usage: timed.ran.finished.usage,
                peak_bytes: timed.peak_bytes(),
                at_ns: timed.at_ns,
                ratio: ratios.next().map(|ratio| (ratio.exp(), at_ns)),
            });
            self.programs[program].rows.extend(rows);
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
            let rows = std::mem::take(&mut program.rows);
            if rows.is_empty() {
                continue;
            }
            let is_work = *program.is_work.get_or_insert_with(|| is_work(&rows));
            let batch = Batch {
                warm: true,
                started_ns,
                wall_ns: end_ns - started_ns,
                pass: Some(self.passes),
                samples: rows.iter().flat_map(samples).collect(),
                ..Batch::default()
            };
            take(&mut self.recorder, &self.definition, &program.point, &batch)?;
            program
                .batches
                .extend(typical(&rows, is_work).map(|typical| Batch {
                    samples: samples(&typical),
                    ..batch
                }));
        }
        self.passes += 1;
        Ok(())
    }

    /// Ends the run: with the reason why the comparison ended, or the error that ended it.
    pub fn finish(mut self, ending: Result<Ending, String>) -> Result<()> {
        self.flush()?;
        let is_interrupted = ending == Ok(Ending::Stopped);
        let ending = match ending {
            Ok(Ending::Decided) => runner::Ending::TargetReached,
            Ok(Ending::BudgetUsed | Ending::RunsUsed) => runner::Ending::BudgetUsed,
            Ok(Ending::Stopped) => runner::Ending::Interrupted,
            Ok(Ending::Failed) => runner::Ending::Failed("it could not be measured further".into()),
            Err(reason) => runner::Ending::Failed(reason),
        };
        for Recorded { point, batches, .. } in &self.programs {
            close(
                &mut self.recorder,
                &self.definition,
                point,
                batches,
                &ending,
            )?;
        }
        Ok(self.recorder.finish(is_interrupted)?)
    }
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

/// Ends a point with the warnings that these batches deserve.
pub fn close(
    recorder: &mut Recorder<'_>,
    definition: &Definition,
    point: &Point,
    batches: &[Batch],
    ending: &runner::Ending,
) -> Result<()> {
    let warnings = match batches {
        [] => Vec::new(),
        _ => PointResult::new(definition, point, batches, None).warnings,
    };
    let event = Event::Closed {
        definition,
        point,
        ending,
        warnings: &warnings,
    };
    observe(recorder, &event)
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

/// Name of the metric that holds the ratios of the blocks.
const RATIO: &str = "ratio";

/// One run of a program.
#[derive(Clone, Copy)]
struct Row {
    pub wall_ns: u64,
    pub usage: Usage,
    pub peak_bytes: Option<u64>,
    /// Its end.
    pub at_ns: u64,
    /// Its time over that of the first program in the same turn, and the end of their block.
    pub ratio: Option<(f64, u64)>,
}

/// True if these runs mostly compute.
fn is_work(rows: &[Row]) -> bool {
    let sum = |read: fn(&Row) -> u64| rows.iter().map(read).sum::<u64>();
    let cpu_ns = sum(|row| row.usage.user_ns + row.usage.system_ns);
    mostly_computes(cpu_ns, sum(|row| row.wall_ns) as f64)
}

/// A run in place of these: batches of such runs have the warnings of batches of all runs. `None` without runs.
fn typical(rows: &[Row], is_work: bool) -> Option<Row> {
    let centre_of = |centre: Centre, read: &dyn Fn(&Row) -> Option<f64>| {
        centre.of(&rows.iter().filter_map(read).collect::<Vec<_>>())
    };
    let median = |read: &dyn Fn(&Row) -> Option<f64>| centre_of(Centre::Median, read);
    let centre = if is_work {
        Centre::LowerQuartile
    } else {
        Centre::Median
    };
    Some(Row {
        wall_ns: centre_of(centre, &|row| Some(row.wall_ns as f64))? as u64,
        usage: Usage {
            user_ns: median(&|row| Some(row.usage.user_ns as f64))? as u64,
            system_ns: median(&|row| Some(row.usage.system_ns as f64))? as u64,
            ..Usage::default()
        },
        peak_bytes: median(&|row| Some(row.peak_bytes? as f64)).map(|bytes| bytes as u64),
        at_ns: 0,
        ratio: median(&|row| Some(row.ratio?.0)).map(|ratio| (ratio, 0)),
    })
}

/// The samples of one run of a program.
fn samples(row: &Row) -> Vec<Sample> {
    let Row { usage, at_ns, .. } = *row;
    let wall = Sample {
        usage,
        at_ns,
        ..Sample::new("wall", once(row.wall_ns))
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

#[cfg(test)]
mod tests {
    use super::{Row, definition, is_work, samples, typical};
    use instrument::noise::Warning;
    use instrument::point::Point;
    use instrument::results::PointResult;
    use instrument::sample::Batch;
    use platform::usage::Usage;

    /// The rows of a batch whose runs take about `wall_ns`, of which they compute `share`.
    fn rows(wall_ns: f64, share: f64) -> Vec<Row> {
        let row = |index: u64| {
            let wall_ns = wall_ns * [1.0, 1.4, 1.01, 1.7, 0.99][index as usize % 5];
            Row {
                wall_ns: wall_ns as u64,
                usage: Usage {
                    user_ns: (wall_ns * share) as u64,
                    system_ns: 1000 * index,
                    ..Usage::default()
                },
                // Some peaks are below what can be seen.
                peak_bytes: index.is_multiple_of(3).then_some(1 << 20),
                at_ns: index,
                ratio: Some((1.0 + wall_ns / 1e9, index)),
            }
        };
        (0..40).map(row).collect()
    }

    fn result(batches: &[Batch]) -> PointResult {
        PointResult::new(&definition(), &Point::new(), batches, None)
    }

    #[test]
    fn batches_of_a_typical_run_have_the_warnings_of_all_runs() {
        let steady: fn(usize) -> f64 = |_| 1.0;
        let drifting: fn(usize) -> f64 = |pass| 1.0 + pass as f64 / 10.0;
        let two_modes: fn(usize) -> f64 = |pass| if pass.is_multiple_of(2) { 1.0 } else { 3.0 };
        let mut kinds = Vec::new();
        for share in [0.1, 0.9] {
            for course in [steady, drifting, two_modes] {
                let (mut all, mut short): (Vec<Batch>, Vec<Batch>) = (Vec::new(), Vec::new());
                for pass in 0..30_u32 {
                    let noise = 1.0 + f64::from(pass * 7 % 5) / 1000.0;
                    let rows = rows(1e6 * course(pass as usize) * noise, share);
                    let batch = |samples| Batch {
                        warm: true,
                        pass: Some(pass),
                        samples,
                        ..Batch::default()
                    };
                    all.push(batch(rows.iter().flat_map(samples).collect()));
                    assert_eq!(is_work(&rows), share > 0.5);
                    let typical = typical(&rows, share > 0.5).unwrap();
                    short.push(batch(samples(&typical)));
                }
                let (all, short) = (result(&all), result(&short));
                let named = |result: &PointResult| {
                    let named = |warning: &Warning| (warning.label(), warning.touches("wall"));
                    result.warnings.iter().map(named).collect::<Vec<_>>()
                };
                assert_eq!(named(&all), named(&short), "{share}");
                for (all, short) in all.estimates.iter().zip(&short.estimates) {
                    let distance = (all.centre - short.centre).abs();
                    assert!(distance <= 1e-5 * all.centre, "{all:?} {short:?}");
                }
                kinds.extend(named(&short));
            }
        }
        for label in ["drift", "several modes"] {
            assert!(kinds.contains(&(label, true)), "{kinds:?}");
        }
    }
}
