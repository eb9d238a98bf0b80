//! `oscope plot` and `oscope card`: one chart of a stored run, or all of it in one picture.

use crate::arguments::{Common, Plot, Written};
use crate::exit::{Choice, Exit, WrongUse, refuse};
use crate::target::Target;
use crate::{machines, selection, stored};
use anyhow::Result;
use files::Watch;
use instrument::figure::Figure;
use report::{Analysis, page, show};
use std::path::Path;

/// `oscope plot`.
pub fn execute(arguments: &Plot, common: &Common) -> Result<Exit> {
    let convert = convert(arguments.output.path())?;
    let target = Target::for_document("a picture", &arguments.output, common)?;
    let mut judged = stored::judged(common, &arguments.run, arguments.sharing)?;
    let analysis = judged.analysis();
    let run = analysis.run;
    let about = format!("{}. {}", show::machine(run), show::measured(&run.header));
    let svg = page::plot(figure(&analysis, &arguments.what)?, &about);
    target.write(&convert(svg)?, &Watch::default())?;
    Ok(Exit::Done)
}

/// Turns an SVG into a picture of some format.
type Convert = fn(String) -> Result<Vec<u8>>;

/// To the format implied by the file name.
fn convert(path: &Path) -> Result<Convert, WrongUse> {
    let extension = path.extension().unwrap_or_default();
    if path == Path::new("-") || extension.eq_ignore_ascii_case("svg") {
        Ok(|svg| Ok(svg.into_bytes()))
    } else if extension.eq_ignore_ascii_case("png") {
        Ok(|svg| png(&svg))
    } else {
        refuse!(
            "{} ends neither in .svg nor in .png, the two formats of pictures",
            path.display()
        )
    }
}

#[cfg(feature = "png")]
fn png(svg: &str) -> Result<Vec<u8>> {
    Ok(page::png(svg)?)
}

#[cfg(not(feature = "png"))]
fn png(_: &str) -> Result<Vec<u8>> {
    refuse!(
        "this oscope was built without PNG: write .svg, or install it again with \
         `cargo install --path crates/oscope --features png`"
    )
}

/// The figure called `what`: the only one of an experiment, or `EXPERIMENT.KEY`.
fn figure<'a>(analysis: &'a Analysis<'_>, what: &str) -> Result<&'a Figure, Choice> {
    let named: Vec<(String, &Figure)> = analysis
        .experiments
        .iter()
        .flat_map(|experiment| {
            let id = &experiment.definition.id;
            let name = move |figure: &'a Figure| (format!("{id}.{}", figure.key), figure);
            experiment.figures.iter().map(name)
        })
        .collect();
    let is_meant = |name: &str| {
        name == what
            || name
                .rsplit_once('.')
                .is_some_and(|(id, _)| selection::is_meant(id, what))
    };
    let meant: Vec<&(String, &Figure)> = named.iter().filter(|(name, _)| is_meant(name)).collect();
    let (sentence, offered) = match meant.as_slice() {
        [(_, figure)] => return Ok(figure),
        [] if named.is_empty() => ("the run has no charts".into(), Vec::new()),
        [] => (
            format!("the run has no chart '{what}'; it has"),
            named.iter().collect(),
        ),
        _ => (format!("{what} has several charts; name one"), meant),
    };
    Err(Choice {
        sentence,
        offered: offered.into_iter().map(|(name, _)| name.clone()).collect(),
    })
}

/// `oscope card`.
pub fn card(written: &Written, common: &Common) -> Result<Exit> {
    let convert = convert(written.output.path())?;
    let target = Target::for_document("a picture", &written.output, common)?;
    let mut judged = stored::judged(common, &written.run, written.sharing)?;
    let mut analysis = judged.analysis();
    machines::add_to(&mut analysis, common);
    let svg = page::card(&analysis);
    target.write(&convert(svg)?, &Watch::default())?;
    Ok(Exit::Done)
}
