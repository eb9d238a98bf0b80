//! `oscope plot`: one chart of a stored run as an image file.

use crate::arguments::{Common, Plot};
use crate::exit::{Exit, WrongUse};
use crate::stored;
use crate::target::Target;
use anyhow::Result;
use files::Watch;
use instrument::figure::Figure;
use report::{Analysis, page};
use std::path::Path;

pub fn execute(arguments: &Plot, common: &Common) -> Result<Exit> {
    let kind = kind(&arguments.output.output)?;
    let target = Target::asked(&arguments.output, common)?;
    let mut judged = stored::judged(common, &arguments.run, arguments.sharing)?;
    let analysis = judged.analysis();
    let svg = page::plot(figure(&analysis, &arguments.what)?);
    target.write(&kind.picture(svg)?, &Watch::default())?;
    Ok(Exit::Done)
}

/// Output format.
pub(super) enum Kind {
    Svg,
    Png,
}

impl Kind {
    /// `svg` in this format.
    pub(super) fn picture(&self, svg: String) -> Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(svg.into_bytes()),
            Self::Png => png(&svg),
        }
    }
}

/// The format implied by the file name.
pub(super) fn kind(path: &Path) -> Result<Kind, WrongUse> {
    let extension = path.extension().unwrap_or_default();
    if path == Path::new("-") || extension.eq_ignore_ascii_case("svg") {
        Ok(Kind::Svg)
    } else if extension.eq_ignore_ascii_case("png") {
        Ok(Kind::Png)
    } else {
        Err(WrongUse(format!(
            "{} ends neither in .svg nor in .png, the two formats of pictures",
            path.display()
        )))
    }
}

#[cfg(feature = "png")]
fn png(svg: &str) -> Result<Vec<u8>> {
    Ok(page::png(svg)?)
}

#[cfg(not(feature = "png"))]
fn png(_: &str) -> Result<Vec<u8>> {
    Err(WrongUse(
        "this oscope was built without the feature that writes PNG; write .svg, or build it with the \
         default features"
            .into(),
    )
    .into())
}

/// The figure called `what`: the only one of an experiment, or `EXPERIMENT.KEY`.
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
