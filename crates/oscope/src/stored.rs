//! The stored runs, as the command line names them.

use crate::arguments::Common;
use crate::exit::WrongUse;
use anyhow::{Context, Result};
use record::store::{Error, RunSelector, Store, default_path};
use record::{Run, file};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

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

/// The run that `name` means: one of the store's, or an exported file.
pub fn run(common: &Common, name: &str) -> Result<Run> {
    let file = Path::new(name);
    if file
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        return read_file(file);
    }
    let store = open_to_read(common)?.ok_or_else(nothing_stored)?;
    let selector: RunSelector = name.parse().map_err(|error| WrongUse(format!("{error}")))?;
    store.run(&selector).map_err(|error| match error {
        Error::Unknown { .. } | Error::Ambiguous { .. } => WrongUse(error.to_string()).into(),
        other => other.into(),
    })
}

/// Reads an exported run.
pub fn read_file(path: &Path) -> Result<Run> {
    let cannot_read = || format!("cannot read {}", path.display());
    let opened = File::open(path).with_context(cannot_read)?;
    file::import(BufReader::new(opened)).with_context(cannot_read)
}

fn nothing_stored() -> WrongUse {
    WrongUse("nothing has been measured yet; `oscope run` does it".into())
}
