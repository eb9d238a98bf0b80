//! `oscope claims`: claims of reports and common beliefs, judged by a stored run or by all of a machine.

use crate::arguments::{Claims, Common, Sharing};
use crate::exit::Exit;
use crate::{stored, style};
use anyhow::Result;
use record::Run;
use report::{Analysis, json, view};

pub fn execute(arguments: &Claims, common: &Common) -> Result<Exit> {
    if arguments.all {
        let experiments = experiments::claims().flat_map(|claim| claim.basis.experiments());
        let experiments: Vec<&str> = experiments.copied().collect();
        let together = Run::together(stored::newest_with(common, &experiments)?);
        // Without any, the latest run is missing too, and the error says so.
        let together = together.map_or_else(|| stored::run(common, "latest"), Ok)?;
        return show(&Analysis::new(&together), common);
    }
    let mut judged = stored::judged(common, &arguments.run, Sharing { redact: false })?;
    show(&judged.analysis(), common)
}

fn show(analysis: &Analysis<'_>, common: &Common) -> Result<Exit> {
    style::show(common, || json::claims(analysis), || view::claims(analysis))?;
    Ok(Exit::Done)
}
