//! The run model: everything measured by one start of oscope, with the machine it ran on.

use instrument::clock::Calibration;
use instrument::experiment::Definition;
use instrument::limits::Limited;
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::results::Results;
use instrument::runner::Ending;
pub use instrument::runner::{Closing, PointRecord};
use instrument::sample::Batch;
use instrument::trial;
use jiff::Timestamp;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

/// Everything measured by one start of oscope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The request, and the time and place of the run.
    pub header: Header,
    /// The machine.
    pub machine: Machine,
    /// The state of the machine.
    pub environment: Environment,
    /// The storage behind the scratch directory; `None` if the system does not report it.
    pub storage: Option<Storage>,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The experiments in execution order.
    pub experiments: Vec<ExperimentRecord>,
}

/// The request, and the time and place of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Globally unique identifier of the run: 32 hexadecimal digits, drawn at its start.
    pub id: String,
    /// The user's name for the run.
    pub name: Option<String>,
    /// The user's tags of the run: keys and values.
    pub tags: BTreeMap<String, String>,
    /// Start time.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// End time; `None` for a run that is in progress or was cut off.
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// True if a user stopped the run before its end.
    pub interrupted: bool,
    /// The profile, which sets duration and precision.
    pub profile: Profile,
    /// Wall time budget of the plan, in ns.
    pub budget_ns: f64,
    /// Seed of the order of the points.
    pub seed: u64,
    /// The command line, beginning with the program's name.
    pub command_line: Vec<String>,
    /// The version of oscope.
    pub version: String,
    /// The directory of the run's scratch files.
    pub directory: PathBuf,
    /// Identifier of the machine: [`Machine::fingerprint`].
    pub machine_fingerprint: String,
    /// True if checksums have covered the run since it was measured. False if it comes from a file
    /// without them: earlier damage then goes undetected.
    #[serde(default)]
    pub proven: bool,
    /// The run's resource limits, and its use of them; `None` for a run without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited: Option<Limited>,
    /// True if marks replace the names of the machine and its people
    /// ([`Redactor`](crate::Redactor)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

impl Header {
    /// True if the values are those that a publication printed: they were not measured by oscope, at
    /// no known time, and have no spread. Their version is `reported`.
    pub fn is_reported(&self) -> bool {
        self.version == "reported"
    }
}

/// Draws the id of a new run: 32 hexadecimal digits, 128 bits of the system's randomness.
///
/// # Errors
/// If the system provides no randomness.
pub fn draw_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The time of the wall clock, or the nearest that can be written as a date: a clock can be set far
/// beyond.
pub fn now() -> Timestamp {
    dated(SystemTime::now())
}

fn dated(time: SystemTime) -> Timestamp {
    let nearest = if time < SystemTime::UNIX_EPOCH {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::try_from(time).unwrap_or(nearest)
}

/// The record of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentRecord {
    /// The definition: the question and the metrics.
    pub definition: Definition,
    /// The reason why the experiment could not run at all; `None` if it ran.
    pub skipped: Option<String>,
    /// The points, in the order of the plan. Points that were never reached have no batches.
    pub points: Vec<PointRecord>,
}

/// The reason why a point was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<'r> {
    /// It could not be measured.
    Failed(&'r str),
    /// Nothing prevented it, but the time was used up before its turn.
    NotReached,
}

impl<'r> Failure<'r> {
    /// The reason as a sentence.
    pub fn reason(self) -> &'r str {
        match self {
            Self::Failed(reason) => reason,
            Self::NotReached => {
                "the time was used up before its turn came; give more with `--budget`"
            }
        }
    }
}

impl Run {
    /// Runs of one machine in one, of each point the newest that was measured. The newest run comes first and
    /// gives the header; `None` without runs.
    pub fn together(runs: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut runs = runs.into_iter();
        let mut all = runs.next()?;
        for older in runs.flat_map(|run| run.experiments) {
            let mut records = all.experiments.iter_mut();
            match records.find(|newer| newer.definition.id == older.definition.id) {
                Some(newer) => newer.add(older),
                None => all.experiments.push(older),
            }
        }
        Some(all)
    }

    /// The record of the experiment `id`.
    pub fn experiment(&self, id: &str) -> Option<&ExperimentRecord> {
        self.experiments
            .iter()
            .find(|experiment| experiment.definition.id == id)
    }

    /// The estimates of every experiment but for trials of settings, in execution order.
    pub fn results(&self) -> Vec<Results<'_>> {
        self.measured()
            .map(|record| record.results(&self.machine))
            .collect()
    }

    /// True if the run completed its plan.
    pub fn is_finished(&self) -> bool {
        self.header.ended.is_some() && !self.header.interrupted
    }

    /// The machine and its state, as a part of the run with its own checksum.
    pub(crate) fn surroundings(&self) -> (&Machine, &Environment, &Option<Storage>, &Calibration) {
        let Self {
            machine,
            environment,
            storage,
            calibration,
            ..
        } = self;
        (machine, environment, storage, calibration)
    }

    /// The experiments of the plan, without the trials of settings at the end of the run.
    pub fn measured(&self) -> impl Iterator<Item = &ExperimentRecord> {
        self.experiments.iter().filter(|record| !record.is_trial())
    }

    /// The points of all experiments.
    pub fn points(&self) -> impl Iterator<Item = &PointRecord> {
        self.experiments.iter().flat_map(|record| &record.points)
    }

    /// The batches of all points.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.points().flat_map(|record| &record.batches)
    }

    /// Number of samples in all experiments.
    pub fn sample_count(&self) -> usize {
        self.batches().map(|batch| batch.samples.len()).sum()
    }
}

impl ExperimentRecord {
    /// Adds the points of an older record that this one has not measured. Metrics of another version mean something
    /// else.
    fn add(&mut self, older: Self) {
        if self.definition.metrics != older.definition.metrics {
            return;
        }
        self.skipped = self.skipped.take().and(older.skipped);
        for record in older.points {
            let mut known = self.points.iter_mut();
            match known.find(|it| it.point == record.point) {
                Some(newer) if !newer.batches.is_empty() => {}
                Some(newer) => *newer = record,
                None => self.points.push(record),
            }
        }
    }

    /// True if it is the trial of a setting.
    pub fn is_trial(&self) -> bool {
        trial::is_trial(&self.definition.id)
    }

    /// The estimates of every point that has samples.
    pub fn results<'a>(&'a self, machine: &'a Machine) -> Results<'a> {
        let points = self.points.iter().filter(|point| !point.batches.is_empty());
        Results {
            definition: &self.definition,
            machine,
            points: points.map(|point| point.result(&self.definition)).collect(),
        }
    }

    /// The points that could not be measured, with the reasons.
    pub fn failures(&self) -> impl Iterator<Item = (&Point, Failure<'_>)> {
        self.points.iter().filter_map(|record| {
            let failure = match &record.closing.as_ref()?.ending {
                Ending::Failed(reason) => Failure::Failed(reason),
                Ending::BudgetUsed if record.batches.is_empty() => Failure::NotReached,
                _ => return None,
            };
            Some((&record.point, failure))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::dated;
    use jiff::Timestamp;
    use std::time::{Duration, SystemTime};

    #[test]
    fn every_time_has_a_date() {
        const EPOCH: SystemTime = SystemTime::UNIX_EPOCH;
        let far = Duration::from_hours(10_000 * 366 * 24);
        assert_eq!(dated(EPOCH), Timestamp::UNIX_EPOCH);
        assert_eq!(dated(EPOCH + far), Timestamp::MAX);
        match EPOCH.checked_sub(2 * far) {
            Some(past) => assert_eq!(dated(past), Timestamp::MIN),
            None => println!("skipped: a part, since this system's times begin later"),
        }
    }
}
