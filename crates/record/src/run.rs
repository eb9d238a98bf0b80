//! The run model: everything measured by one start of oscope, with the machine it ran on.

use instrument::experiment::Definition;
use instrument::limits::Limited;
use instrument::noise::Warning;
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::results::{PointResult, Results};
use instrument::runner::Ending;
use instrument::sample::Batch;
use jiff::Timestamp;
use platform::clock::Calibration;
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
    /// What was asked for, when and where.
    pub header: Header,
    /// The machine.
    pub machine: Machine,
    /// The state that the machine was in.
    pub environment: Environment,
    /// What lies behind the scratch directory; `None` where the system does not tell.
    pub storage: Option<Storage>,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The experiments in the order in which they ran.
    pub experiments: Vec<ExperimentRecord>,
}

/// What was asked for, when and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Names the run in all the world: 32 hexadecimal digits drawn at its start.
    pub id: String,
    /// The name that the user gave it.
    pub name: Option<String>,
    /// What else the user wanted to remember of it.
    pub tags: BTreeMap<String, String>,
    /// When it started.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// When it ended; `None` for a run that is under way or was cut off.
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// Whether someone stopped it before its end.
    pub interrupted: bool,
    /// How long and how precise.
    pub profile: Profile,
    /// Wall time that the plan allowed, in ns.
    pub budget_ns: f64,
    /// Decides the order of the points.
    pub seed: u64,
    /// The command line, the program's name first.
    pub command_line: Vec<String>,
    /// The version of oscope.
    pub version: String,
    /// Where its scratch files went.
    pub directory: PathBuf,
    /// Names the machine: [`Machine::fingerprint`].
    pub machine_fingerprint: String,
    /// Whether checksums have covered the run since it was measured. An older oscope kept or exported
    /// it without them otherwise, and damage before that cannot be told.
    #[serde(default)]
    pub proven: bool,
    /// What the run might take of the machine, and what it took; `None` where it had no limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited: Option<Limited>,
    /// Whether marks stand in the place of what named the machine and its people
    /// ([`Redactor`](crate::Redactor)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// Draws the id of a new run: 32 hexadecimal digits, 128 bits of the system's randomness.
///
/// # Errors
/// Where the system has no randomness to give.
pub fn draw_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The time on the wall clock, or the nearest that has a date in the years that dates are written for: a
/// clock can be set beyond them.
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

/// What one experiment gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentRecord {
    /// What was asked and measured.
    pub definition: Definition,
    /// Why it could not run at all; `None` if it did.
    pub skipped: Option<String>,
    /// Its points, in the order of the plan; those that were never reached have no batch.
    pub points: Vec<PointRecord>,
}

/// What one point gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointRecord {
    /// The point.
    pub point: Point,
    /// In the order in which they were taken.
    pub batches: Vec<Batch>,
    /// How it ended; `None` where the run was cut off before.
    pub closing: Option<Closing>,
}

/// Why a point has no samples although nothing stood in its way.
pub const NOT_REACHED: &str =
    "the time was used up before its turn came; give more with `--budget`";

/// How a point ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Closing {
    /// Why no more samples were taken.
    pub ending: Ending,
    /// What casts doubt on its numbers.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// What the experiment called `id` gave.
    pub fn experiment(&self, id: &str) -> Option<&ExperimentRecord> {
        self.experiments
            .iter()
            .find(|experiment| experiment.definition.id == id)
    }

    /// Whether it came to the end of its plan.
    pub fn is_finished(&self) -> bool {
        self.header.ended.is_some() && !self.header.interrupted
    }

    /// Number of samples in all experiments.
    pub fn sample_count(&self) -> usize {
        let points = self
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.points);
        points
            .flat_map(|point| &point.batches)
            .map(|batch| batch.samples.len())
            .sum()
    }
}

impl ExperimentRecord {
    /// The estimates of every point that gave samples.
    pub fn results<'a>(&'a self, machine: &'a Machine) -> Results<'a> {
        let points = self.points.iter().filter(|point| !point.batches.is_empty());
        Results {
            definition: &self.definition,
            machine,
            points: points.map(|point| point.result(&self.definition)).collect(),
        }
    }

    /// The points that could not be measured, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&Point, &str)> {
        self.points.iter().filter_map(|record| {
            let reason = match &record.closing.as_ref()?.ending {
                Ending::Failed(reason) => reason,
                Ending::BudgetUsed if record.batches.is_empty() => NOT_REACHED,
                _ => return None,
            };
            Some((&record.point, reason))
        })
    }
}

impl PointRecord {
    /// Its estimates and warnings.
    pub fn result(&self, definition: &Definition) -> PointResult {
        let recorded = self
            .closing
            .as_ref()
            .map(|closing| closing.warnings.as_slice());
        PointResult::new(definition, &self.point, &self.batches, recorded)
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
        assert_eq!(dated(EPOCH - 2 * far), Timestamp::MIN);
    }
}
