//! A run on one card: a picture to show elsewhere.

use super::chart::{Lines, whole};
use super::plot::document;
use super::render::title;
use crate::advice::{FIRST, commands, foremost, gain, value};
use crate::glance::Glance;
use crate::thumb::Sides;
use crate::{Analysis, Verdict, show};
use advice::Setting;

/// The run as a complete SVG document: machine, verdict, memory staircase, latency ladder, files and the
/// settings that gain most.
pub fn card(analysis: &Analysis<'_>) -> String {
    let header = &analysis.run.header;
    let measured = format!(
        "Measured {}, {} profile, by oscope {}.",
        show::moment(header.started),
        header.profile,
        header.version
    );
    let system = analysis.run.environment.system();
    let lines = Lines {
        title: title(analysis),
        head: vec![
            show::machine(analysis.run),
            measured,
            Verdict::of(analysis).text(),
            Sides::of(analysis).text(),
        ],
        settings_title: "Settings that gain most",
        settings: foremost(&analysis.advice, FIRST)
            .into_iter()
            .map(|(name, setting)| (sentence(setting), commands(name, setting, system).set))
            .collect(),
    };
    let (body, width, height) = whole(&lines, &Glance::of(analysis).pictures);
    document(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" role=\"img\" \
         aria-label=\"A machine on one card\" font-size=\"13\">{body}</svg>"
    ))
}

fn sentence(setting: &Setting) -> String {
    let [new, usual] = [&setting.value, &setting.usual].map(|one| value(setting, one));
    let gain = gain(setting).map_or_else(String::new, |(gain, _)| format!(", {gain} as fast"));
    format!("{}: {new} instead of {usual}{gain}", setting.title)
}
