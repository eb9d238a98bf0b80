//! `oscope show`: shows a stored run.

use super::ab;
use crate::arguments::{Common, Show};
use crate::exit::{Exit, WrongUse, refuse};
use crate::{machines, output, selection, stored, style};
use anyhow::{Result, anyhow};
use report::document::{Blocks, Piece};
use report::{Analysis, terminal, view};
use std::{iter, slice};

/// The newest run.
const LATEST: &str = "latest";

pub fn execute(arguments: &Show, common: &Common) -> Result<Exit> {
    let (run, what) = named(arguments, common)?;
    let mut judged = stored::judged(common, &run, arguments.sharing)?;
    let mut analysis = judged.analysis();
    machines::add_to(&mut analysis, common);
    keep(&mut analysis, &what)?;
    let clock_hz = if arguments.cycles {
        Some(analysis.surroundings.highest_hz().ok_or_else(no_cycles)?)
    } else {
        None
    };
    let style = style::of_stdout(common);
    let mut experiments = analysis.experiments.iter();
    let is_of_programs = experiments.any(|it| it.definition.id == ab::PROGRAMS);
    let verdicts = if is_of_programs && what.is_empty() && !common.json {
        let verdicts = ab::verdicts(&stored::run_to_share(common, &run, arguments.sharing)?);
        let verdicts = Blocks::default()
            .say(verdicts.into_iter().map(Piece::from))
            .document("");
        style::painted(&verdicts, common) + "\n"
    } else {
        String::new()
    };
    let text = if common.json {
        output::json(&report::json::analysis(&analysis))?
    } else if arguments.all {
        terminal::paint(&view::summary(&analysis), &style, true)
    } else if what.is_empty() && !arguments.cycles {
        terminal::brief(&analysis, &style)
    } else {
        let experiments = analysis.experiments.iter();
        let detailed = experiments.map(|it| view::experiment(it, clock_hz));
        let painted = detailed.map(|document| terminal::paint(&document, &style, false));
        painted.collect::<Vec<_>>().join("\n")
    };
    output::show_painted(&(verdicts + &text))?;
    Ok(Exit::Done)
}

fn no_cycles() -> anyhow::Error {
    anyhow!(
        "the clock of this run is not known in GHz, so that there are no cycles: its processor is not in the \
         table of cycles or is emulated, or the run has no reference loops; `oscope doctor` prints the clock"
    )
}

/// The run to show, and what of it. An experiment or group in place of the run means the newest run that has it,
/// unless a run has this name.
fn named<'a>(arguments: &'a Show, common: &Common) -> Result<(String, Vec<&'a str>)> {
    let what = arguments.what.iter().map(String::as_str);
    let first = arguments.run.as_str();
    match selection::experiments(slice::from_ref(&arguments.run)) {
        Ok(meant) if !stored::is_there(common, first)? => {
            let store = stored::open_to_read(common)?;
            let mut newest = None;
            for experiment in &meant {
                let run = store.latest_with(experiment.design().id)?;
                newest = newest.max(run.map(|run| run.number));
            }
            let run = newest.map_or(LATEST.to_owned(), |number| number.to_string());
            Ok((run, iter::once(first).chain(what).collect()))
        }
        _ => Ok((first.to_owned(), what.collect())),
    }
}

/// Removes all experiments of the run that `what` does not name, if it names any. Names refer to the
/// run's own experiments, which this version of oscope may not know.
fn keep(analysis: &mut Analysis<'_>, what: &[&str]) -> Result<(), WrongUse> {
    let all = &mut analysis.experiments;
    for name in what {
        let is_there = |id: &&str| selection::is_meant(id, name);
        let ids: Vec<&str> = all.iter().map(|it| it.definition.id.as_str()).collect();
        if !ids.iter().any(is_there) {
            refuse!("the run has no '{name}'; it has {}", ids.join(", "));
        }
    }
    all.retain(|it| what.is_empty() || selection::is_among(&it.definition.id, what));
    Ok(())
}
