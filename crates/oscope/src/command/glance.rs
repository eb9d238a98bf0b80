//! `oscope glance`: what this machine is, in twenty seconds and on one screen.

use super::run;
use crate::arguments::{Common, Glance, Sharing};
use crate::exit::{Exit, first_error, refuse};
use crate::selection::{self, TIME_OF_GLANCE};
use crate::target::Target;
use crate::{stored, style};
use anyhow::Result;
use files::Watch;
use report::{json, page, view};

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
    let other = named.map(|name| stored::judged(common, name, sharing));
    let mut other = other.transpose()?;
    let other = named.zip(other.as_mut().map(|other| other.analysis()));
    let mut asked = run::parsed(&["run".to_owned(), "--no-page".to_owned()])?;
    asked.budget = Some(TIME_OF_GLANCE);
    asked.dir.clone_from(&arguments.dir);
    let (measured, result) = run::measure_parts(&asked, &selection::parts_of_glance()?, common)?;
    let mut steps = Vec::new();
    if let Some(mut judged) = measured {
        let analysis = judged.analysis();
        if let Some(target) = picture {
            steps.push(target.write(page::card(&analysis).as_bytes(), &Watch::default()));
        }
        let other = other.as_ref().map(|(name, analysis)| (*name, analysis));
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
