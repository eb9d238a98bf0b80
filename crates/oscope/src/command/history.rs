//! `oscope history`: the stored runs.

use crate::arguments::Common;
use crate::exit::Exit;
use crate::{output, stored, style};
use anyhow::Result;

pub fn execute(common: &Common) -> Result<Exit> {
    let runs = match stored::open_to_read(common)? {
        Some(store) => store.runs()?,
        None => Vec::new(),
    };
    let text = if common.json {
        serde_json::to_string_pretty(&runs)? + "\n"
    } else {
        report::terminal::runs(&runs, &style::of_stdout())
    };
    output::show(&text)?;
    Ok(Exit::Done)
}
