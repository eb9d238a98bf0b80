//! Advice for programs, derived from a run.

mod guide;
mod system;
mod undecided;
mod words;

pub use guide::{Candidate, Guide, Guides, Tried, candidates};
pub use system::{system, trial_experiments};
pub(crate) use undecided::{is_untried, undecided, without_settings};
pub use words::{FIRST, action, value};
pub(crate) use words::{Gaining, by_audience, gain, gain_of, gaining};

use crate::show;
use advice::{Advice, FORMAT, Gain, Setting, Value};
use instrument::advice::{Audience, Rule};
use instrument::grading;
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::statistics::Interval;
use record::Run;

/// A setting that the measurements of a run support, with its rule.
pub(crate) type Found = (&'static Rule, instrument::advice::Advice);

/// All settings that these results support.
pub(crate) fn found(results: &[Results<'_>]) -> Vec<Found> {
    let rules = experiments::advice();
    rules
        .filter_map(|rule| Some((rule, grading::advice(rule, results)?)))
        .filter(|(_, found)| !found.because.is_vague())
        .collect()
}

/// The recommended settings for the machine of `run`, from those that were `found`: without those whose
/// trial in the run showed no gain, and with the gain that the trial showed for others.
pub(crate) fn advice(run: &Run, found: &[Found]) -> (Advice, Guides) {
    let guides = guide::guides(run, found);
    let settings = found.iter().filter_map(|(rule, found)| {
        let setting = setting(rule, found);
        let gain = match guides.get(rule.setting).map(|guide| &guide.tried) {
            Some(Tried::Refuted(_)) => return None,
            Some(Tried::Confirmed(outcome)) => Some(stored(outcome.gain, outcome.interval)),
            Some(Tried::Open) | None => setting.gain,
        };
        Some((rule.setting.to_owned(), Setting { gain, ..setting }))
    });
    let advice = Advice {
        format: FORMAT,
        measured: run.header.started.to_string(),
        machine: run.machine.cpu.model.clone(),
        machine_fingerprint: run.header.machine_fingerprint.clone(),
        run: run.header.id.clone(),
        settings: settings.collect(),
        system: Vec::new(),
    };
    (advice, guides)
}

/// The people who can act on the setting called `name`; programs if this version does not know it.
fn audience(name: &str) -> Audience {
    let rule = experiments::advice().find(|rule| rule.setting == name);
    rule.map_or(Audience::Programs, |rule| rule.audience)
}

/// A gain as programs load it.
fn stored(ratio: f64, interval: Option<Interval>) -> Gain {
    Gain {
        ratio,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    }
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
        gain: found.gain.map(|gain| stored(gain.value, gain.interval)),
        because: show::sentence(&found.because),
        experiments: (rule.basis.experiments().iter())
            .map(|&id| id.into())
            .collect(),
    }
}
