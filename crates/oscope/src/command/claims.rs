//! `oscope claims`: claims of reports and common beliefs, judged by a stored run.

use crate::arguments::{Claims, Common, Sharing};
use crate::exit::Exit;
use crate::{stored, style};
use anyhow::Result;
use report::{json, view};

pub fn execute(arguments: &Claims, common: &Common) -> Result<Exit> {
    let mut judged = stored::judged(common, &arguments.run, Sharing { redact: false })?;
    let analysis = judged.analysis();
    style::show(
        common,
        || json::claims(&analysis),
        || view::claims(&analysis),
    )?;
    Ok(Exit::Done)
}
