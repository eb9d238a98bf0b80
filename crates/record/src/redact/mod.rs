//! Redacts a run: marks replace everything that names its machine or people, so that the run can be
//! published.
//!
//! Measurements stay as they are, to the last bit of every number. The description of the machine's
//! kind stays: processor, caches, memory, kernel, settings. Every struct is destructured field by
//! field, so that a new field cannot be forgotten. Free text, such as a remark or an error of the
//! system, keeps only numbers and words that oscope or a kernel is known to use; see `text`.
//! `docs/sharing.md` lists what stays and what goes.

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

/// Replaces the names of a machine and its people by marks.
pub struct Redactor {
    marker: Marker,
}

impl Redactor {
    /// A redactor with this secret. Under one key, equal texts have equal marks in all runs, so
    /// that runs of one machine can be recognised as such. Without the key, nobody can find the
    /// text of a mark by trying.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            marker: Marker::new(key),
        }
    }

    /// A redactor with a random secret that is not stored.
    ///
    /// # Errors
    /// If the system provides no randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self::new(key))
    }

    /// The run without anything that names its machine or people. Its id and its numbers stay the
    /// same, except that the monotonic clock starts with the run instead of the machine. A redacted
    /// run stays unchanged.
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

    /// The definition is the program's own text, the same on every machine.
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
                // Warnings contain numbers and names of metrics.
                warnings,
            }),
        }
    }

    /// Choices are words of the program, or of the machine, such as the name of a device.
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
            pass,
            full_speed_ns,
            full_speed,
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
            pass,
            full_speed_ns,
            full_speed,
        }
    }

    fn prose(&self, text: &str) -> String {
        self.marker.text(text, Shape::Prose)
    }
}

/// The earliest time in the run by the machine's monotonic clock, which reveals the boot time.
fn start_ns(run: &Run) -> u64 {
    let points = run.experiments.iter().flat_map(|record| &record.points);
    let batches = points.flat_map(|record| &record.batches);
    let moments = batches.flat_map(|batch| {
        let samples = batch.samples.iter().map(|sample| sample.at_ns);
        samples.chain([batch.started_ns])
    });
    moments.min().unwrap_or(0)
}
