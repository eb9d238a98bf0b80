//! `oscope list`: the experiments, and the published reports.

use crate::arguments::{Common, List};
use crate::exit::Exit;
use crate::{output, selection, style};
use anyhow::Result;
use report::{json, reference, view};

pub fn execute(arguments: &List, common: &Common) -> Result<Exit> {
    let text = if arguments.references {
        references(common)?
    } else {
        experiments(&arguments.what, common)?
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

fn experiments(what: &[String], common: &Common) -> Result<String> {
    let listed = selection::experiments(what)?;
    let definitions: Vec<_> = listed.iter().map(|it| it.definition()).collect();
    Ok(if common.json {
        serde_json::to_string_pretty(&json::entries(&definitions))? + "\n"
    } else {
        style::painted(&view::list(&definitions), common)
    })
}

fn references(common: &Common) -> Result<String> {
    let references: Vec<_> = reference::ALL
        .iter()
        .map(reference::Reference::run)
        .collect();
    Ok(if common.json {
        let headers: Vec<_> = references.iter().map(|run| &run.header).collect();
        serde_json::to_string_pretty(&json::entries(&headers))? + "\n"
    } else {
        style::painted(&view::references(&references), common)
    })
}
