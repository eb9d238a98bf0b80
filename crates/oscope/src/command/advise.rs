//! `oscope advise`: the settings that programs, services and the system should use here.

use crate::arguments::{Advise, Arguments, Command, Common, HeaderLanguage, Sharing};
use crate::exit::{Exit, WrongUse};
use crate::kernel_settings::{self, Tried};
use crate::target::{Replaces, Target, make_directory};
use crate::{output, stored, style};
use anyhow::Result;
use clap::Parser;
use experiments::trial::Trial;
use files::Watch;
use platform::environment::System;
use report::{advice, view};
use std::path::Path;

pub fn execute(arguments: &Advise, common: &Common) -> Result<Exit> {
    if let Some(name) = &arguments.attempt {
        return attempt(name, arguments, common);
    }
    let mut judged = stored::judged(common, &arguments.run, Sharing { redact: false })?;
    let mut analysis = judged.analysis();
    let store = stored::open_if_there(common)?;
    stored::add_settings_of_system(&mut analysis, store.as_ref())?;
    drop(store);
    let advice = &analysis.advice;
    if arguments.save {
        let path = ::advice::default_path()?;
        let folder = path.parent().expect("a file in a folder of oscope's own");
        make_directory(folder)?;
        let target = Target::new(&path, Replaces::Own(is_advice), common)?;
        target.write(output::json(advice)?.as_bytes(), &Watch::default())?;
        output::show(&format!("{}\n", path.display()))?;
        return Ok(Exit::Done);
    }
    let text = match arguments.header {
        Some(HeaderLanguage::C) => advice::c_header(advice),
        None if arguments.env => advice::environment(advice),
        None => style::text(common, || advice, || view::advice(&analysis))?,
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

/// Measures before and after a setting by `oscope ab --vary`, and prints how to keep it.
fn attempt(name: &str, arguments: &Advise, common: &Common) -> Result<Exit> {
    let (trial, set, undo) = match kernel_settings::trial(name, &arguments.dir)? {
        Some(Tried { trial, set, undo }) => (trial, set, Some(undo)),
        None => advised(name, arguments, common)?,
    };
    let mut words = vec!["oscope".into(), "ab".into(), trial.experiment.to_owned()];
    words.extend(["--vary".into(), trial.vary]);
    words.extend(trial.at.into_iter().flat_map(|at| ["--at".into(), at]));
    let budget = arguments.budget.iter().cloned();
    words.extend(budget.flat_map(|time| ["--budget".into(), time]));
    let Arguments { command, .. } = Arguments::try_parse_from(&words).map_err(WrongUse::from)?;
    let Some(Command::Ab(mut comparison)) = command else {
        return Err(WrongUse(format!("'{name}' cannot be tried")).into());
    };
    comparison.variation.dir.clone_from(&arguments.dir);
    let exit = super::ab::execute(&comparison, common)?;
    if !common.json {
        let undo = undo.map_or_else(String::new, |undo| format!("to undo: {undo}\n"));
        output::show(&format!("if it gains, to set: {set}\n{undo}"))?;
    }
    Ok(exit)
}

/// The newest runs that are asked for a setting: a trial is a run as well.
const RUNS_ASKED: usize = 20;

/// The trial of a setting that the run advises.
fn advised(
    name: &str,
    arguments: &Advise,
    common: &Common,
) -> Result<(Trial, String, Option<String>)> {
    let mut all = kernel_settings::names(&arguments.dir);
    let mut known = Vec::new();
    for run in asked(arguments, common)? {
        let mut judged = stored::judged(common, &run, Sharing { redact: false })?;
        let advice = judged.analysis().advice;
        if let Some(setting) = advice.settings.get(name)
            && let Some(trial) = advice::trial(name, setting)
        {
            let commands = advice::commands(name, setting, Some(System::here()));
            return Ok((trial, commands.set, commands.undo));
        }
        let there = advice.settings.into_iter();
        known.extend(there.filter_map(|(name, setting)| {
            advice::trial(&name, &setting)?;
            Some(name)
        }));
    }
    known.sort_unstable();
    known.dedup();
    all.extend(known.iter().map(String::as_str));
    Err(WrongUse(format!(
        "'{name}' cannot be tried; what can: {}",
        all.join(", ")
    ))
    .into())
}

/// The run that is named, or the newest ones.
fn asked(arguments: &Advise, common: &Common) -> Result<Vec<String>> {
    if arguments.run != "latest" {
        return Ok(vec![arguments.run.clone()]);
    }
    let store = stored::open_if_there(common)?;
    let runs = store.map_or_else(|| Ok(Vec::new()), |store| store.runs())?;
    let newest = stored::newest_first(runs.iter());
    let asked = newest.iter().take(RUNS_ASKED);
    Ok(asked.map(ToString::to_string).collect())
}

/// True if a file is advice, of any format.
fn is_advice(path: &Path) -> bool {
    matches!(
        ::advice::load_from(path),
        Ok(_) | Err(::advice::Error::OtherFormat { .. })
    )
}
