//! `oscope reproduce`: the published reports, figure by figure.

use super::run;
use crate::arguments::{Arguments, Command, Common, Reproduce};
use crate::exit::{Exit, WrongUse};
use crate::target::Target;
use crate::{output, stored, style};
use anyhow::Result;
use clap::Parser;
use files::Watch;
use report::reproduce::{self, Reproduction};
use report::{page, terminal};
use std::path::Path;

pub fn execute(arguments: &Reproduce, common: &Common) -> Result<Exit> {
    if arguments.list {
        output::show_painted(&terminal::places(&style::of_stdout(common)))?;
        return Ok(Exit::Done);
    }
    let choice = arguments.choice();
    if choice.place.is_some()
        && !reproduce::tables()
            .iter()
            .any(|table| choice.includes(table))
    {
        return Err(WrongUse(format!(
            "the reports print nothing at '{}'; `oscope reproduce --list` names the places",
            arguments.figure.join(" ")
        ))
        .into());
    }
    let target = Target::asked(&arguments.output, common)?;
    let mut reproduced = reproduction(arguments, common)?;
    let mut exit = Exit::Done;
    if arguments.run {
        // First the experiments that were never measured, then the points that their plan lacks.
        for _ in 0..2 {
            for words in reproduced.commands() {
                match measure(&words, arguments, common) {
                    Ok(Exit::Done) => {}
                    Ok(stopped @ Exit::Stopped(_)) => return Ok(stopped),
                    Ok(incomplete) => exit = incomplete,
                    // A level that this machine lacks, such as swap, does not prevent the other runs.
                    Err(error) if error.is::<WrongUse>() => {
                        output::say(&format!("oscope: {}: {error}", words.join(" ")));
                        exit = Exit::Incomplete;
                    }
                    Err(error) => return Err(error),
                }
            }
            reproduced = reproduction(arguments, common)?;
        }
    }
    let is_terminal = arguments.output.output == Path::new("-");
    let text = if common.json {
        serde_json::to_string_pretty(&reproduce::json(&reproduced))? + "\n"
    } else if is_page(&arguments.output.output) && !arguments.markdown {
        page::reproduction(&reproduced)?
    } else if arguments.markdown || !is_terminal {
        reproduce::markdown(&reproduced)
    } else {
        output::show_painted(&terminal::reproduction(
            &reproduced,
            &style::of_stdout(common),
        ))?;
        return Ok(exit);
    };
    target.write(text.as_bytes(), &Watch::default())?;
    Ok(exit)
}

/// True if a file of this name is a page.
fn is_page(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
}

/// The chosen reports, judged by the runs that were named, or by those of this machine in the store.
fn reproduction(arguments: &Reproduce, common: &Common) -> Result<Reproduction> {
    let choice = arguments.choice();
    let runs = if arguments.of.is_empty() {
        stored::newest_with(common, &choice.experiments())?
    } else {
        let named = arguments.of.iter().map(|name| stored::run(common, name));
        named.collect::<Result<_>>()?
    };
    let records = runs.iter().flat_map(|run| {
        let records = run.experiments.iter();
        records.map(|record| record.results(&run.machine))
    });
    let results: Vec<_> = records.collect();
    let model = runs
        .first()
        .and_then(|run| run.machine.cpu.model.as_deref());
    Ok(Reproduction::new(
        &choice,
        &results,
        model.unwrap_or("a machine without a name"),
    ))
}

/// Measures the missing points, like `oscope run`.
fn measure(words: &[String], arguments: &Reproduce, common: &Common) -> Result<Exit> {
    let mut line = vec!["oscope".to_owned()];
    line.extend(words.iter().cloned());
    let parsed = Arguments::try_parse_from(&line).map_err(|error| WrongUse(error.to_string()))?;
    let Some(Command::Run(mut run)) = parsed.command else {
        unreachable!("each command is `oscope run`");
    };
    run.dir.clone_from(&arguments.dir);
    run::measure_only(&run, common)
}
