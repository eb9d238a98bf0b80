//! `oscope plot`: one chart of a stored run as a picture.

use crate::arguments::{Common, Plot};
use crate::exit::{Exit, WrongUse};
use crate::{output, stored};
use anyhow::Result;
use instrument::figure::Figure;
use report::{Analysis, page};
use std::path::Path;

pub fn execute(arguments: &Plot, common: &Common) -> Result<Exit> {
    if !is_svg(&arguments.output.output) {
        return Err(WrongUse(format!(
            "{} does not end in .svg, which is what is written",
            arguments.output.output.display()
        ))
        .into());
    }
    let run = stored::run(common, &arguments.run)?;
    let analysis = Analysis::new(&run);
    let svg = page::plot(figure(&analysis, &arguments.what)?);
    output::write(&arguments.output, svg.as_bytes())?;
    Ok(Exit::Done)
}

fn is_svg(path: &Path) -> bool {
    path == Path::new("-")
        || path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
}

/// The figure that `what` means: the only one of an experiment, or `EXPERIMENT.KEY`.
fn figure<'a>(analysis: &'a Analysis<'_>, what: &str) -> Result<&'a Figure, WrongUse> {
    let named: Vec<(String, &Figure)> = analysis
        .experiments
        .iter()
        .flat_map(|experiment| {
            let id = &experiment.definition.id;
            let name = move |figure: &'a Figure| (format!("{id}.{}", figure.key), figure);
            experiment.figures.iter().map(name)
        })
        .collect();
    let meant: Vec<&(String, &Figure)> = named
        .iter()
        .filter(|(name, _)| name == what || name.rsplit_once('.').is_some_and(|(id, _)| id == what))
        .collect();
    match meant.as_slice() {
        [(_, figure)] => Ok(figure),
        [] => Err(WrongUse(format!(
            "the run has no chart '{what}'; it has {}",
            names(named.iter())
        ))),
        several => Err(WrongUse(format!(
            "{what} has several charts; say which: {}",
            names(several.iter().copied())
        ))),
    }
}

fn names<'a>(figures: impl Iterator<Item = &'a (String, &'a Figure)>) -> String {
    let names: Vec<&str> = figures.map(|(name, _)| name.as_str()).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
