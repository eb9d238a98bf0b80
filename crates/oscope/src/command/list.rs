//! `oscope list`: what can be measured.

use crate::arguments::Common;
use crate::exit::Exit;
use crate::{output, style};
use anyhow::Result;
use instrument::experiment::Experiment;

pub fn execute(common: &Common) -> Result<Exit> {
    let definitions: Vec<_> = experiments::all().map(Experiment::definition).collect();
    let text = if common.json {
        serde_json::to_string_pretty(&definitions)? + "\n"
    } else {
        report::terminal::list(&definitions, &style::of_stdout())
    };
    output::show(&text)?;
    Ok(Exit::Done)
}
