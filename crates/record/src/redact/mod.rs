//! Redacting a run: everything in it that names its machine or people becomes a mark, so that it can be
//! shown to anybody.
//!
//! What is measured stays as it is, to the last bit of every number. What describes the kind of the
//! machine stays: processor, caches, memory, kernel, settings. Each field is one or the other, and every
//! struct is taken apart field by field, so that a new field cannot be forgotten. Text that may hold
//! anything, such as a remark or an error of the system, keeps only words that oscope or a kernel is known
//! to say, and numbers; see `text`. What stays and what goes is told in `docs/sharing.md`.

mod fields;
mod mark;
mod text;
mod words;

use crate::run::{Closing, ExperimentRecord, PointRecord, Run};
use instrument::point::{Level, Point};
use instrument::runner::Ending;
use instrument::sample::{Batch, Sample};
use mark::Marker;
use text::Shape;

/// Puts marks in the place of what names a machine and its people.
pub struct Redactor {
    marker: Marker,
}

impl Redactor {
    /// With the secret from which marks are made. Under one key, a text has the same mark in every run, so
    /// that runs of one machine are seen to be of one machine. Without the key, nobody can find out what a
    /// mark stands for by trying.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            marker: Marker::new(key),
        }
    }

    /// With a secret that is drawn now and kept nowhere.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self::new(key))
    }

    /// The run without anything that names its machine or people. Its id and its numbers are the same, but
    /// that the monotonic clock begins with the run and not with the machine. A run that is redacted stays
    /// as it is.
    pub fn run(&self, run: Run) -> Run {
        if run.header.redacted {
            return run;
        }
        let ids: Vec<&str> = run
            .experiments
            .iter()
            .map(|record| record.definition.id.as_str())
            .collect();
        let arguments = |line: &[String]| self.command_line(line, &ids);
        let header = self.header(&run.header, arguments(&run.header.command_line));
        let environment =
            self.environment(&run.environment, arguments(&run.environment.command_line));
        let start = start_ns(&run);
        let experiments = run.experiments.into_iter();
        Run {
            header,
            machine: self.machine(&run.machine),
            environment,
            storage: run.storage.as_ref().map(|storage| self.storage(storage)),
            calibration: run.calibration,
            experiments: experiments
                .map(|record| self.experiment(record, start))
                .collect(),
        }
    }

    /// The definition is the program's own text, the same wherever it runs.
    fn experiment(&self, record: ExperimentRecord, start: u64) -> ExperimentRecord {
        let ExperimentRecord {
            definition,
            skipped,
            points,
        } = record;
        ExperimentRecord {
            definition,
            skipped: skipped.map(|reason| self.prose(&reason)),
            points: points
                .into_iter()
                .map(|record| self.point(record, start))
                .collect(),
        }
    }

    fn point(&self, record: PointRecord, start: u64) -> PointRecord {
        let PointRecord {
            point,
            batches,
            closing,
        } = record;
        PointRecord {
            point: self.levels(&point),
            batches: batches
                .into_iter()
                .map(|batch| self.batch(batch, start))
                .collect(),
            closing: closing.map(|Closing { ending, warnings }| Closing {
                ending: match ending {
                    Ending::Failed(reason) => Ending::Failed(self.prose(&reason)),
                    Ending::TargetReached | Ending::BudgetUsed | Ending::Interrupted => ending,
                },
                // They hold numbers, and names of metrics.
                warnings,
            }),
        }
    }

    /// Choices are words of the program's own, or of the machine, as the name of a device would be.
    fn levels(&self, point: &Point) -> Point {
        point
            .levels()
            .fold(Point::new(), |redacted, (axis, level)| match level {
                Level::Number(number) => redacted.with(axis, *number),
                Level::Choice(choice) => redacted.with(axis, self.prose(choice).as_str()),
            })
    }

    fn batch(&self, batch: Batch, start: u64) -> Batch {
        let Batch {
            samples,
            remarks,
            warm,
            cpu,
            started_ns,
            wall_ns,
            disturbance,
        } = batch;
        let since_start = |sample: Sample| Sample {
            at_ns: sample.at_ns - start,
            ..sample
        };
        Batch {
            samples: samples.into_iter().map(since_start).collect(),
            remarks: remarks.iter().map(|remark| self.prose(remark)).collect(),
            warm,
            cpu,
            started_ns: started_ns - start,
            wall_ns,
            disturbance,
        }
    }

    fn prose(&self, text: &str) -> String {
        self.marker.text(text, Shape::Prose)
    }
}

/// The first moment in the run by the clock of the machine, which tells when that was switched on.
fn start_ns(run: &Run) -> u64 {
    let points = run.experiments.iter().flat_map(|record| &record.points);
    let batches = points.flat_map(|record| &record.batches);
    let moments = batches.flat_map(|batch| {
        let samples = batch.samples.iter().map(|sample| sample.at_ns);
        samples.chain([batch.started_ns])
    });
    moments.min().unwrap_or(0)
}
