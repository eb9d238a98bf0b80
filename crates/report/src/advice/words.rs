//! Advice as text.

use super::audience;
use crate::show;
use advice::{Advice, Gain, Setting, Value};
use instrument::advice::Audience;
use instrument::quantity::Unit;
use instrument::statistics::Interval;

/// Number of settings that a reader can remember.
pub const FIRST: usize = 3;

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
pub fn gain(setting: &Setting) -> Option<(String, Option<String>)> {
    let gain = setting.gain.filter(|_| least_gain(setting) > 1.0)?;
    Some(gain_of(&gain))
}

/// A gain and its interval as text.
pub fn gain_of(gain: &Gain) -> (String, Option<String>) {
    let interval = gain.low.zip(gain.high);
    let interval = interval.and_then(|(low, high)| Interval::new(low, high));
    let range = interval.map(|interval| show::range(Unit::Ratio, interval, gain.ratio));
    (show::value(Unit::Ratio, gain.ratio, interval), range)
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

/// The heading of what the system has, which only administrators can set.
pub const FOR_ADMINISTRATORS: &str = "For administrators";

/// The settings of programs by who can act on them, each kind that there is with its heading, the largest
/// gain first.
pub fn by_audience(advice: &Advice) -> Vec<(&'static str, Vec<(&str, &Setting)>)> {
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
pub fn foremost(advice: &Advice, most: usize) -> Vec<(&str, &Setting)> {
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
    use advice::{Advice, Gain, Setting, Value};

    fn setting(low: f64) -> Setting {
        Setting {
            title: "block size".into(),
            value: Value::Number(256 << 10),
            unit: Some("bytes".into()),
            usual: Value::Number(4096),
            gain: Some(Gain {
                ratio: 2.0,
                low: Some(low),
                high: Some(2.2),
            }),
            because: "It follows.".into(),
            experiments: Vec::new(),
        }
    }

    #[test]
    fn a_number_is_told_in_its_unit() {
        let setting = setting(1.8);
        assert_eq!(value(&setting, &setting.value), "256 KiB");
        assert_eq!(value(&setting, &Value::Choice("mmap".into())), "mmap");
        let unit = Some("nanoseconds".into());
        let setting = Setting { unit, ..setting };
        assert_eq!(value(&setting, &Value::Number(1200)), "1.2 µs");
    }

    #[test]
    fn a_gain_that_may_be_none_is_not_told() {
        assert_eq!(
            gain(&setting(1.8)),
            Some(("2.00 ×".into(), Some("1.80 to 2.20 ×".into())))
        );
        assert_eq!(gain(&setting(0.98)), None);
    }

    #[test]
    fn what_surely_gains_is_told_first_and_refinements_are_left_to_the_rest() {
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
                .map(|(name, low)| {
                    let title = name.to_owned();
                    (
                        name.to_owned(),
                        Setting {
                            title,
                            ..setting(low)
                        },
                    )
                })
                .into(),
            ..Advice::default()
        };
        let titles = |most| {
            let told = foremost(&advice, most).into_iter();
            told.map(|(_, setting)| setting.title.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(titles(2), ["queue_depth", "loop_piece_size"]);
        assert_eq!(titles(9).len(), 4);
    }
}
