//! `oscope history`: the stored runs, or a metric or all metrics over them.

use crate::arguments::{Common, History};
use crate::exit::{Exit, WrongUse, refuse};
use crate::{output, sanitise, stored, style};
use anyhow::Result;
use record::store::{HistoryQuery, RunSelector, RunSummary, Store};
use report::{changes, history, json, view};

/// Default number of runs to read for one metric.
const MOST_OF_METRIC: usize = 1000;
/// Default number of runs to read for all metrics: each takes about 0.1 s.
const MOST_OF_ALL: usize = 100;

pub fn execute(arguments: &History, common: &Common) -> Result<Exit> {
    let store = stored::open_to_read(common)?;
    let (text, exit) = match &arguments.metric {
        Some(metric) => over_runs(&store, metric, arguments, common)?,
        None if arguments.changes => over_all(&store, arguments, common)?,
        None => list(&store, common)?,
    };
    drop(store);
    output::show_painted(&text)?;
    Ok(exit)
}

/// The stored runs. Damaged entries are marked and reported, and make the result incomplete.
fn list(store: &Store, common: &Common) -> Result<(String, Exit)> {
    let runs: Vec<_> = store.runs()?.into_iter().map(sanitise::summary).collect();
    let damaged: Vec<_> = runs.iter().filter(|run| run.damaged).collect();
    for run in &damaged {
        output::say(&format!(
            "oscope: the entry of run {} in the list of runs is damaged: `oscope verify` names what is wrong",
            run.number
        ));
    }
    let text = style::text(common, || json::entries(&runs), || view::runs(&runs))?;
    Ok((text, Exit::incomplete_if(!damaged.is_empty())))
}

/// The history of `name`. Damaged runs are left out and reported, and make the result incomplete.
fn over_runs(
    store: &Store,
    name: &str,
    arguments: &History,
    common: &Common,
) -> Result<(String, Exit)> {
    let (experiment, metric) = parts(name);
    let latest = store.latest_with(experiment)?.ok_or_else(|| {
        WrongUse(format!(
            "no stored run has {experiment}; `oscope history` lists the runs"
        ))
    })?;
    let machine = machine(store, latest, arguments)?;
    let query = HistoryQuery {
        fingerprint: &machine,
        experiment,
        metric,
        limit: arguments.last.unwrap_or(MOST_OF_METRIC),
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
        .map(sanitise::history)
        .collect::<Result<Vec<_>>>()?;
    if histories.is_empty() && damaged.is_empty() {
        refuse!(
            "no run of the machine {machine} has a value of {name} there; `oscope explain \
             {experiment}` names its metrics and axes"
        );
    }
    let text = style::text(
        common,
        || json::histories(&histories),
        || view::histories(&histories),
    )?;
    Ok((text, Exit::incomplete_if(!damaged.is_empty())))
}

/// Splits `name` into experiment and metric: `group.name.metric`, or without the metric.
fn parts(name: &str) -> (&str, Option<&str>) {
    match name.match_indices('.').nth(1) {
        Some((at, _)) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    }
}

/// The changes in all metrics. Damaged runs are left out and reported, and make the result incomplete.
fn over_all(store: &Store, arguments: &History, common: &Common) -> Result<(String, Exit)> {
    let runs = store.runs()?.into_iter();
    let runs: Vec<_> = runs.map(sanitise::summary).collect();
    let newest = runs.iter().find(|run| !run.damaged).cloned();
    let newest = newest.ok_or_else(stored::nothing_stored)?;
    let machine = machine(store, newest, arguments)?;
    let of_machine = runs
        .iter()
        .filter(|run| !run.damaged && run.machine_fingerprint == machine);
    let mut gathering = changes::Gathering::new(&machine);
    let mut damaged = 0;
    for run in of_machine.take(arguments.last.unwrap_or(MOST_OF_ALL)) {
        match stored::judged_in(store, &RunSelector::Text(run.id.clone())) {
            Ok(mut judged) => gathering.add(run.number, &judged.analysis()),
            Err(error) => {
                output::say(&format!("oscope: {error:#}"));
                damaged += 1;
            }
        }
    }
    let found = gathering.finish();
    let text = style::text(
        common,
        || json::changes(&found, damaged),
        || view::changes(&found),
    )?;
    Ok((text, Exit::incomplete_if(damaged > 0)))
}

/// The fingerprint of the selected machine: that of `latest`, unless the user names another.
fn machine(store: &Store, latest: RunSummary, arguments: &History) -> Result<String> {
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
