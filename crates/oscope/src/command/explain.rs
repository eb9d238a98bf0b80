//! `oscope explain`: an experiment's question, method and sources.

use crate::arguments::{Common, Explain};
use crate::exit::Exit;
use crate::{output, selection, setting, style};
use anyhow::Result;
use instrument::chosen;
use instrument::experiment::Experiment;
use instrument::given::Givens;
use instrument::limits::Limits;
use instrument::plan::{Plan, Planned, Profile, Setting};
use instrument::quantity::counted;
use report::{json, view};
use std::path::Path;

pub fn execute(arguments: &Explain, common: &Common) -> Result<Exit> {
    let asked = selection::experiments(&arguments.what)?;
    let setting = quick_setting();
    let planned = Plan::new(&asked, &setting, None, 0).experiments;
    let text = if common.json {
        let definitions: Vec<_> = planned.iter().map(|planned| &planned.definition).collect();
        serde_json::to_string_pretty(&json::entries(&definitions))? + "\n"
    } else {
        let explained = planned.iter().map(|planned| {
            let levels = levels(planned.experiment, &setting);
            let needs = needs(planned, setting.profile);
            style::painted(&view::explain(&planned.definition, &levels, &needs), common)
        });
        explained.collect::<Vec<_>>().join("\n")
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

/// The levels that each axis of the experiment takes here.
fn levels(experiment: &dyn Experiment, setting: &Setting) -> Vec<String> {
    let axes = experiment.design().axes.iter();
    axes.map(|axis| chosen::takes(experiment, axis.name, setting))
        .collect()
}

/// The requirements that this machine does not meet; if it meets all, the number of points and the
/// longest duration.
fn needs(planned: &Planned<'_>, profile: Profile) -> String {
    match &planned.points {
        Ok(points) => format!(
            "Nothing is missing here. In the {profile} profile it has {} and takes at most {:.2}.",
            counted(points.len(), "point"),
            planned.budget()
        ),
        Err(reason) => format!("It cannot be measured here: {reason}."),
    }
}

/// A quick run in the current directory.
fn quick_setting() -> Setting {
    setting::here(
        Path::new("."),
        Givens::default(),
        Profile::Quick,
        false,
        Limits::default(),
    )
}

#[cfg(test)]
mod tests {
    use super::quick_setting;
    use crate::arguments::{Arguments, Command};
    use crate::selection;
    use clap::Parser;
    use experiments::programs::PROGRAMS;

    /// The words of a command line, of which some are quoted.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let plain = |part: &str| {
            part.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let words = parts.flat_map(|(index, part)| match index % 2 {
            0 => plain(part),
            _ => vec![part.to_owned()],
        });
        std::iter::once("oscope".to_owned()).chain(words).collect()
    }

    #[test]
    fn every_program_of_the_reports_has_a_command_that_is_understood() {
        let setting = quick_setting();
        for program in PROGRAMS {
            assert!(
                experiments::find(program.experiment).is_some(),
                "{program:?}"
            );
            let parsed = Arguments::try_parse_from(words(program.command));
            let parsed = parsed.unwrap_or_else(|error| panic!("{program:?}: {error}"));
            let Some(Command::Run(run)) = parsed.command else {
                continue;
            };
            assert_eq!(run.what, [program.experiment]);
            let chosen = selection::experiments(&run.what).expect("it exists");
            // Without the directory on another machine there are no points to choose from.
            if run.remote.is_none() {
                let at = selection::at(&chosen, &run.levels(), &setting);
                assert!(at.is_ok(), "{program:?}: {:?}", at.err());
            }
        }
    }
}
