//! Reference machines: values of machines that a run is compared with if their processor, hypervisor and system are
//! the same, so that a reader learns what is slow or fast for such a machine.
//!
//! A reference is made from a redacted run. It contains no free text but the names of its processor and system.
//! Those in `reference/machines` are part of the program.

mod from_run;
mod nearest;
mod unusual;
mod values;

pub use from_run::Unfit;
pub(crate) use nearest::Nearest;
pub(crate) use unusual::Unusual;

use crate::format::{self, Unreadable};
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::quantity::{Quantity, Unit};
use instrument::statistics::Interval;
use jiff::Timestamp;
use record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The version of the file of a reference machine.
const FORMAT: u32 = 1;

/// The references that are part of the program.
const SHIPPED: &[&str] = &[include_str!(
    "../../../../reference/machines/authenticamd-25-17-kvm-linux-fba1542e.json"
)];

/// A machine by whose values others of its kind are judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceMachine {
    /// The version of this document.
    format: u32,
    /// Hash of the fingerprint of the machine, by which it is not compared with itself ([`record::machine_mark`]).
    pub mark: String,
    /// Id of the run that the values are from.
    pub run: String,
    /// What machines have in common that are compared.
    pub kind: Kind,
    /// The machine for readers.
    pub machine: String,
    /// Start time of the run.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// Profile of the run.
    pub profile: Profile,
    /// The version of oscope that measured.
    pub version: String,
    /// The conditions of the run, in sentences.
    pub conditions: Vec<String>,
    /// The values that were not disturbed.
    pub values: Vec<Value>,
    /// What is left out since something disturbed its values.
    pub disturbed: Vec<String>,
}

/// A value of a reference machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Value {
    /// Id of the experiment.
    pub experiment: String,
    /// Name of the metric.
    pub metric: String,
    /// Version of the metric's definition.
    pub version: u32,
    /// The point.
    pub point: Point,
    /// Unit of the value. A rate of operations is given as the time of one.
    pub unit: Unit,
    /// The value.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
}

impl Value {
    /// What values of one thing share that were measured in one way.
    fn key(&self) -> (&str, &str, u32, &Point, Unit) {
        (
            &self.experiment,
            &self.metric,
            self.version,
            &self.point,
            self.unit,
        )
    }

    fn quantity(&self) -> Quantity {
        Quantity::new(self.value, Some(self.interval), self.unit)
    }
}

/// A reference machine, and where it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Located {
    /// Its file; `None` if it is part of the program.
    pub file: Option<PathBuf>,
    /// The reference.
    pub machine: ReferenceMachine,
}

/// What machines have in common that are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kind {
    /// Vendor of the processor; on ARM the implementer's code.
    pub vendor: String,
    /// x86 family; on ARM the part number.
    pub family: u32,
    /// x86 model number; on ARM the variant.
    pub model_number: u32,
    /// The hypervisor; `None` without one, or if it is hidden.
    pub hypervisor: Option<String>,
    /// The kernel's name: `Linux`.
    pub system: String,
}

/// The references that are part of the program.
pub fn shipped() -> &'static [ReferenceMachine] {
    static SHIPPED_MACHINES: OnceLock<Vec<ReferenceMachine>> = OnceLock::new();
    SHIPPED_MACHINES.get_or_init(|| {
        let read = |text: &&str| ReferenceMachine::read(text).expect("a test reads every one");
        SHIPPED.iter().map(read).collect()
    })
}

impl ReferenceMachine {
    /// The reference in the text of a file.
    ///
    /// # Errors
    /// If the text is no reference, or one of an unknown version.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        format::read(text, "reference machine", FORMAT)
    }

    /// The name of its file, the same for each run of the machine.
    pub fn file_name(&self) -> String {
        let Kind {
            vendor,
            family,
            model_number,
            hypervisor,
            system,
        } = &self.kind;
        let hypervisor = hypervisor.as_deref().unwrap_or("bare");
        let mark = self.mark.get(..8).unwrap_or(&self.mark);
        let name = format!("{vendor}-{family}-{model_number}-{hypervisor}-{system}-{mark}.json");
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        name.to_lowercase().replace(|letter| !is_plain(letter), "-")
    }
}

impl Kind {
    /// The kind of the machine of `run`; `None` if the record does not show it, or if another program stood in for the
    /// system.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let (cpu, environment) = (&run.machine.cpu, &run.environment);
        if environment.stand_in.is_some() || run.header.is_reported() {
            return None;
        }
        Some(Self {
            vendor: cpu.vendor.clone()?,
            family: cpu.family?,
            model_number: cpu.model_number?,
            hypervisor: run.machine.hypervisor.clone(),
            system: environment.kernel_name.clone()?,
        })
    }

    /// As in a sentence: `this processor under KVM`.
    fn words(&self) -> String {
        match &self.hypervisor {
            Some(name) => format!("this processor under {name}"),
            None => "this processor".to_owned(),
        }
    }
}

#[cfg(test)]
mod made_up {
    use super::values::Compared;
    use super::{ReferenceMachine, Value, shipped};
    use instrument::experiment::Better;
    use instrument::point::Point;
    use instrument::quantity::Unit;
    use instrument::statistics::Interval;
    use jiff::Timestamp;

    /// A time of `call` known to one per cent.
    pub fn time(call: &str, ns: f64) -> Value {
        Value {
            experiment: "made.up".into(),
            metric: "rate".into(),
            version: 1,
            point: Point::new().with("call", call),
            unit: Unit::Nanoseconds,
            value: ns,
            interval: Interval::new(ns * 0.99, ns * 1.01).expect("in order"),
        }
    }

    pub fn own(value: Value) -> Compared {
        let what = value.point.levels().map(|(_, level)| level.to_string());
        Compared {
            what: what.collect(),
            value,
            better: Better::Lower,
            is_disturbed: false,
        }
    }

    pub fn machine(mark: &str, values: Vec<Value>) -> ReferenceMachine {
        ReferenceMachine {
            mark: mark.into(),
            run: format!("run of {mark}"),
            started: Timestamp::UNIX_EPOCH,
            values,
            ..shipped()[0].clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ReferenceMachine, SHIPPED, shipped};
    use std::collections::BTreeSet;

    #[test]
    fn shipped_references_are_read_and_are_of_different_machines() {
        let names: BTreeSet<String> = shipped().iter().map(ReferenceMachine::file_name).collect();
        assert_eq!(names.len(), SHIPPED.len());
        for machine in shipped() {
            assert!(!machine.values.is_empty(), "{}", machine.file_name());
        }
    }

    #[test]
    fn a_file_of_another_version_or_of_something_else_is_refused() {
        let newer = ReferenceMachine::read(r#"{ "format": 2, "kind": "other" }"#);
        let newer = newer.unwrap_err().to_string();
        assert!(newer.starts_with("format 2 of a"), "{newer}");
        for text in ["", "{}", r#"{ "format": 1 }"#] {
            let refused = ReferenceMachine::read(text).unwrap_err().to_string();
            assert!(
                refused.starts_with("it is no reference machine: "),
                "{refused}"
            );
        }
    }
}
