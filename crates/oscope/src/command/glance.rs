//! `oscope glance`: what this machine is, in twenty seconds and on one screen.

use super::run;
use crate::arguments::{Common, Glance, Sharing};
use crate::exit::{Exit, first_error, refuse};
use crate::selection::TIME_OF_GLANCE;
use crate::target::Target;
use crate::{machines, stored, style};
use anyhow::Result;
use files::Watch;
use report::view::Other;
use report::{json, page, view};

/// The word for the nearest reference machine.
const NEAREST: &str = "nearest";

pub fn execute(arguments: &Glance, common: &Common) -> Result<Exit> {
    if let Some(path) = &arguments.svg
        && path.extension().is_none_or(|extension| extension != "svg")
    {
        let path = path.display();
        refuse!("{path} does not end in .svg; `oscope card` writes PNG");
    }
    let picture = Target::if_named(arguments.svg.as_ref(), arguments.force, common)?;
    let sharing = Sharing { redact: false };
    let named = arguments.compare_with.as_deref();
    let name = named.filter(|name| *name != NEAREST);
    let run = name.map(|name| stored::judged(common, name, sharing));
    let mut run = run.transpose()?;
    let run = name.zip(run.as_mut().map(|run| run.analysis()));
    let other = match &run {
        Some((name, there)) => Some(Other::Run(name, there)),
        None => named.map(|_| Other::Nearest),
    };
    let mut asked = run::parsed(&["run".to_owned(), "--no-page".to_owned()])?;
    asked.budget = Some(TIME_OF_GLANCE);
    asked.dir.clone_from(&arguments.dir);
    let (measured, result) = run::measure_glance(&asked, common)?;
    let mut steps = Vec::new();
    if let Some(mut judged) = measured {
        let mut analysis = judged.analysis();
        machines::add_to(&mut analysis, common);
        if let Some(target) = picture {
            steps.push(target.write(page::card(&analysis).as_bytes(), &Watch::default()));
        }
        steps.push(style::show(
            common,
            || json::analysis(&analysis),
            || view::glance(&analysis, other, true),
        ));
    }
    let exit = result?;
    first_error(steps)?;
    Ok(exit)
}
