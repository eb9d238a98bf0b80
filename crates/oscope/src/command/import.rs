//! `oscope import`: imports exported runs into the store. It reads all files before it stores any.

use crate::arguments::{Common, Import};
use crate::exit::Exit;
use crate::{output, stored};
use anyhow::{Context, Result};
use record::Run;
use std::fs;
use std::path::{Path, PathBuf};

/// Size of the files whose runs stay in memory from the first reading, in bytes. All others are read
/// a second time, so that memory does not grow with their number.
const KEPT_FILES_BYTES: u64 = 16 << 20;

pub fn execute(arguments: &Import, common: &Common) -> Result<Exit> {
    let mut kept_bytes = 0;
    let read = |path: &PathBuf| -> Result<Option<Run>> {
        let run = stored::read_file(path)?;
        let bytes = bytes_of_file(path);
        kept_bytes += bytes.unwrap_or(0);
        let is_kept = bytes.is_none() || kept_bytes <= KEPT_FILES_BYTES;
        Ok(is_kept.then_some(run))
    };
    let files = arguments.files.iter();
    let runs = files.map(read).collect::<Result<Vec<_>>>()?;
    let mut store = stored::open(common)?;
    for (kept, path) in runs.into_iter().zip(&arguments.files) {
        let run = match kept {
            Some(run) => run,
            None => stored::read_file(path)?,
        };
        let number = store
            .insert(&run)
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

/// Size of a file that can be read twice; `None` for others, such as a pipe.
fn bytes_of_file(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    metadata.is_file().then_some(metadata.len())
}
