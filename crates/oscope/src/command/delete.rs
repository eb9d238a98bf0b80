//! `oscope delete`: removes runs from the store.

use crate::arguments::{Common, Delete};
use crate::exit::{Exit, WrongUse};
use crate::{legible, output, stored};
use anyhow::Result;
use instrument::quantity::counted;
use record::store::{Candidate, RunSelector, Store};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON format; its schema is `schema/delete-1.schema.json` in this crate.
const FORMAT: u32 = 1;

/// The removed runs.
#[derive(Serialize)]
struct Removed<'r> {
    format: u32,
    number: u64,
    id: &'r str,
    name: Option<&'r str>,
}

pub fn execute(arguments: &Delete, common: &Common) -> Result<Exit> {
    let store = stored::open_to_read(common)?;
    let runs = named(&store, &arguments.runs)?;
    let told: Vec<String> = runs.values().map(|run| tell(&store, run)).collect();
    drop(store);
    if !arguments.force {
        return Err(WrongUse(format!(
            "nothing was removed; with --force this would be: {}",
            told.join("; ")
        ))
        .into());
    }
    let numbers = runs
        .keys()
        .map(|number| RunSelector::Text(number.to_string()));
    stored::open(common)?.delete(&numbers.collect::<Vec<_>>())?;
    if common.json {
        let removed = |run: &Candidate| {
            serde_json::to_value(Removed {
                format: FORMAT,
                number: run.number,
                id: &run.id,
                name: run.name.as_deref(),
            })
        };
        let removed = runs.values().map(removed).collect::<Result<Vec<_>, _>>()?;
        output::show(&(serde_json::to_string_pretty(&removed)? + "\n"))?;
    } else {
        for line in told {
            output::show(&format!("removed {line}\n"))?;
        }
    }
    Ok(Exit::Done)
}

/// The selected runs by number, without duplicates.
fn named(store: &Store, names: &[String]) -> Result<BTreeMap<u64, Candidate>> {
    let find = |name: &String| {
        let run = store.find(&stored::selector(name)?);
        let run = run.map_err(stored::wrong_use_if_unknown)?;
        Ok((run.number, run))
    };
    names.iter().map(find).collect()
}

/// A description of a run, as far as its entry is readable.
fn tell(store: &Store, run: &Candidate) -> String {
    let runs = store.runs().unwrap_or_default();
    let entry = runs.into_iter().find(|entry| entry.number == run.number);
    let run = output::on_one_line(&run.to_string());
    match entry.map(legible::summary) {
        Some(entry) if !entry.damaged => {
            let end = match entry.ended {
                Some(_) => "",
                None => ", which is under way or was cut off",
            };
            format!(
                "run {run} of {}, {}, {}{end}",
                entry.started.strftime("%Y-%m-%d %H:%M UTC"),
                counted(entry.experiments, "experiment"),
                counted(entry.samples, "sample")
            )
        }
        _ => format!("run {run}, whose entry is damaged"),
    }
}
