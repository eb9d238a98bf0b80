//! `oscope verify`: finds damage in the store, in a run or in an exported file.

use crate::arguments::{Common, Verify};
use crate::exit::Exit;
use crate::{output, stored, style};
use anyhow::Result;
use report::{json, view};
use std::path::Path;

pub fn execute(arguments: &Verify, common: &Common) -> Result<Exit> {
    let exported = arguments
        .run
        .as_deref()
        .filter(|name| stored::is_file(name));
    match exported {
        Some(file) => verify_file(Path::new(file), common),
        None => verify_store(arguments.run.as_deref(), common),
    }
}

fn verify_file(path: &Path, common: &Common) -> Result<Exit> {
    let proof = stored::verify_file(path)?;
    let text = if common.json {
        serde_json::to_string_pretty(&json::proof(path, &proof))? + "\n"
    } else {
        let name = output::on_one_line(&path.to_string_lossy());
        style::painted(&view::proof(&name, &proof), common)
    };
    output::show_painted(&text)?;
    Ok(Exit::incomplete_if(proof.is_damage()))
}

fn verify_store(run: Option<&str>, common: &Common) -> Result<Exit> {
    let store = stored::open_to_read(common)?;
    let selector = run.map(stored::selector).transpose()?;
    let found = store
        .verify(selector.as_ref())
        .map_err(stored::wrong_use_if_unknown)?;
    let text = if common.json {
        serde_json::to_string_pretty(&json::verification(store.path(), &found))? + "\n"
    } else {
        style::painted(&view::verification(&found), common)
    };
    drop(store);
    output::show_painted(&text)?;
    Ok(Exit::incomplete_if(found.has_damage()))
}
