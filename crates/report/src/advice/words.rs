//! Advice as text.

use super::{audience, commands};
use crate::lists::capitalised;
use crate::{Analysis, show};
use advice::{Advice, Gain, Setting, Value};
use instrument::advice::Audience;
use instrument::quantity::{Known, Quantity, Unit};
use instrument::statistics::Interval;

/// Number of settings that a reader can remember.
const FIRST: usize = 3;

/// A setting that gains, in words.
pub(crate) struct Gaining {
    pub(crate) title: String,
    pub(crate) value: String,
    pub(crate) usual: String,
    /// The gain and its interval.
    pub(crate) gain: (String, Option<String>),
    /// The command that sets it.
    pub(crate) set: String,
}

/// The settings that gain most, the largest gain first.
pub(crate) fn gaining(analysis: &Analysis<'_>) -> Vec<Gaining> {
    let system = analysis.run.environment.system();
    let gaining = |(name, setting): (&str, &Setting)| {
        Some(Gaining {
            title: capitalised(&setting.title),
            value: value(setting, &setting.value),
            usual: value(setting, &setting.usual),
            gain: gain(setting)?,
            set: commands(name, setting, system).set,
        })
    };
    let foremost = foremost(&analysis.advice, FIRST).into_iter();
    foremost.filter_map(gaining).collect()
}

/// `value` of `setting` as text: `256 KiB`.
pub(crate) fn value(setting: &Setting, value: &Value) -> String {
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
    let gain = Quantity {
        value: gain.ratio,
        interval,
        unit: Unit::Ratio,
    };
    (gain.known() != Known::Nothing).then(|| show::parts(&gain))
}

/// The settings with their names, sorted by certain gain in descending order.
fn ranked(advice: &Advice) -> Vec<(&str, &Setting)> {
    let mut settings: Vec<_> = advice.settings.iter().collect();
    settings.sort_by(|(_, a), (_, b)| least_gain(b).total_cmp(&least_gain(a)));
    settings
        .into_iter()
        .map(|(name, setting)| (name.as_str(), setting))
        .collect()
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

/// At most `most` settings, all with a certain gain. Leaves out refinements of other settings, such
/// as `loop_piece_size_l1` of `loop_piece_size`: next to those they add too little.
fn foremost(advice: &Advice, most: usize) -> Vec<(&str, &Setting)> {
    let refines = |name: &str| {
        let mut shorter = name.match_indices('_').map(|(end, _)| &name[..end]);
        shorter.any(|shorter| advice.settings.contains_key(shorter))
    };
    let gaining = ranked(advice)
        .into_iter()
        .filter(|(name, setting)| gain(setting).is_some() && !refines(name));
    gaining.take(most).collect()
}

/// Lower bound of the gain of `setting`; 1 if unknown.
fn least_gain(setting: &Setting) -> f64 {
    setting
        .gain
        .map_or(1.0, |gain| gain.low.unwrap_or(gain.ratio))
}

#[cfg(test)]
mod tests {
    use super::{foremost, gain, value};
    use crate::made_up;
    use advice::{Advice, Gain, Setting, Value};

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
    fn a_gain_that_may_be_none_is_not_shown() {
        assert_eq!(
            gain(&setting(1.8)),
            Some(("2.00 ×".into(), Some("1.80 to 2.20 ×".into())))
        );
        assert_eq!(gain(&setting(0.98)), None);
    }

    #[test]
    fn what_surely_gains_comes_first_and_refinements_are_left_out() {
        let settings = [
            ("loop_piece_size", 3.0),
            ("loop_piece_size_l1", 3.0),
            ("queue_depth", 4.0),
            ("read_block_size", 0.9),
            ("scan_threads", 1.1),
            ("write_block_size", 1.2),
        ];
        let advice = Advice {
            settings: settings
                .map(|(name, low)| (name.into(), setting(low)))
                .into(),
            ..Advice::default()
        };
        let names = |most| {
            let foremost = foremost(&advice, most).into_iter();
            foremost.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(2), ["queue_depth", "loop_piece_size"]);
        assert_eq!(names(9).len(), 4);
    }
}
