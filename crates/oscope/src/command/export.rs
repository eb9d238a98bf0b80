//! `oscope export` and `oscope import`: a stored run as one portable file, and back.

use crate::arguments::{Common, Export, ExportFormat, Import};
use crate::exit::Exit;
use crate::target::Target;
use crate::{output, stored};
use anyhow::{Context, Result};
use files::Watch;
use record::{Run, csv, file};
use report::{export, markdown, view};
use std::fs;
use std::path::{Path, PathBuf};

/// `oscope export`.
pub fn execute(arguments: &Export, common: &Common) -> Result<Exit> {
    let target = match arguments.format {
        ExportFormat::Json | ExportFormat::GoogleBenchmark => {
            Target::for_document("JSON", &arguments.output, common)?
        }
        _ => Target::asked(&arguments.output, common)?,
    };
    let mut contents = Vec::new();
    let is_whole = arguments.format == ExportFormat::Json && !arguments.sharing.redact;
    if is_whole && stored::export(common, &arguments.run, &mut contents)? {
        target.write(&contents, &Watch::default())?;
        return Ok(Exit::Done);
    }
    // These formats are for programs, which need the recorded text unchanged.
    let unchanged = || {
        let run = stored::run_as_it_is(common, &arguments.run)?;
        stored::redacted_if(arguments.sharing, run, common)
    };
    let judged = || stored::judged(common, &arguments.run, arguments.sharing);
    match arguments.format {
        ExportFormat::Json => file::export(&unchanged()?, &mut contents)?,
        ExportFormat::Csv => {
            let run = stored::run_to_share(common, &arguments.run, arguments.sharing)?;
            csv::write(&run, &mut contents)?;
        }
        ExportFormat::Parquet => parquet(&unchanged()?, &mut contents)?,
        ExportFormat::Markdown => {
            contents = markdown::paint(&view::export(&judged()?.analysis()), 1).into();
        }
        ExportFormat::Openmetrics => contents = export::openmetrics(&judged()?.analysis()).into(),
        ExportFormat::GoogleBenchmark => {
            let document = export::google_benchmark(&judged()?.analysis());
            serde_json::to_writer_pretty(&mut contents, &document)?;
            contents.push(b'\n');
        }
    }
    target.write(&contents, &Watch::default())?;
    Ok(Exit::Done)
}

#[cfg(feature = "parquet")]
fn parquet(run: &Run, contents: &mut Vec<u8>) -> Result<()> {
    Ok(record::parquet::write(run, contents)?)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Run, _: &mut Vec<u8>) -> Result<()> {
    Err(crate::exit::WrongUse(
        "this oscope was built without the feature that writes Parquet; write csv, or build it with \
         `cargo install --path crates/oscope --features parquet`"
            .into(),
    )
    .into())
}

/// Size of the files whose runs stay in memory from the first reading, in bytes. All others are read
/// a second time, so that memory does not grow with their number.
const KEPT_FILES_BYTES: u64 = 16 << 20;

/// `oscope import`: reads all files before it stores any.
pub fn import(arguments: &Import, common: &Common) -> Result<Exit> {
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
        let file = path.display();
        output::note(
            common,
            &format!("{file} is run {number}: `oscope show {number}`"),
        );
    }
    Ok(Exit::Done)
}

/// Size of a file that can be read twice; `None` for others, such as a pipe.
fn bytes_of_file(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    metadata.is_file().then_some(metadata.len())
}
