//! `oscope export`: a stored run as one portable file.

use crate::arguments::{Common, Export, ExportFormat};
use crate::exit::Exit;
use crate::stored;
use crate::target::Target;
use anyhow::Result;
use files::Watch;
use record::{Run, csv, file};
use report::{export, markdown, view};

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
            contents = markdown::paint(&view::export(&judged()?.analysis()), 1).into()
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
