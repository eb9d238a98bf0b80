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
    let run = match arguments.format {
        // These are for programs, and can be read back.
        ExportFormat::Json | ExportFormat::Parquet => stored::run_as_it_is(common, &arguments.run)?,
        _ => stored::run(common, &arguments.run)?,
    };
    let mut contents = Vec::new();
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
