//! Advice for programs.

use super::style::{Role, Style};
use super::text::{labelled, paragraph, title};
use crate::advice::{
    Commands, FOR_ADMINISTRATORS, by_audience, commands, gain, gain_of, trial, untold, value,
    without_settings,
};
use crate::{Analysis, show};
use advice::{Advice, Setting, SystemSetting};
use platform::environment::System;

/// The recommended settings with their gains and sources, the largest gain first; then the settings
/// that the run does not tell.
pub fn advice(analysis: &Analysis<'_>, style: &Style) -> String {
    let advice = &analysis.advice;
    let system = analysis.run.environment.system();
    let mut text = title("What to set here", style);
    text += &paragraph("", &measured(advice), style);
    for (heading, theirs) in by_audience(advice) {
        text.push('\n');
        text += &title(heading, style);
        for (name, setting) in theirs {
            text += &paragraph("", &told(setting, style), style);
            text += &paragraph("    ", &setting.because, style);
            if gain(setting).is_some() {
                text += &labelled(&told_commands(name, setting, system), style);
            }
        }
    }
    if !advice.system.is_empty() {
        text.push('\n');
        text += &title(FOR_ADMINISTRATORS, style);
    }
    for setting in &advice.system {
        text += &paragraph("", &told_of_system(setting, style), style);
        text += &paragraph("    ", &setting.because, style);
        let set = setting.set.clone().map(|set| ("    set", set));
        let undo = setting.undo.clone().map(|undo| ("    undo", undo));
        text += &labelled(&set.into_iter().chain(undo).collect::<Vec<_>>(), style);
    }
    if advice.settings.is_empty()
        && let Some(reason) = without_settings(analysis)
    {
        text += &paragraph("", reason, style);
    }
    let untold = untold(analysis);
    if !untold.is_empty() {
        text.push('\n');
        text += &title("What this run does not tell", style);
    }
    for setting in untold {
        let sentence = format!("{}: {}", setting.title, setting.reason);
        text += &paragraph("  ", &sentence, style);
    }
    text
}

/// The commands that set and take back a setting.
fn told_commands(
    name: &str,
    setting: &Setting,
    system: Option<System>,
) -> Vec<(&'static str, String)> {
    let Commands { set, undo } = commands(name, setting, system);
    let undo = undo.map(|undo| ("    undo", undo));
    let tried = trial(name, setting).map(|_| ("    try", format!("oscope advise --try {name}")));
    let set = [("    set", set)].into_iter();
    set.chain(undo).chain(tried).collect()
}

/// Time and machine of the measurement.
fn measured(advice: &Advice) -> String {
    let time = advice.measured.parse();
    let time = time.map_or_else(|_| advice.measured.clone(), show::moment);
    let machine = advice.machine.as_deref().unwrap_or("this machine");
    format!("Measured {time} on {machine}.")
}

/// Setting, value and gain.
pub(super) fn told(setting: &Setting, style: &Style) -> String {
    let shown = style.paint(Role::Accent, &value(setting, &setting.value));
    let usual = value(setting, &setting.usual);
    let gain = match gain(setting) {
        Some((centre, range)) => {
            let range = range.map_or_else(String::new, |range| format!(" ({range})"));
            format!(" instead of {usual}, {centre}{range} as fast")
        }
        None if setting.value == setting.usual => ", as usual".into(),
        None => format!(", with no certain gain over {usual}"),
    };
    format!("{}: {shown}{gain}", capitalised(&setting.title))
}

/// A setting of the system: its value, and the one that gains.
fn told_of_system(setting: &SystemSetting, style: &Style) -> String {
    let title = capitalised(&setting.title);
    let now = &setting.now;
    let gain = setting.gain.as_ref().map(gain_of);
    match setting.value.as_ref().zip(gain) {
        Some((value, (centre, range))) => {
            let value = style.paint(Role::Accent, value);
            let range = range.map_or_else(String::new, |range| format!(" ({range})"));
            format!("{title}: {value} instead of {now}, {centre}{range} as fast")
        }
        None => format!("{title}: {now}"),
    }
}

fn capitalised(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
