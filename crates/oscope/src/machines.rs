//! The reference machines of a user: a folder next to the store.

use crate::arguments::Common;
use crate::{output, sanitise, stored};
use anyhow::{Context, Result, anyhow};
use report::Analysis;
use report::machines::{Located, ReferenceMachine};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of the references.
pub fn folder(common: &Common) -> Result<PathBuf> {
    Ok(stored::path(common)?.with_file_name("machines"))
}

/// The references of the folder. Files that cannot be used are left out and reported.
pub fn all(common: &Common) -> Result<Vec<Located>> {
    let folder = folder(common)?;
    let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", folder.display()));
        }
    };
    files.retain(|file| stored::is_file(&file.to_string_lossy()));
    files.sort();
    let machine = |file: PathBuf| match read(&file) {
        Ok(machine) => Some(Located {
            file: Some(file),
            machine,
        }),
        Err(error) => {
            let name = file.display();
            output::say(&format!("oscope: {name} is left out: {error}"));
            None
        }
    };
    Ok(files.into_iter().filter_map(machine).collect())
}

fn read(file: &Path) -> Result<ReferenceMachine> {
    let text = stored::text_of(file)?;
    if !sanitise::is_clean(&text) {
        return Err(anyhow!("it contains control characters"));
    }
    Ok(ReferenceMachine::read(&text)?)
}

/// Adds the references of the folder to those that a run is compared with. Without a folder there are none.
pub fn add_to(analysis: &mut Analysis<'_>, common: &Common) {
    if stored::path(common).is_err() {
        return;
    }
    match all(common) {
        Ok(all) => analysis.machines = all.into_iter().map(|located| located.machine).collect(),
        Err(error) => output::say(&format!(
            "oscope: reference machines are left out: {error:#}"
        )),
    }
}
