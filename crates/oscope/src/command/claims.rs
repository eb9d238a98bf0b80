//! `oscope claims`: claims of reports and common beliefs, judged by a stored run.

use crate::arguments::{Claims, Common, Sharing};
use crate::exit::Exit;
use crate::{output, stored, style};
use anyhow::Result;
use report::view;

pub fn execute(arguments: &Claims, common: &Common) -> Result<Exit> {
    let mut judged = stored::judged(common, &arguments.run, Sharing { redact: false })?;
    let analysis = judged.analysis();
    let text = if common.json {
        serde_json::to_string_pretty(&report::json::claims(&analysis))? + "\n"
    } else {
        style::painted(&view::claims(&analysis), common)
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}
