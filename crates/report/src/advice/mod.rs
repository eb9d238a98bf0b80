//! Advice for programs, derived from a run.

mod command;
mod files;
mod system;
mod undecided;
mod words;

pub use command::{Commands, commands, trial};
pub use files::{c_header, environment};
pub use system::{system, trial_experiments};
pub(crate) use undecided::{undecided, without_settings};
pub(crate) use words::{Gaining, by_audience, gain, gain_of, gaining, value};

use crate::show;
use advice::{Advice, FORMAT, Gain, Setting, Value};
use instrument::advice::{Audience, Rule};
use instrument::claim::Evidence;
use instrument::point::Level;
use instrument::quantity::Unit;
use record::Run;

/// All settings that the `evidence` supports, each with its rule.
pub(crate) fn found(evidence: &Evidence<'_>) -> Vec<(&'static Rule, instrument::advice::Advice)> {
    let rules = experiments::advice();
    rules
        .filter_map(|rule| Some((rule, (rule.find)(evidence)?)))
        .filter(|(_, found)| !found.because.is_vague())
        .collect()
}

/// The recommended settings for the machine of `run`, from those that were `found`.
pub(crate) fn advice(run: &Run, found: &[(&'static Rule, instrument::advice::Advice)]) -> Advice {
    let settings = found
        .iter()
        .map(|(rule, found)| (rule.setting.to_owned(), setting(rule, found)));
    Advice {
        format: FORMAT,
        measured: run.header.started.to_string(),
        machine: run.machine.cpu.model.clone(),
        machine_fingerprint: run.header.machine_fingerprint.clone(),
        run: run.header.id.clone(),
        settings: settings.collect(),
        system: Vec::new(),
    }
}

/// The people who can act on the setting called `name`; programs if this version does not know it.
fn audience(name: &str) -> Audience {
    let rule = experiments::advice().find(|rule| rule.setting == name);
    rule.map_or(Audience::Programs, |rule| rule.audience)
}

fn setting(rule: &Rule, found: &instrument::advice::Advice) -> Setting {
    let value = |level: &Level| match level {
        Level::Number(number) => Value::Number(*number),
        Level::Choice(choice) => Value::Choice(choice.clone()),
    };
    Setting {
        title: rule.title.into(),
        value: value(&found.value),
        unit: rule.unit.map(|unit| match unit {
            Unit::Bytes => "bytes".into(),
            Unit::Nanoseconds => "nanoseconds".into(),
            _ => "count".into(),
        }),
        usual: value(&found.usual),
        gain: found.gain.as_ref().map(|gain| Gain {
            ratio: gain.value,
            low: gain.interval.map(|interval| interval.low),
            high: gain.interval.map(|interval| interval.high),
        }),
        because: show::sentence(&found.because),
        experiments: rule.experiments.iter().map(|&id| id.into()).collect(),
    }
}
