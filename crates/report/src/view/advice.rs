//! Advice for programs, services and administrators.

use super::run::reference;
use crate::Analysis;
use crate::advice::{
    Guide, action, by_audience, gain, gain_of, gaining, undecided, value, without_settings,
};
use crate::document::{Blocks, Document, Item, Piece, Text, text};
use crate::lists::capitalised;
use crate::show::{self, Tone};
use advice::{Setting, SystemSetting};
use instrument::advice::Action;

/// The recommended settings with their gains and reasons, the largest gain first; then the settings
/// that the run does not decide.
pub fn advice<'a>(analysis: &Analysis<'_>) -> Document<'a> {
    let advice = &analysis.advice;
    let time = advice.measured.parse();
    let time = time.map_or_else(|_| advice.measured.clone(), show::moment);
    let machine = advice.machine.as_deref().unwrap_or("this machine");
    let measured = Blocks::default().say([format!("Measured {time} on {machine}.")]);
    measured
        .with(settings(analysis))
        .document("What to set here")
}

/// All settings by who can act on them.
pub(crate) fn settings<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let advice = &analysis.advice;
    let mut blocks = Blocks::default().say(without_settings(analysis));
    for (heading, theirs) in by_audience(advice) {
        let items = theirs.into_iter();
        let items = items.map(|(name, it)| of_program(name, it, analysis.guides.get(name)));
        blocks = blocks.section(heading, Blocks::default().items(items));
    }
    let of_system = Blocks::default().items(advice.system.iter().map(of_system));
    let load = (!advice.settings.is_empty()).then(|| {
        format!(
            "A gain is over what programs do by default. Programs can load these settings at their start: \
             `oscope advise {} --save` writes the file that they read.",
            analysis.run.header.id
        )
    });
    let open = undecided(analysis);
    let open_title = format!("{} that this run does not decide", open.len());
    let open = open.iter();
    let open = open.map(|(title, reason)| format!("{title}: {reason}"));
    blocks
        .section("For administrators", of_system)
        .say(load)
        .fold(open_title, Blocks::default().list(open))
}

/// The settings that gain most, each with what to do.
pub(crate) fn first<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let brief = gaining(analysis).into_iter().map(|it| {
        let (gain, range) = it.gain;
        let line = sentence(&it.title, &it.value, Some(&it.usual), range);
        let (name, action) = (place(it.is_command), it.action);
        Item::new(
            faster(&gain),
            [line, Piece::faint(format!("{name}: {action}")).into()],
        )
    });
    Blocks::default().items(brief)
}

fn of_program(name: &str, setting: &Setting, guide: Option<&Guide>) -> Item {
    let gain = gain(setting);
    let without = if setting.value == setting.usual {
        "as usual"
    } else {
        "no certain gain"
    };
    let because = Text::from(&setting.because).then(reference(&setting.experiments));
    let guide = guide.filter(|_| gain.is_some());
    let act = guide.map(|guide| {
        let is_command = matches!(guide.action, Action::Command(_));
        let text = action(&guide.action);
        let text = if is_command {
            Piece::command(text)
        } else {
            Piece::strong(text)
        };
        text![Piece::faint(format!("{}: ", place(is_command))), text]
    });
    let state = guide.map(|guide| guide.state(name).into());
    let lines = [Some(said(setting)), Some(because), act, state];
    Item::new(lead(gain, without), lines.into_iter().flatten())
}

/// Where advice takes effect.
fn place(is_command: bool) -> &'static str {
    if is_command {
        "command"
    } else {
        "in your code"
    }
}

fn of_system(setting: &SystemSetting) -> Item {
    let gain = setting.gain.as_ref().filter(|_| setting.value.is_some());
    let gain = gain.and_then(gain_of);
    let range = gain.as_ref().and_then(|(_, range)| range.clone());
    let value = setting.value.as_deref().unwrap_or(&setting.now);
    let usual = setting.value.as_ref().map(|_| setting.now.as_str());
    let said = sentence(&setting.title, value, usual, range);
    let lines = [said, Text::from(&setting.because)].into_iter();
    let commands = [("set", &setting.set), ("undo", &setting.undo)].into_iter();
    let commands = commands.filter_map(|(name, command)| {
        let command = Piece::command(command.clone()?);
        Some(text![Piece::faint(format!("{name}: ")), command])
    });
    Item::new(lead(gain, "as it is"), lines.chain(commands))
}

/// The gain, or the words in its place.
fn lead(gain: Option<(String, Option<String>)>, without: &str) -> Piece {
    gain.map_or_else(|| Piece::faint(without), |(gain, _)| faster(&gain))
}

fn faster(gain: &str) -> Piece {
    Piece::toned(Tone::Good, format!("{gain} as fast"))
}

fn said(setting: &Setting) -> Text {
    let [recommended, usual] = [&setting.value, &setting.usual].map(|it| value(setting, it));
    let usual = Some(usual.as_str()).filter(|_| setting.value != setting.usual);
    let range = gain(setting).and_then(|(_, range)| range);
    sentence(&setting.title, &recommended, usual, range)
}

/// Setting, value, usual value, and the interval of the gain.
fn sentence(title: &str, value: &str, usual: Option<&str>, range: Option<String>) -> Text {
    let usual = usual.map_or_else(String::new, |usual| format!(" instead of {usual}"));
    let range = Piece::faint(range.map_or_else(String::new, |range| format!(" ({range})")));
    text![
        format!("{}: ", capitalised(title)),
        Piece::strong(value),
        usual,
        range
    ]
}
