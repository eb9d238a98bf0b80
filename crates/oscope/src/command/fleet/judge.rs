//! `oscope fleet judge`: exported runs of many nodes, judged against each other.

use super::files::{self, NodeFile};
use crate::arguments::Common;
use crate::arguments::fleet::Judge;
use crate::exit::{Exit, WrongUse, refuse, words};
use crate::target::{Target, publish};
use crate::{output, sanitise, selection, stored, style};
use anyhow::{Context, Result};
use record::file;
use report::fleet::{self, Fleet, Gathering, Reading, Standing, Unjudged};
use report::{page, view};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs that are read at the same time: each takes some ten megabytes while it is read.
const MOST_THREADS: usize = 16;

pub fn execute(arguments: &Judge, common: &Common) -> Result<Exit> {
    let judging = &arguments.judging;
    let page = Target::if_named(judging.page.as_ref(), judging.force, common)?;
    let (mut runs, mut are_whole) = gather(&arguments.files, &arguments.only)?;
    if !arguments.since.is_empty() {
        let (before, are_also_whole) = gather(&arguments.since, &arguments.only)?;
        are_whole &= are_also_whole;
        runs = runs.since(before).map_err(|it| wrong_use(&it))?;
    }
    let judged = judged(runs, judging.margin)?;
    show(&judged, are_whole, page.as_ref(), common)
}

/// The judgement of these runs.
pub fn judged(runs: Gathering, margin: f64) -> Result<Fleet> {
    Ok(runs.judge(margin).map_err(|it| wrong_use(&it))?)
}

/// The reason is in the choice of the runs.
fn wrong_use(unjudged: &Unjudged) -> WrongUse {
    WrongUse(unjudged.to_string())
}

/// Shows a judged fleet. The outcome is incomplete if a node could not be judged as the others were, or the runs are
/// not whole.
pub fn show(
    judged: &Fleet,
    are_whole: bool,
    page: Option<&Target>,
    common: &Common,
) -> Result<Exit> {
    let text = style::text(common, || fleet::json(judged), || view::fleet(judged))?;
    publish(
        page,
        || page::paint(&view::fleet(judged), None),
        &text,
        common,
    )?;
    Ok(if judged.count(Some(Standing::Slower)) > 0 {
        Exit::Found
    } else {
        Exit::incomplete_if(judged.has_unjudged() || !are_whole)
    })
}

/// Reads the experiments `only` of the runs that `paths` name, or all, and prints what cannot be read. False if
/// there was something.
fn gather(paths: &[PathBuf], only: &[String]) -> Result<(Gathering, bool)> {
    let files = files::all(paths)?;
    let mut runs = Gathering::default();
    let mut unread = Vec::new();
    read_all(&files, only, |index, read| match read {
        Ok((node, reading)) => runs.add(&node, reading),
        Err(error) => unread.push((index, error)),
    });
    unread.sort_by_key(|(index, _)| *index);
    for (_, error) in &unread {
        output::say(&format!("oscope: {}", words(error)));
    }
    if unread.len() == files.len() {
        refuse!("none of the files can be judged: name runs that `oscope export` wrote");
    }
    Ok((runs, unread.is_empty()))
}

/// Reads the runs in `files`, several at a time, and passes each to `take` with the index of its file.
fn read_all(
    files: &[NodeFile],
    only: &[String],
    take: impl FnMut(usize, Result<(String, Reading)>) + Send,
) {
    let next = AtomicUsize::new(0);
    let take = Mutex::new(take);
    let work = || {
        while let Some((index, file)) = following(&next, files) {
            let read = read(file, only);
            take.lock().unwrap_or_else(PoisonError::into_inner)(index, read);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(MOST_THREADS).min(files.len()) {
            // One thread reads them all, if there can be no others.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

fn following<'f>(next: &AtomicUsize, files: &'f [NodeFile]) -> Option<(usize, &'f NodeFile)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, files.get(index)?))
}

/// The values of a run, and the name of its node.
fn read(file: &NodeFile, only: &[String]) -> Result<(String, Reading)> {
    let path = file.path.display();
    let text = stored::text_of(&file.path)?;
    let run = file::parse(text.as_bytes()).with_context(|| format!("cannot read {path}"))?;
    if run.header.is_reported() {
        refuse!(
            "{path} holds the numbers of a published report, which have no spread: name measured runs"
        );
    }
    let is_clean = sanitise::is_clean_run(&text);
    drop(text);
    let mut run = if is_clean { run } else { sanitise::run(run)? };
    if !only.is_empty() {
        run.experiments
            .retain(|it| selection::is_among(&it.definition.id, only));
        if run.experiments.is_empty() {
            refuse!("{path} has no {}", only.join(", "));
        }
    }
    let node = fleet::name(&run).unwrap_or_else(|| file.node.clone());
    Ok((node, Reading::of(run)))
}
