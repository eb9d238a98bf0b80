//! `oscope card`: a stored run in one picture.

use super::plot::kind;
use crate::arguments::{Card, Common};
use crate::exit::Exit;
use crate::stored;
use crate::target::Target;
use anyhow::Result;
use files::Watch;
use report::page;

pub fn execute(arguments: &Card, common: &Common) -> Result<Exit> {
    let written = &arguments.written;
    let kind = kind(written.output.path())?;
    let target = Target::for_document("a picture", &written.output, common)?;
    let mut judged = stored::judged(common, &written.run, written.sharing)?;
    let svg = page::card(&judged.analysis());
    target.write(&kind.picture(svg)?, &Watch::default())?;
    Ok(Exit::Done)
}
