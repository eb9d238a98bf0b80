//! Advice for programs, derived from a run.

mod files;
mod words;

pub use files::{c_header, environment};
pub use words::{FIRST, foremost, gain, ranked, value};

use crate::show;
use advice::{Advice, FORMAT, Gain, Setting, Value};
use instrument::advice::Rule;
use instrument::claim::Evidence;
use instrument::point::Level;
use instrument::quantity::Unit;
use record::Run;

/// The recommended settings for the machine of `run`: all that the `evidence` of its results
/// supports.
pub(crate) fn advice(run: &Run, evidence: &Evidence<'_>) -> Advice {
    let settings = experiments::advice().filter_map(|rule| {
        let found = (rule.find)(evidence)?;
        Some((rule.setting.to_owned(), setting(rule, &found)))
    });
    Advice {
        format: FORMAT,
        measured: run.header.started.to_string(),
        machine: run.machine.cpu.model.clone(),
        machine_fingerprint: run.header.machine_fingerprint.clone(),
        run: run.header.id.clone(),
        settings: settings.collect(),
    }
}

/// The settings that `run` does not support, each with the experiments it requires.
pub fn missing(told: &Advice) -> Vec<(&'static str, &'static [&'static str])> {
    experiments::advice()
        .filter(|rule| !told.settings.contains_key(rule.setting))
        .map(|rule| (rule.title, rule.experiments))
        .collect()
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
