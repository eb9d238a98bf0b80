//! `oscope claims`: claims of reports and common beliefs, judged by a stored run.

use crate::arguments::{Claims, Common};
use crate::exit::Exit;
use crate::{output, stored, style};
use anyhow::Result;
use report::{Analysis, terminal};

pub fn execute(arguments: &Claims, common: &Common) -> Result<Exit> {
    let run = stored::run(common, &arguments.run)?;
    let analysis = Analysis::new(&run);
    let text = if common.json {
        serde_json::to_string_pretty(&report::json::claims(&analysis))? + "\n"
    } else {
        terminal::claims(&analysis, &style::of_stdout())
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}
