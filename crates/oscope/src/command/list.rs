//! `oscope list` and `oscope explain`: the experiments, each with its question, method and sources, and the
//! published reports.

use crate::arguments::{Common, Explain, List};
use crate::exit::Exit;
use crate::{output, selection, setting, style};
use anyhow::Result;
use instrument::at_levels;
use instrument::experiment::Experiment;
use instrument::plan::{Plan, Planned, Profile, Setting};
use instrument::quantity::counted;
use report::reference::{self, Reference};
use report::{json, view};
use std::path::Path;

/// `oscope list`.
pub fn execute(arguments: &List, common: &Common) -> Result<Exit> {
    if arguments.references {
        let references: Vec<_> = reference::ALL.iter().map(Reference::run).collect();
        let headers: Vec<_> = references.iter().map(|run| &run.header).collect();
        style::show(
            common,
            || json::entries(&headers),
            || view::references(&references),
        )?;
        return Ok(Exit::Done);
    }
    let listed = selection::experiments(&arguments.what)?;
    let definitions: Vec<_> = listed.iter().map(|it| it.definition()).collect();
    style::show(
        common,
        || json::entries(&definitions),
        || view::list(&definitions),
    )?;
    Ok(Exit::Done)
}

/// `oscope explain`.
pub fn explain(arguments: &Explain, common: &Common) -> Result<Exit> {
    let asked = selection::experiments(&arguments.what)?;
    let setting = quick_setting();
    let planned = Plan::new(&asked, &setting, None, 0).experiments;
    let text = if common.json {
        let definitions: Vec<_> = planned.iter().map(|planned| &planned.definition).collect();
        output::json(&json::entries(&definitions))?
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
    axes.map(|axis| at_levels::takes(experiment, axis.name, setting))
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
    setting::here(Path::new("."), Profile::Quick, false)
}

#[cfg(test)]
mod tests {
    use super::quick_setting;
    use crate::arguments::{Arguments, Command};
    use crate::selection;
    use clap::Parser;
    use experiments::programs::PROGRAMS;

    #[test]
    fn every_program_of_the_reports_has_a_command_that_is_understood() {
        let setting = quick_setting();
        for program in PROGRAMS.iter() {
            assert!(
                experiments::find(program.experiment).is_some(),
                "{program:?}"
            );
            let words = shlex::split(&format!("oscope {}", program.command()));
            let parsed = Arguments::try_parse_from(words.expect("quotes are closed"));
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
