//! `oscope cleanup`: removes the leftovers of killed runs.

use crate::arguments::{Cleanup, Common};
use crate::exit::Exit;
use crate::leftovers::{self, Leftover};
use crate::{output, settings, stored};
use anyhow::Result;

pub fn execute(arguments: &Cleanup, common: &Common) -> Result<Exit> {
    let store = stored::open_if_there(common)?;
    if store.is_none() && common.store.is_some() {
        output::say(&format!(
            "oscope: there is no store at {}: only {} is searched",
            stored::path(common)?.display(),
            arguments.dir.display()
        ));
    }
    let recovered = settings::recover();
    let leftovers = leftovers::clear(store.as_ref(), &arguments.dir)?;
    let settings = recovered.iter().map(ToString::to_string);
    let lines: Vec<String> = settings
        .chain(leftovers.iter().map(Leftover::to_string))
        .map(|line| output::on_one_line(&line))
        .collect();
    let text = if common.json {
        serde_json::to_string_pretty(&lines)? + "\n"
    } else if lines.is_empty() {
        "nothing was left behind\n".into()
    } else {
        lines.join("\n") + "\n"
    };
    output::show(&text)?;
    Ok(Exit::incomplete_if(
        leftovers.iter().any(Leftover::is_stuck) || recovered.is_some_and(|it| it.is_stuck()),
    ))
}
