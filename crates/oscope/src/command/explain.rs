//! `oscope explain`: an experiment's question, method and sources.

use crate::arguments::{Common, Explain};
use crate::exit::Exit;
use crate::{output, selection, setting, style};
use anyhow::Result;
use instrument::given::Givens;
use instrument::limits::Limits;
use instrument::plan::{Plan, Planned, Profile};
use report::json;
use std::path::Path;

pub fn execute(arguments: &Explain, common: &Common) -> Result<Exit> {
    let chosen = selection::experiments(&arguments.what)?;
    let setting = setting::here(
        Path::new("."),
        Givens::default(),
        Profile::Quick,
        false,
        Limits::default(),
    );
    let planned = Plan::new(&chosen, &setting, None, 0).experiments;
    let text = if common.json {
        let definitions: Vec<_> = planned.iter().map(|planned| &planned.definition).collect();
        serde_json::to_string_pretty(&json::entries(&definitions))? + "\n"
    } else {
        let style = style::of_stdout(common);
        let explained = planned.iter().map(|planned| {
            report::terminal::explain(
                &planned.definition,
                &needs(planned, setting.profile),
                &style,
            )
        });
        explained.collect::<Vec<_>>().join("\n")
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

/// The requirements that this machine does not meet; if it meets all, the number of points and the
/// longest duration.
fn needs(planned: &Planned<'_>, profile: Profile) -> String {
    match &planned.points {
        Ok(points) => format!(
            "Nothing is missing here. In the {profile} profile it has {} points and takes at most \
             {:.2}.",
            points.len(),
            planned.budget()
        ),
        Err(reason) => format!("It cannot be measured here: {reason}."),
    }
}
