//! `oscope export`: a stored run as one portable file.

use crate::arguments::{Common, Export, ExportFormat};
use crate::exit::Exit;
use crate::{output, stored};
use anyhow::Result;
use record::{csv, file};

pub fn execute(arguments: &Export, common: &Common) -> Result<Exit> {
    let run = stored::run(common, &arguments.run)?;
    let mut contents = Vec::new();
    match arguments.format {
        ExportFormat::Json => file::export(&run, &mut contents)?,
        ExportFormat::Csv => csv::write(&run, &mut contents)?,
    }
    output::write(&arguments.output, &contents)?;
    Ok(Exit::Done)
}
