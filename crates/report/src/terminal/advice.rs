//! Advice for programs.

use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::advice::missing;
use crate::show;
use advice::{Advice, Gain, Setting, Value};
use instrument::quantity::Unit;

/// What programs should use, what each brings and what it follows from; then what could be advised
/// if it had been measured.
pub fn advice(advice: &Advice, style: &Style) -> String {
    let mut text = title("What programs should use here", style);
    for setting in advice.settings.values() {
        text += &told(setting, style);
    }
    if advice.settings.is_empty() {
        text += &paragraph("", "This run tells nothing that programs could use.", style);
    }
    let missing = missing(advice);
    if !missing.is_empty() {
        text.push('\n');
        text += &title("What this run does not tell", style);
    }
    for (setting, experiments) in missing {
        let sentence = format!("{setting}: `oscope run {}` may tell", experiments.join(" "));
        text += &paragraph("  ", &sentence, style);
    }
    text
}

fn told(setting: &Setting, style: &Style) -> String {
    let shown = style.paint(Role::Accent, &value(setting, &setting.value));
    let usual = value(setting, &setting.usual);
    let gain = setting.gain.as_ref().map_or_else(String::new, |gain| {
        format!(", {} as fast as the usual {usual}", self::gain(gain))
    });
    let first = format!("{}: {shown}{gain}", setting.title);
    paragraph("", &first, style) + &paragraph("    ", &setting.because, style)
}

fn value(setting: &Setting, value: &Value) -> String {
    match value {
        Value::Choice(choice) => choice.clone(),
        Value::Number(number) if setting.unit.as_deref() == Some("bytes") => {
            show::round(Unit::Bytes, *number as f64)
        }
        Value::Number(number) => number.to_string(),
    }
}

fn gain(gain: &Gain) -> String {
    let centre = show::round(Unit::Ratio, gain.ratio);
    match (gain.low, gain.high) {
        (Some(low), Some(high)) => format!(
            "{centre} ({} to {})",
            show::round(Unit::Ratio, low),
            show::round(Unit::Ratio, high)
        ),
        _ => centre,
    }
}
