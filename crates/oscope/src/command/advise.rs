//! `oscope advise`: the settings that programs, services and the system should use here.

use crate::arguments::{Ab, Advise, Arguments, Command, Common, Sharing, Varied};
use crate::exit::{Exit, WrongUse, refuse};
use crate::kernel_settings;
use crate::target::{Replaces, Target, make_directory};
use crate::{output, stored, style};
use anyhow::Result;
use clap::Parser;
use files::Watch;
use instrument::trial::Trial;
use report::{Analysis, advice, view};
use std::path::Path;

pub fn execute(arguments: &Advise, common: &Common) -> Result<Exit> {
    if let Some(name) = &arguments.attempt {
        return attempt(name, arguments, common);
    }
    let mut judged = stored::judged(common, &arguments.run, Sharing { redact: false })?;
    let mut analysis = judged.analysis();
    stored::add_settings_of_system(&mut analysis, stored::open_if_there(common)?.as_ref())?;
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
    let text = style::text(common, || advice, || view::advice(&analysis))?;
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

/// Measures before and after a setting by `oscope ab --vary`, and prints how to have it.
fn attempt(name: &str, arguments: &Advise, common: &Common) -> Result<Exit> {
    let (comparison, advice) = if let Some(tried) = kernel_settings::trial(name, &arguments.dir)? {
        let vary = ["--vary".into(), tried.vary];
        let at = tried
            .at
            .iter()
            .flat_map(|at| ["--at", at].map(str::to_owned));
        (
            comparison(tried.experiment, vary.into_iter().chain(at), arguments)?,
            format!(
                "if it gains, to set: {}\nto undo: {}\n",
                tried.set, tried.undo
            ),
        )
    } else {
        let (trial, [usual, advised], action) = advised(name, arguments, common)?;
        let vary = ["--vary".to_owned(), format!("{name}={usual},{advised}")];
        let mut comparison = comparison(&trial.experiment, vary.into_iter(), arguments)?;
        if let Some(vary) = &mut comparison.variation.vary {
            vary.varied = Varied::Trial(name.into(), trial.points);
        }
        (comparison, format!("if it gains: {action}\n"))
    };
    let exit = super::ab::execute(&comparison, common)?;
    if !common.json {
        output::show(&advice)?;
    }
    Ok(exit)
}

/// The arguments of `oscope ab` for `experiment`.
fn comparison(
    experiment: &str,
    options: impl Iterator<Item = String>,
    arguments: &Advise,
) -> Result<Ab> {
    let mut words = ["oscope", "ab", experiment].map(str::to_owned).to_vec();
    words.extend(options);
    let budget = arguments.budget.iter().cloned();
    words.extend(budget.flat_map(|time| ["--budget".into(), time]));
    let Arguments { command, .. } = Arguments::try_parse_from(&words).map_err(WrongUse::from)?;
    let Some(Command::Ab(mut comparison)) = command else {
        refuse!("{experiment} cannot be tried");
    };
    comparison.programs.dir = vec![arguments.dir.clone()];
    Ok(*comparison)
}

/// The number of the newest runs that are searched for a setting. Some may be trials, which advise nothing.
const RUNS_SEARCHED: usize = 20;

/// The trial of a setting that the run advises, its usual and its advised value, and what to do.
fn advised(
    name: &str,
    arguments: &Advise,
    common: &Common,
) -> Result<(Trial, [String; 2], String)> {
    let mut all = kernel_settings::names(&arguments.dir);
    let mut known = Vec::new();
    for run in runs_to_search(arguments, common)? {
        let mut judged = stored::judged(common, &run, Sharing { redact: false })?;
        let Analysis { advice, guides, .. } = judged.analysis();
        let guide = guides
            .get(name)
            .and_then(|guide| Some((guide, guide.trial.clone()?)));
        if let (Some((guide, trial)), Some(setting)) = (guide, advice.settings.get(name)) {
            let values = [&setting.usual, &setting.value].map(|it| advice::value(setting, it));
            return Ok((trial, values, advice::action(&guide.action)));
        }
        let can_be_tried = guides
            .into_iter()
            .filter(|(_, guide)| guide.trial.is_some());
        known.extend(can_be_tried.map(|(name, _)| name));
    }
    known.sort_unstable();
    known.dedup();
    all.extend(known.iter().map(String::as_str));
    refuse!("'{name}' cannot be tried; what can: {}", all.join(", "))
}

/// The run that is named, or the newest ones.
fn runs_to_search(arguments: &Advise, common: &Common) -> Result<Vec<String>> {
    if arguments.run != "latest" {
        return Ok(vec![arguments.run.clone()]);
    }
    let store = stored::open_if_there(common)?;
    let runs = store.map_or_else(|| Ok(Vec::new()), |store| store.runs())?;
    let newest = stored::newest_first(runs.iter());
    let newest = newest.iter().take(RUNS_SEARCHED);
    Ok(newest.map(ToString::to_string).collect())
}

/// True if a file is advice, of any format.
fn is_advice(path: &Path) -> bool {
    matches!(
        ::advice::load_from(path),
        Ok(_) | Err(::advice::Error::OtherFormat { .. })
    )
}
