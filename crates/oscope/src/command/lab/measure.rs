//! The measurements of a lab: new runs, or stored ones.

use crate::arguments::lab::Start;
use crate::arguments::{Common, Run as RunArguments};
use crate::command::run;
use crate::exit::{Exit, WrongUse, refuse};
use crate::{output, stored};
use anyhow::Result;
use record::Run;
use report::lab::{Lab, Step};

/// Tag of the runs of a lab.
const TAG: &str = "lab";

/// The runs of a lab.
pub struct LabRuns {
    /// The runs that are judged, the newest first.
    pub here: Vec<Run>,
    /// The system that they are compared with.
    pub first: Option<Run>,
    /// Done, or the reason why the lab is incomplete.
    pub exit: Exit,
}

/// The runs that were named; `None` if there are none, and all can be measured.
pub fn named(lab: &'static Lab, arguments: &Start, common: &Common) -> Result<Option<LabRuns>> {
    if arguments.of.is_empty() {
        drop(stored::open(common)?);
        return Ok(None);
    }
    let named = arguments.of.iter().map(|name| stored::run(common, name));
    let mut here: Vec<Run> = named.collect::<Result<_>>()?;
    let first = (lab.compares() && here.len() > 1).then(|| here.remove(0));
    let has = |experiment: &str| {
        let mut records = here.iter().flat_map(|run| &run.experiments);
        records.any(|record| record.definition.id == experiment)
    };
    if !lab.experiments().into_iter().any(has) {
        refuse!(
            "{} has nothing of this lab: it measures {}",
            arguments.of.join(", "),
            lab.experiments().join(", ")
        );
    }
    Ok(Some(LabRuns {
        here,
        first,
        exit: Exit::Done,
    }))
}

/// Measures all steps.
pub fn anew(lab: &'static Lab, arguments: &Start, common: &Common) -> Result<LabRuns> {
    let mut exit = Exit::Done;
    for step in &lab.steps {
        match run::measure_only(&command(lab, step, arguments)?, common, &mut [])? {
            Exit::Done => {}
            stopped @ Exit::Stopped(_) => {
                exit = stopped;
                break;
            }
            incomplete => exit = incomplete,
        }
    }
    let mut here = Vec::new();
    if !matches!(exit, Exit::Stopped(_)) {
        here = stored::newest_with(common, &lab.experiments())?;
        here.retain(|run| run.header.tags.get(TAG) == Some(&lab.name));
        here.truncate(lab.steps.len());
    }
    Ok(LabRuns {
        here,
        first: None,
        exit,
    })
}

/// The `oscope run` of one step.
fn command(lab: &'static Lab, step: &Step, arguments: &Start) -> Result<RunArguments, WrongUse> {
    let seconds = match arguments.budget {
        Some(budget) => budget.0 / 1e9 * f64::from(step.seconds) / f64::from(lab.seconds()),
        None => f64::from(step.seconds),
    };
    let mut words = vec!["run".to_owned(), step.experiment.clone()];
    words.extend(step.at.iter().map(|level| format!("--at={level}")));
    words.extend([
        format!("--budget={:.0}ms", (seconds * 1e3).max(1e3)),
        format!("--tag={TAG}={}", lab.name),
    ]);
    let mut run = run::parsed(&words)?;
    run.dir.clone_from(&arguments.dir);
    Ok(run)
}

/// Prints the command that continues after a stop: the measurements are stored.
pub fn say_how_to_continue(lab: &'static Lab, runs: &[Run]) {
    /// Characters of an id that no other one has.
    const SHORT: usize = 8;
    let of = runs.iter().map(|run| {
        let id: String = run.header.id.chars().take(SHORT).collect();
        format!(" --of {id}")
    });
    output::say(&format!(
        "the measurements are stored: `oscope lab start {}{}` continues them",
        lab.name,
        of.collect::<String>()
    ));
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::arguments::{Arguments, Command, lab};
    use crate::{selection, setting};
    use clap::Parser;
    use instrument::experiment::Experiment;
    use instrument::plan::{Profile, Setting};
    use instrument::point::Point;
    use report::lab::labs;
    use std::path::Path;

    #[test]
    fn every_lab_plans_each_point_that_it_reads() {
        // A small machine plans fewer points.
        let setting = Setting {
            available_bytes: 16 << 30,
            free_bytes: 64 << 30,
            ..setting::here(Path::new("."), Profile::Quick, false)
        };
        for lab in labs() {
            let words = ["oscope", "lab", "start", &lab.name];
            let parsed = Arguments::try_parse_from(words).expect("a command");
            let Some(Command::Lab(lab::Command::Start(arguments))) = parsed.command else {
                panic!("it starts a lab");
            };
            let mut planned: Vec<(&str, Vec<Point>)> = Vec::new();
            for step in &lab.steps {
                let run = command(lab, step, &arguments).expect("a run");
                let chosen = selection::experiments(&run.what).expect("it exists");
                let at = selection::at(&chosen, &run.levels(), &setting);
                let at = at.unwrap_or_else(|error| panic!("{}: {error}", lab.name));
                planned.extend(
                    at.iter()
                        .map(|it| (step.experiment.as_str(), it.points(&setting))),
                );
            }
            for query in lab.questions.iter().flat_map(|it| it.measured.queries()) {
                let of_experiment = planned.iter().filter(|(id, _)| *id == query.experiment);
                let mut points = of_experiment.flat_map(|(_, points)| points);
                let is_at = |point: &Point| {
                    let mut levels = query.levels.iter();
                    levels.all(|(axis, named)| {
                        let level = point.get(axis);
                        level.is_some_and(|level| experiments::is_named(named, level))
                    })
                };
                assert!(points.any(is_at), "{}: {query:?}", lab.name);
            }
        }
    }
}
