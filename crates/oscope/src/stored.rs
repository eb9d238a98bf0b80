//! The stored runs, as the command line names them.

use crate::arguments::{Common, Sharing};
use crate::exit::WrongUse;
use crate::{legible, output};
use anyhow::{Context, Result};
use record::store::{Error, RunSelector, Store, default_path};
use record::{Proof, Redactor, Run, file};
use report::comparison::Side;
use report::reference::{self, Reference};
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

/// What the name of a published report's numbers begins with.
const REFERENCE: &str = "reference:";

/// Where the runs are kept.
pub fn path(common: &Common) -> Result<PathBuf> {
    match &common.store {
        Some(path) => Ok(path.clone()),
        None => Ok(default_path()?),
    }
}

/// The store, made if it is not there.
pub fn open(common: &Common) -> Result<Store> {
    Ok(match &common.store {
        Some(path) => Store::open(path)?,
        None => Store::open_default()?,
    })
}

/// The store for reading; `None` if nothing was ever kept there.
pub fn open_to_read(common: &Common) -> Result<Option<Store>> {
    let path = path(common)?;
    if path.exists() {
        Ok(Some(Store::open_read_only(&path)?))
    } else {
        Ok(None)
    }
}

/// The run that `name` means: one of the store's, an exported file, or a report's numbers. Its text can
/// be shown.
pub fn run(common: &Common, name: &str) -> Result<Run> {
    legible::run(run_as_it_is(common, name)?)
}

/// The same for the eyes that `sharing` says.
pub fn run_to_share(common: &Common, name: &str, sharing: Sharing) -> Result<Run> {
    let run = run_as_it_is(common, name)?;
    legible::run(redacted_if(sharing, run, common)?)
}

/// `run`, redacted if `sharing` says so. The marks come from the secret of the store. Where there is none,
/// they are marks of this one export.
pub fn redacted_if(sharing: Sharing, run: Run, common: &Common) -> Result<Run> {
    if !sharing.redact {
        return Ok(run);
    }
    let store = open_to_read(common).ok().flatten();
    let key = store.and_then(|store| store.redaction_key().ok().flatten());
    let redactor = if let Some(key) = key {
        Redactor::new(key)
    } else {
        output::say(
            "there is no store with a secret for marks yet, as the next `oscope run` makes one: the \
             marks of this output will be in no other",
        );
        Redactor::draw().context("the system gives no random numbers")?
    };
    Ok(redactor.run(run))
}

/// The same as [`run`], as it was recorded.
pub fn run_as_it_is(common: &Common, name: &str) -> Result<Run> {
    if let Some(reported) = name.strip_prefix(REFERENCE) {
        return Ok(reference(reported)?.run());
    }
    if is_file(name) {
        return read_file(Path::new(name));
    }
    let store = open_to_read(common)?.ok_or_else(nothing_stored)?;
    store.run(&selector(name)?).map_err(wrong_use_if_unknown)
}

/// Writes the run that `name` means with the checksums that it has in the store; `false` if it is not there
/// that it is.
pub fn export(common: &Common, name: &str, output: impl Write) -> Result<bool> {
    if name.starts_with(REFERENCE) || is_file(name) {
        return Ok(false);
    }
    let store = open_to_read(common)?.ok_or_else(nothing_stored)?;
    match store.export(&selector(name)?, output) {
        Err(file::ExportError::Store(error)) => Err(wrong_use_if_unknown(error)),
        other => other.map(|()| true).map_err(Into::into),
    }
}

/// Whether `name` means an exported file, and not a run of the store.
pub fn is_file(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extension == "json")
}

/// The stored run that `name` means.
pub fn selector(name: &str) -> Result<RunSelector, WrongUse> {
    name.parse().map_err(|error| WrongUse(format!("{error}")))
}

/// The error of a store, or wrong use where the run that was named is not there.
pub fn wrong_use_if_unknown(error: Error) -> anyhow::Error {
    match error {
        Error::Unknown { .. } | Error::Ambiguous { .. } => WrongUse(error.to_string()).into(),
        other => other.into(),
    }
}

/// The side of a comparison that `text` means: the numbers of a report, or the runs whose names stand
/// in it, joined by commas. A file may have a comma in its name.
pub fn side(common: &Common, text: &str) -> Result<Side> {
    let names: Vec<&str> = if Path::new(text).is_file() {
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
            return Err(WrongUse(format!(
                "'{text}' names the same run twice; sessions are runs of their own"
            ))
            .into());
        }
    }
    Ok(Side {
        label: text.to_owned(),
        runs,
        is_reported: names.iter().any(|name| name.starts_with(REFERENCE)),
    })
}

/// The numbers of the published report called `name`.
fn reference(name: &str) -> Result<&'static Reference, WrongUse> {
    reference::find(name).ok_or_else(|| {
        let known = reference::ALL.iter().map(|reference| reference.name);
        let known = known.collect::<Vec<_>>().join(", ");
        WrongUse(format!("there is no reference '{name}'; there are {known}"))
    })
}

/// Reads an exported run.
pub fn read_file(path: &Path) -> Result<Run> {
    let cannot_read = || format!("cannot read {}", path.display());
    let opened = File::open(path).with_context(cannot_read)?;
    file::import(BufReader::new(opened)).with_context(cannot_read)
}

/// The extent to which the run in an exported file can be shown to be as it was measured.
pub fn verify_file(path: &Path) -> Result<Proof> {
    let cannot_read = || format!("cannot read {}", path.display());
    let opened = File::open(path).with_context(cannot_read)?;
    file::verify(BufReader::new(opened)).with_context(cannot_read)
}

/// Why there is nothing to read.
pub fn nothing_stored() -> WrongUse {
    WrongUse("nothing has been measured yet; `oscope run` does it".into())
}
