//! The stored runs, as the command line names them.

use crate::arguments::{Common, Sharing};
use crate::exit::{WrongUse, refuse};
use crate::{output, sanitise};
use anyhow::{Context, Result};
use platform::file::open_input;
use record::store::{
    Error, HistoryQuery, HistoryRun, RunSelector, RunSummary, Snapshot, Store, default_path,
};
use record::{Proof, Redactor, Run, file};
use report::Analysis;
use report::advice;
use report::cached::{self, Cached};
use report::comparison::Side;
use report::reference::{self, Reference};
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// Prefix of the names of published reports.
const REFERENCE: &str = "reference:";

/// Path of the store.
pub fn path(common: &Common) -> Result<PathBuf> {
    match &common.store {
        Some(path) => Ok(path.clone()),
        None => Ok(default_path()?),
    }
}

/// Opens the store; creates it if it does not exist.
pub fn open(common: &Common) -> Result<Store> {
    Ok(match &common.store {
        Some(path) => Store::open(path)?,
        None => Store::open_default()?,
    })
}

/// Opens the store for reading. A store that does not exist is an error.
pub fn open_to_read(common: &Common) -> Result<Store> {
    Ok(Store::open_read_only(&path(common)?)?)
}

/// Opens the store for reading, where it is of use but not needed; `None` if it does not exist.
pub fn open_if_there(common: &Common) -> Result<Option<Store>> {
    match Store::open_read_only(&path(common)?) {
        Err(Error::Missing(_)) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// The run called `name`: from the store, an exported file, or a published report. Its text is
/// sanitised.
pub fn run(common: &Common, name: &str) -> Result<Run> {
    sanitise::run(run_as_it_is(common, name)?)
}

/// The same as [`run`], redacted if `sharing` asks for it.
pub fn run_to_share(common: &Common, name: &str, sharing: Sharing) -> Result<Run> {
    let run = run_as_it_is(common, name)?;
    sanitise::run(redacted_if(sharing, run, common)?)
}

/// A run to analyse.
pub struct AnalysedRun {
    /// The run, or only its outline if its analysis is cached.
    pub run: Run,
    cached: Option<Cached>,
    /// The store in which a new analysis is cached.
    store: Option<(PathBuf, Snapshot)>,
}

/// The run called `name` for an analysis, redacted if `sharing` asks for it. Its text is sanitised.
pub fn judged(common: &Common, name: &str, sharing: Sharing) -> Result<AnalysedRun> {
    if sharing.redact || name.starts_with(REFERENCE) || is_file(name) {
        return Ok(AnalysedRun {
            run: run_to_share(common, name, sharing)?,
            cached: None,
            store: None,
        });
    }
    let store = open_to_read(common)?;
    judged_in(&store, &selector(name)?)
}

/// The run of `store` that `selector` names, for an analysis. Its text is sanitised.
pub fn judged_in(store: &Store, selector: &RunSelector) -> Result<AnalysedRun> {
    let found = store.judged(selector, &code());
    match found.map_err(wrong_use_if_unknown)? {
        record::store::Judged::Kept { outline, analysis } => {
            let outline = sanitise::run(outline)?;
            let cached = Cached::read(&analysis, &outline);
            let cached = cached.filter(|_| sanitise::is_clean(&analysis));
            let run = match cached {
                Some(_) => outline,
                None => sanitise::run(store.run(selector).map_err(wrong_use_if_unknown)?)?,
            };
            Ok(AnalysedRun {
                run,
                cached,
                store: None,
            })
        }
        record::store::Judged::Anew { run, snapshot } => Ok(AnalysedRun {
            run: sanitise::run(run)?,
            cached: None,
            store: snapshot.map(|snapshot| (store.path().to_owned(), snapshot)),
        }),
    }
}

impl AnalysedRun {
    /// The analysis, from the cache or new and then cached. A store that cannot be written now caches none.
    pub fn analysis(&mut self) -> Analysis<'_> {
        if let Some(cached) = self.cached.take() {
            return cached.analysis(&self.run);
        }
        let analysis = Analysis::new(&self.run);
        if let Some((path, snapshot)) = &self.store
            && let Ok(text) = cached::to_text(&analysis)
        {
            // Without it the next analysis takes longer, and nothing else.
            let _ = Store::keep(path, *snapshot, &code(), &text);
        }
        analysis
    }
}

/// The program that judges: its version, and the size and time of its file. What another program has
/// judged is judged again.
fn code() -> String {
    let file = env::current_exe().and_then(fs::metadata);
    let file = file.and_then(|file| Ok((file.len(), file.modified()?)));
    // A program whose file is unknown is like no other.
    let file = file.map_err(|_| process::id());
    format!("{} {file:?}", env!("CARGO_PKG_VERSION"))
}

/// `run`, redacted if `sharing` asks for it. The store's secret determines the marks; without a store,
/// the marks are unique to this export.
pub fn redacted_if(sharing: Sharing, run: Run, common: &Common) -> Result<Run> {
    if !sharing.redact {
        return Ok(run);
    }
    let redactor = if let Some(store) = open_if_there(common)? {
        Redactor::new(store.redaction_key()?)
    } else {
        output::say(
            "there is no store yet, and so no secret for the marks: the marks of this output will differ \
             from those of all others; the next `oscope run` makes a store",
        );
        Redactor::draw().context("the system gives no random numbers")?
    };
    Ok(redactor.run(run))
}

/// The newest runs of one machine, the newest first: the machine of the newest run that has one of these
/// experiments. Unreadable runs are left out and reported.
pub fn newest_with(common: &Common, experiments: &[&str]) -> Result<Vec<Run>> {
    /// Of runs of several experiments, and of runs of one: `reproduce --run` makes one for each part of what is
    /// missing, which is soon read.
    const MOST: [usize; 2] = [20, 400];
    let Some(store) = open_if_there(common)? else {
        return Ok(Vec::new());
    };
    let newest = experiments.iter().map(|id| store.latest_with(id));
    let newest: Vec<RunSummary> = newest
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    let Some(newest) = newest.iter().max_by_key(|summary| summary.number) else {
        return Ok(Vec::new());
    };
    let is_of_machine = |run: &&RunSummary| run.machine_fingerprint == newest.machine_fingerprint;
    let runs = store.runs()?;
    let numbers = [false, true].map(|of_one| {
        let runs = runs.iter().filter(|run| (run.experiments == 1) == of_one);
        let mut numbers = newest_first(runs.filter(is_of_machine));
        numbers.truncate(MOST[usize::from(of_one)]);
        numbers
    });
    let mut numbers = numbers.concat();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    let read = |number: &u64| match run(common, &number.to_string()) {
        Ok(run) => Some(run),
        Err(error) => {
            output::say(&format!("oscope: run {number} is left out: {error}"));
            None
        }
    };
    Ok(numbers.iter().filter_map(read).collect())
}

/// The numbers of these runs, but for damaged ones.
pub fn newest_first<'r>(runs: impl Iterator<Item = &'r RunSummary>) -> Vec<u64> {
    let readable = runs.filter(|run| !run.damaged);
    let mut numbers: Vec<u64> = readable.map(|run| run.number).collect();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers
}

/// Adds to `analysis` what administrators can set, with what trials on the same machine showed. Without a store
/// nothing is added.
pub fn add_settings_of_system(analysis: &mut Analysis<'_>, store: Option<&Store>) -> Result<()> {
    if let Some(store) = store {
        let trials = trials(store, &analysis.advice.machine_fingerprint)?;
        analysis.advice.system = advice::system(analysis.run, &trials);
    }
    Ok(())
}

/// The newest comparisons of `oscope ab --vary` on the machine with this fingerprint, for each
/// experiment. Damaged runs are left out.
fn trials(store: &Store, fingerprint: &str) -> Result<Vec<HistoryRun>> {
    /// A setting may have been tried before others by the same experiment.
    const MOST_OF_EACH: usize = 10;
    let mut trials = Vec::new();
    for experiment in advice::trial_experiments() {
        let query = HistoryQuery {
            fingerprint,
            experiment: &experiment,
            metric: None,
            limit: MOST_OF_EACH,
        };
        store.history(&query, |_| true, |trial| trials.push(trial))?;
    }
    Ok(trials)
}

/// The same as [`run`], without sanitising.
pub fn run_as_it_is(common: &Common, name: &str) -> Result<Run> {
    if let Some(reported) = name.strip_prefix(REFERENCE) {
        return Ok(reference(reported)?.run());
    }
    if is_file(name) {
        return read_file(Path::new(name));
    }
    let store = open_to_read(common)?;
    store.run(&selector(name)?).map_err(wrong_use_if_unknown)
}

/// Exports the stored run called `name` with the checksums from the store; `false` if it is not in
/// the store.
pub fn export(common: &Common, name: &str, output: impl Write) -> Result<bool> {
    if name.starts_with(REFERENCE) || is_file(name) {
        return Ok(false);
    }
    let store = open_to_read(common)?;
    match store.export(&selector(name)?, output) {
        Err(file::ExportError::Store(error)) => Err(wrong_use_if_unknown(error)),
        other => other.map(|()| true).map_err(Into::into),
    }
}

/// True if the store has runs called `name`.
pub fn is_there(common: &Common, name: &str) -> Result<bool> {
    match open_to_read(common)?.find(&selector(name)?) {
        Ok(_) | Err(Error::Ambiguous { .. }) => Ok(true),
        Err(Error::Unknown { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// True if `name` is an exported file instead of a run of the store.
pub fn is_file(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extension == "json")
}

/// The selector of the stored run called `name`.
pub fn selector(name: &str) -> Result<RunSelector, WrongUse> {
    name.parse().map_err(|error| WrongUse(format!("{error}")))
}

/// A store error; wrong use if the named run does not exist.
pub fn wrong_use_if_unknown(error: Error) -> anyhow::Error {
    match error {
        Error::Unknown { .. } | Error::Ambiguous { .. } => WrongUse(error.to_string()).into(),
        other => other.into(),
    }
}

/// The side of a comparison that `text` names: a published report, or runs joined by commas. A file
/// name may itself contain a comma.
pub fn side(common: &Common, text: &str) -> Result<Side> {
    let names: Vec<&str> = if is_one_file(text) {
        vec![text]
    } else {
        text.split(',').map(str::trim).collect()
    };
    let runs = names
        .iter()
        .map(|name| run(common, name))
        .collect::<Result<Vec<Run>>>()?;
    for (index, run) in runs.iter().enumerate() {
        let id = &run.header.id;
        if runs[..index].iter().any(|other| other.header.id == *id) {
            refuse!("'{text}' names the same run twice; sessions are separate runs");
        }
    }
    Ok(Side {
        label: output::on_one_line(text),
        runs,
    })
}

/// True if a file has this name, or lies where this user may not look.
fn is_one_file(name: &str) -> bool {
    match fs::metadata(name) {
        Ok(found) => found.is_file(),
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

/// The published report called `name`.
fn reference(name: &str) -> Result<&'static Reference, WrongUse> {
    reference::find(name).ok_or_else(|| {
        let known = reference::ALL.iter().map(|reference| reference.name);
        let known = known.collect::<Vec<_>>().join(", ");
        WrongUse(format!("there is no reference '{name}'; there are {known}"))
    })
}

/// Reads an exported run.
pub fn read_file(path: &Path) -> Result<Run> {
    reading(path, file::import)
}

/// Verifies the checksums of the run in an exported file.
pub fn verify_file(path: &Path) -> Result<Proof> {
    reading(path, file::verify)
}

fn reading<T>(
    path: &Path,
    read: impl FnOnce(BufReader<File>) -> Result<T, file::ImportError>,
) -> Result<T> {
    let cannot_read = || format!("cannot read {}", path.display());
    let opened = open_input(path).with_context(cannot_read)?;
    read(BufReader::new(opened)).with_context(cannot_read)
}

/// The text of a file that somebody wrote for this program.
pub fn text_of(path: &Path) -> Result<String> {
    let text = open_input(path).and_then(io::read_to_string);
    text.with_context(|| format!("cannot read {}", path.display()))
}

/// The error for an empty store.
pub fn nothing_stored() -> WrongUse {
    WrongUse("no run has been stored yet: `oscope run` measures one".into())
}
