//! `oscope history`: the stored runs, or a metric over them.

use crate::arguments::{Common, History};
use crate::exit::{Exit, WrongUse};
use crate::{legible, output, stored, style};
use anyhow::Result;
use record::store::{HistoryQuery, Store};
use report::{history, json, terminal};

pub fn execute(arguments: &History, common: &Common) -> Result<Exit> {
    let store = stored::open_to_read(common)?;
    let (text, exit) = match &arguments.metric {
        Some(metric) => {
            let store = store.ok_or_else(stored::nothing_stored)?;
            over_runs(&store, metric, arguments, common)?
        }
        None => list(store.as_ref(), common)?,
    };
    output::show_painted(&text)?;
    Ok(exit)
}

/// The stored runs. Damaged entries are marked and reported, and make the result incomplete.
fn list(store: Option<&Store>, common: &Common) -> Result<(String, Exit)> {
    let runs = store.map_or_else(|| Ok(Vec::new()), Store::runs)?;
    let runs: Vec<_> = runs.into_iter().map(legible::summary).collect();
    let mut exit = Exit::Done;
    for run in runs.iter().filter(|run| run.damaged) {
        output::say(&format!(
            "oscope: the entry of run {} in the list of runs is damaged: `oscope verify` tells more",
            run.number
        ));
        exit = Exit::Incomplete;
    }
    let text = if common.json {
        serde_json::to_string_pretty(&json::entries(&runs))? + "\n"
    } else {
        terminal::runs(&runs, &style::of_stdout(common))
    };
    Ok((text, exit))
}

/// The history of `name`. Damaged runs are left out and reported, and make the result incomplete.
fn over_runs(
    store: &Store,
    name: &str,
    arguments: &History,
    common: &Common,
) -> Result<(String, Exit)> {
    let (experiment, metric) = parts(name);
    let machine = machine(store, experiment, arguments)?;
    let query = HistoryQuery {
        fingerprint: &machine,
        experiment,
        metric,
        limit: arguments.last,
    };
    let levels = arguments.at.iter();
    let levels: Vec<_> = levels
        .map(|(axis, level)| (axis.as_str(), level.clone()))
        .collect();
    let mut gathering = history::Gathering::new(metric);
    let damaged = store.history(
        &query,
        |point| point.matches(&levels),
        |run| gathering.add(&run),
    )?;
    for error in &damaged {
        output::say(&format!("oscope: {error}"));
    }
    let histories = gathering.finish(damaged.len()).into_iter();
    let histories = histories
        .map(legible::history)
        .collect::<Result<Vec<_>>>()?;
    let exit = if damaged.is_empty() {
        Exit::Done
    } else {
        Exit::Incomplete
    };
    if histories.is_empty() && exit == Exit::Done {
        return Err(WrongUse(format!(
            "no run of the machine {machine} has a value of {name} there; `oscope explain \
             {experiment}` names its metrics and axes"
        ))
        .into());
    }
    let text = if common.json {
        serde_json::to_string_pretty(&json::histories(&histories))? + "\n"
    } else {
        terminal::histories(&histories, &style::of_stdout(common))
    };
    Ok((text, exit))
}

/// Splits `name` into experiment and metric: `group.name.metric`, or without the metric.
fn parts(name: &str) -> (&str, Option<&str>) {
    match name.match_indices('.').nth(1) {
        Some((at, _)) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    }
}

/// The fingerprint of the selected machine.
fn machine(store: &Store, experiment: &str, arguments: &History) -> Result<String> {
    let latest = store.latest_with(experiment)?.ok_or_else(|| {
        WrongUse(format!(
            "no stored run has {experiment}; `oscope history` lists the runs"
        ))
    })?;
    let Some(wanted) = &arguments.machine else {
        return Ok(latest.machine_fingerprint);
    };
    let runs = store.runs()?;
    let found = runs
        .into_iter()
        .map(|run| run.machine_fingerprint)
        .find(|fingerprint| fingerprint.starts_with(wanted.as_str()));
    Ok(found.ok_or_else(|| {
        WrongUse(format!(
            "no stored run is of a machine {wanted}; `oscope history` lists them"
        ))
    })?)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_metric_is_named_after_its_experiment() {
        assert_eq!(parts("process.calls.rate"), ("process.calls", Some("rate")));
        assert_eq!(parts("process.calls"), ("process.calls", None));
    }
}
