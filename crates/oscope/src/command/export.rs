//! `oscope export`: a stored run as one portable file.

use crate::arguments::{Common, Export, ExportFormat};
use crate::exit::Exit;
use crate::stored;
use crate::target::Target;
use anyhow::Result;
use files::Watch;
use record::{Run, csv, file};
use report::{Analysis, export};

pub fn execute(arguments: &Export, common: &Common) -> Result<Exit> {
    let target = Target::asked(&arguments.output, common)?;
    let mut contents = Vec::new();
    let is_whole = arguments.format == ExportFormat::Json && !arguments.sharing.redact;
    if is_whole && stored::export(common, &arguments.run, &mut contents)? {
        target.write(&contents, &Watch::default())?;
        return Ok(Exit::Done);
    }
    let run = match arguments.format {
        // These formats are for programs, which need the recorded text unchanged.
        ExportFormat::Json | ExportFormat::Parquet => {
            let run = stored::run_as_it_is(common, &arguments.run)?;
            stored::redacted_if(arguments.sharing, run, common)?
        }
        _ => stored::run_to_share(common, &arguments.run, arguments.sharing)?,
    };
    match arguments.format {
        ExportFormat::Json => file::export(&run, &mut contents)?,
        ExportFormat::Csv => csv::write(&run, &mut contents)?,
        ExportFormat::Parquet => parquet(&run, &mut contents)?,
        ExportFormat::Markdown => contents = export::markdown(&Analysis::new(&run)).into(),
        ExportFormat::Openmetrics => contents = export::openmetrics(&Analysis::new(&run)).into(),
        ExportFormat::GoogleBenchmark => {
            let document = export::google_benchmark(&Analysis::new(&run));
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
