//! `oscope import`: imports exported runs into the store. It reads all files before it stores any.

use crate::arguments::{Common, Import};
use crate::exit::Exit;
use crate::{output, stored};
use anyhow::{Context, Result};

pub fn execute(arguments: &Import, common: &Common) -> Result<Exit> {
    let read = |path: &std::path::PathBuf| stored::read_file(path);
    let runs = arguments
        .files
        .iter()
        .map(read)
        .collect::<Result<Vec<_>>>()?;
    let mut store = stored::open(common)?;
    for (run, path) in runs.iter().zip(&arguments.files) {
        let number = store
            .insert(run)
            .with_context(|| format!("cannot import {}", path.display()))?;
        if !common.quiet {
            output::say(&format!(
                "{} is run {number}: `oscope show {number}`",
                path.display()
            ));
        }
    }
    Ok(Exit::Done)
}
