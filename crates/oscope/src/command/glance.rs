//! `oscope glance`: what this machine is, in twenty seconds and on one screen.

use super::run;
use crate::arguments::{Common, Glance, Sharing};
use crate::exit::{Exit, WrongUse, first_error};
use crate::selection::{self, Selection};
use crate::target::Target;
use crate::{stored, style};
use anyhow::Result;
use files::Watch;
use report::{json, page, view};

/// The time for all values, in seconds.
const SECONDS: u32 = 20;

pub fn execute(arguments: &Glance, common: &Common) -> Result<Exit> {
    if let Some(path) = &arguments.svg
        && path.extension().is_none_or(|extension| extension != "svg")
    {
        let path = path.display();
        return Err(WrongUse(format!(
            "{path} does not end in .svg; `oscope card` writes PNG"
        ))
        .into());
    }
    let picture = Target::if_named(arguments.svg.as_ref(), arguments.force, common)?;
    let sharing = Sharing { redact: false };
    let named = arguments.compare_with.as_deref();
    let other = named.map(|name| stored::judged(common, name, sharing));
    let mut other = other.transpose()?;
    let other = named.zip(other.as_mut().map(|other| other.analysis()));
    let words = [
        "run".to_owned(),
        format!("--budget={SECONDS}s"),
        "--no-page".to_owned(),
    ];
    let mut asked = run::parsed(&words)?;
    asked.dir.clone_from(&arguments.dir);
    let (measured, result) = run::measure_parts(&asked, &parts()?, common)?;
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
            || view::glance(&analysis, other),
        ));
    }
    let exit = result?;
    first_error(steps)?;
    Ok(exit)
}

/// The experiments, each with its levels.
fn parts() -> Result<Vec<Selection>, WrongUse> {
    let part = |part: &report::Part| {
        let levels = part.at.iter().map(|level| format!("--at={level}"));
        let words = ["run".to_owned(), part.experiment.clone()];
        let asked = run::parsed(&words.into_iter().chain(levels).collect::<Vec<_>>())?;
        selection::of(&asked)
    };
    report::parts_of_glance().iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn each_part_names_an_experiment_and_levels_of_its_axes() {
        for part in parts().unwrap() {
            let [experiment] = part.experiments[..] else {
                panic!("{:?} are several", part.levels);
            };
            let axes = experiment.design().axes;
            for (axis, _) in part.levels {
                assert!(axes.iter().any(|known| known.name == axis), "{axis}");
            }
        }
    }
}
