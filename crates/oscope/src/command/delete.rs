//! `oscope delete`, `verify` and `cleanup`: removes runs from the store, finds damage in it, in a run or in
//! an exported file, and removes the leftovers of killed runs.

use crate::arguments::{Cleanup, Common, Delete, Verify};
use crate::exit::{Exit, refuse};
use crate::leftovers;
use crate::{kernel_settings, output, sanitise, stored, style};
use anyhow::Result;
use instrument::quantity::counted;
use record::store::{Candidate, RunSelector, Store};
use report::{json, view};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

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

/// `oscope delete`.
pub fn execute(arguments: &Delete, common: &Common) -> Result<Exit> {
    let store = stored::open_to_read(common)?;
    let runs = named(&store, &arguments.runs)?;
    let lines: Vec<String> = runs.values().map(|run| describe(&store, run)).collect();
    drop(store);
    if !arguments.force {
        refuse!(
            "nothing was removed; with --force this would be: {}",
            lines.join("; ")
        );
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
        output::show_json(&removed)?;
    } else {
        for line in lines {
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
fn describe(store: &Store, run: &Candidate) -> String {
    let runs = store.runs().unwrap_or_default();
    let entry = runs.into_iter().find(|entry| entry.number == run.number);
    let run = output::on_one_line(&run.to_string());
    match entry.map(sanitise::summary) {
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

/// `oscope verify`.
pub fn verify(arguments: &Verify, common: &Common) -> Result<Exit> {
    let exported = arguments
        .run
        .as_deref()
        .filter(|name| stored::is_file(name));
    match exported {
        Some(file) => verify_file(Path::new(file), common),
        None => verify_store(arguments.run.as_deref(), common),
    }
}

fn verify_file(path: &Path, common: &Common) -> Result<Exit> {
    let proof = stored::verify_file(path)?;
    let name = output::on_one_line(&path.to_string_lossy());
    style::show(
        common,
        || json::proof(path, &proof),
        || view::proof(&name, &proof),
    )?;
    Ok(Exit::incomplete_if(proof.is_damage()))
}

fn verify_store(run: Option<&str>, common: &Common) -> Result<Exit> {
    let store = stored::open_to_read(common)?;
    let selector = run.map(stored::selector).transpose()?;
    let found = store
        .verify(selector.as_ref())
        .map_err(stored::wrong_use_if_unknown)?;
    let text = style::text(
        common,
        || json::verification(store.path(), &found),
        || view::verification(&found),
    )?;
    drop(store);
    output::show_painted(&text)?;
    Ok(Exit::incomplete_if(found.has_damage()))
}

/// `oscope cleanup`.
pub fn cleanup(arguments: &Cleanup, common: &Common) -> Result<Exit> {
    let store = stored::open_if_there(common)?;
    if store.is_none() && common.store.is_some() {
        output::say(&format!(
            "oscope: there is no store at {}: only {} is searched",
            stored::path(common)?.display(),
            arguments.dir.display()
        ));
    }
    let recovered = kernel_settings::recover().into_iter();
    let leftovers = leftovers::clear(store.as_ref(), &arguments.dir)?;
    let leftovers: Vec<_> = recovered.chain(leftovers).collect();
    let lines = leftovers.iter().map(|it| output::on_one_line(&it.sentence));
    let lines: Vec<String> = lines.collect();
    let text = if common.json {
        output::json(&lines)?
    } else if lines.is_empty() {
        "nothing was left behind\n".into()
    } else {
        lines.join("\n") + "\n"
    };
    output::show(&text)?;
    Ok(Exit::incomplete_if(leftovers.iter().any(|it| it.is_stuck)))
}
