//! Advice as text.

use super::{Guide, Tried, audience};
use crate::lists::capitalised;
use crate::{Analysis, show};
use advice::{Advice, Gain, Setting, Value};
use instrument::advice::{Action, Audience};
use instrument::finding::Finding;
use instrument::quantity::{Known, Quantity, Unit};
use instrument::statistics::Interval;

/// Number of settings that a reader can remember.
pub const FIRST: usize = 3;

/// A setting that was tried and gains, in words.
pub(crate) struct Gaining {
    pub(crate) title: String,
    pub(crate) value: String,
    pub(crate) usual: String,
    /// The gain and its interval.
    pub(crate) gain: (String, Option<String>),
    /// What to do: a command, or a sentence about one's own code.
    pub(crate) action: String,
    pub(crate) is_command: bool,
}

/// The settings that gain most of those that the run has tried, the largest gain first.
pub(crate) fn gaining(analysis: &Analysis<'_>) -> Vec<Gaining> {
    let ranked = ranked(&analysis.advice).into_iter();
    let confirmed = ranked.filter_map(|(name, setting)| {
        let guide = analysis.guides.get(name)?;
        matches!(guide.tried, Tried::Confirmed(_)).then_some((guide, setting))
    });
    let gaining = |(guide, setting): (&Guide, &Setting)| {
        Some(Gaining {
            title: capitalised(&setting.title),
            value: value(setting, &setting.value),
            usual: value(setting, &setting.usual),
            gain: gain(setting)?,
            action: action(&guide.action),
            is_command: matches!(guide.action, Action::Command(_)),
        })
    };
    confirmed.take(FIRST).filter_map(gaining).collect()
}

/// An action as text.
pub fn action(action: &Action) -> String {
    match action {
        Action::Command(command) => command.clone(),
        Action::Code(sentence) => show::sentence(&Finding::new("action", sentence.clone())),
    }
}

/// `value` of `setting` as text: `256 KiB`.
pub fn value(setting: &Setting, value: &Value) -> String {
    match value {
        Value::Choice(choice) => choice.clone(),
        Value::Number(number) => match setting.unit.as_deref() {
            Some("bytes") => show::round(Unit::Bytes, *number as f64),
            Some("nanoseconds") => show::round(Unit::Nanoseconds, *number as f64),
            _ => number.to_string(),
        },
    }
}

/// Speed of `setting` over the usual choice, with its interval: `2.87 × (2.73 to 3.01 ×)`. `None`
/// if it was not measured or if the interval includes no gain at all.
pub(crate) fn gain(setting: &Setting) -> Option<(String, Option<String>)> {
    let gain = setting.gain.filter(|_| least_gain(setting) > 1.0)?;
    gain_of(&gain)
}

/// A gain and its interval as text; `None` if it is not known well enough.
pub(crate) fn gain_of(gain: &Gain) -> Option<(String, Option<String>)> {
    let interval = gain.low.zip(gain.high);
    let interval = interval.and_then(|(low, high)| Interval::new(low, high));
    let gain = Quantity::new(gain.ratio, interval, Unit::Ratio);
    (gain.known() != Known::Nothing).then(|| show::parts(&gain))
}

/// The settings with their names, sorted by certain gain in descending order.
fn ranked(advice: &Advice) -> Vec<(&str, &Setting)> {
    let settings = advice.settings.iter();
    let mut settings: Vec<_> = settings.map(|(name, it)| (name.as_str(), it)).collect();
    settings.sort_by(|(_, a), (_, b)| least_gain(b).total_cmp(&least_gain(a)));
    settings
}

/// The settings of programs by who can act on them, each kind that there is with its heading, the largest
/// gain first.
pub(crate) fn by_audience(advice: &Advice) -> Vec<(&'static str, Vec<(&str, &Setting)>)> {
    let of = |(whose, heading)| {
        let all = ranked(advice).into_iter();
        let theirs: Vec<_> = all.filter(|(name, _)| audience(name) == whose).collect();
        (!theirs.is_empty()).then_some((heading, theirs))
    };
    let kinds = [
        (Audience::Programs, "For programs"),
        (Audience::Services, "For databases and services"),
    ];
    kinds.into_iter().filter_map(of).collect()
}

/// Lower bound of the gain of `setting`; 1 if unknown.
fn least_gain(setting: &Setting) -> f64 {
    setting
        .gain
        .map_or(1.0, |gain| gain.low.unwrap_or(gain.ratio))
}

#[cfg(test)]
mod tests {
    use super::{gaining, value};
    use crate::advice::Tried;
    use crate::{made_up, reference};
    use advice::{Gain, Setting, Value};
    use instrument::trial::Outcome;

    fn setting(low: f64) -> Setting {
        Setting {
            unit: Some("bytes".into()),
            gain: Some(Gain {
                ratio: 2.0,
                low: Some(low),
                high: Some(2.2),
            }),
            ..made_up::setting(Value::Number(256 << 10))
        }
    }

    #[test]
    fn a_number_has_its_unit() {
        let setting = setting(1.8);
        assert_eq!(value(&setting, &setting.value), "256 KiB");
        assert_eq!(value(&setting, &Value::Choice("mmap".into())), "mmap");
        let unit = Some("nanoseconds".into());
        let setting = Setting { unit, ..setting };
        assert_eq!(value(&setting, &Value::Number(1200)), "1.2 µs");
    }

    #[test]
    fn only_what_a_trial_confirms_is_among_the_first() {
        let outcome = Outcome {
            gain: 2.0,
            interval: None,
            pairs: 24,
        };
        let run = reference::ALL[0].run();
        let mut analysis = made_up::analysis(&run, Vec::new());
        for (name, low, tried) in [
            ("a", 1.2, Tried::Confirmed(outcome)),
            ("b", 4.0, Tried::Open),
            ("c", 3.0, Tried::Confirmed(outcome)),
            ("d", 5.0, Tried::Refuted(outcome)),
            ("e", 1.3, Tried::Confirmed(outcome)),
            ("f", 1.5, Tried::Confirmed(outcome)),
        ] {
            let title = name.into();
            let setting = Setting {
                title,
                ..setting(low)
            };
            analysis.advice.settings.insert(name.into(), setting);
            analysis.guides.insert(name.into(), made_up::guide(tried));
        }
        let titles = gaining(&analysis).into_iter().map(|it| it.title);
        assert_eq!(titles.collect::<Vec<_>>(), ["C", "F", "E"]);
    }
}
