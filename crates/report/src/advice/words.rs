//! Advice in words.

use crate::show;
use advice::{Advice, Setting, Value};
use instrument::quantity::Unit;
use instrument::statistics::Interval;

/// `value` of `setting` as a person reads it: `256 KiB`.
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

/// How many times as fast `setting` is as what is usual, with the interval: `2.87 × (2.73 to 3.01 ×)`;
/// `None` where it was not measured, or where the interval leaves room for no gain at all.
pub fn gain(setting: &Setting) -> Option<(String, Option<String>)> {
    let gain = setting.gain.filter(|_| least_gain(setting) > 1.0)?;
    let interval = gain.low.zip(gain.high);
    let interval = interval.and_then(|(low, high)| Interval::new(low, high));
    let range = interval.map(|interval| show::range(Unit::Ratio, interval, gain.ratio));
    Some((show::value(Unit::Ratio, gain.ratio, interval), range))
}

/// The settings with their names, those that surely gain most first.
pub fn ranked(advice: &Advice) -> Vec<(&str, &Setting)> {
    let mut settings: Vec<_> = advice.settings.iter().collect();
    settings.sort_by(|(_, a), (_, b)| least_gain(b).total_cmp(&least_gain(a)));
    settings
        .into_iter()
        .map(|(name, setting)| (name.as_str(), setting))
        .collect()
}

/// What `setting` gains at least; 1 where nothing is known.
fn least_gain(setting: &Setting) -> f64 {
    setting
        .gain
        .map_or(1.0, |gain| gain.low.unwrap_or(gain.ratio))
}

#[cfg(test)]
mod tests {
    use super::{gain, value};
    use advice::{Gain, Setting, Value};

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
}
