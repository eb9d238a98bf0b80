//! Redacts a run: marks replace everything that names its machine or people, so that the run can be
//! published.
//!
//! Measurements stay as they are, to the last bit of every number. The description of the machine's
//! kind stays: processor, caches, memory, kernel, settings. Every struct is destructured field by
//! field, so that a new field cannot be forgotten. Free text, such as a remark or an error of the
//! system, keeps only numbers and words that oscope or a kernel is known to use; see `text`.
//! `docs/guide/sharing.md` lists what stays and what goes.

mod fields;
mod mark;
mod text;
mod words;

use crate::run::{Closing, ExperimentRecord, PointRecord, Run};
use instrument::point::{Level, Point};
use instrument::runner::Ending;
use instrument::sample::Batch;
pub use mark::{Redactor, machine_mark};
use text::Shape;

impl Redactor {
    /// The run without anything that names its machine or people. Its id and its numbers stay the
    /// same, except that the monotonic clock starts with the run instead of the machine. A redacted
    /// run stays unchanged.
    pub fn run(&self, mut run: Run) -> Run {
        if run.header.redacted {
            return run;
        }
        let start_ns = start_ns(&run);
        let Run {
            header,
            machine,
            environment,
            storage,
            experiments,
            calibration: _,
        } = &mut run;
        let ids = experiments.iter().map(|it| it.definition.id.clone());
        let ids: Vec<String> = ids.collect();
        self.header(header, &ids);
        self.machine(machine);
        self.environment(environment, &ids);
        if let Some(storage) = storage {
            self.storage(storage);
        }
        for record in experiments {
            self.experiment(record, start_ns);
        }
        run
    }

    fn experiment(&self, record: &mut ExperimentRecord, start_ns: u64) {
        let ExperimentRecord {
            skipped,
            points,
            // The program's own text, the same on every machine.
            definition: _,
        } = record;
        self.keep(Shape::Prose, skipped);
        for record in points {
            let PointRecord {
                point,
                batches,
                closing,
            } = record;
            *point = self.levels(point);
            for batch in batches {
                self.batch(batch, start_ns);
            }
            // Warnings contain numbers and names of metrics.
            if let Some(Closing {
                ending: Ending::Failed(reason),
                warnings: _,
            }) = closing
            {
                *reason = self.text(reason, Shape::Prose);
            }
        }
    }

    /// Choices are words of the program, or of the machine, such as the name of a device.
    fn levels(&self, point: &Point) -> Point {
        point
            .levels()
            .fold(Point::new(), |redacted, (axis, level)| match level {
                Level::Number(number) => redacted.with(axis, *number),
                Level::Choice(choice) => {
                    redacted.with(axis, self.text(choice, Shape::Prose).as_str())
                }
            })
    }

    fn batch(&self, batch: &mut Batch, start_ns: u64) {
        let Batch {
            samples,
            remarks,
            started_ns,
            warm: _,
            cpu: _,
            wall_ns: _,
            disturbance: _,
            pass: _,
            full_speed: _,
        } = batch;
        self.keep(Shape::Prose, remarks);
        *started_ns -= start_ns;
        for sample in samples {
            sample.at_ns -= start_ns;
        }
    }
}

/// The earliest time in the run by the machine's monotonic clock, which reveals the boot time.
fn start_ns(run: &Run) -> u64 {
    let moments = run.batches().flat_map(|batch| {
        let samples = batch.samples.iter().map(|sample| sample.at_ns);
        samples.chain([batch.started_ns])
    });
    moments.min().unwrap_or(0)
}
