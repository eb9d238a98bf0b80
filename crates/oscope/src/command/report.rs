//! `oscope report`: the page of a stored run.

use crate::arguments::{Common, Report};
use crate::exit::Exit;
use crate::{output, stored};
use anyhow::Result;
use report::{Analysis, page};

pub fn execute(arguments: &Report, common: &Common) -> Result<Exit> {
    let run = stored::run(common, &arguments.run)?;
    let page = page::render(&Analysis::new(&run))?;
    output::write(&arguments.output, page.as_bytes())?;
    Ok(Exit::Done)
}
