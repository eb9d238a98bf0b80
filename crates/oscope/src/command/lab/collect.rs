//! `oscope lab collect`: a class side by side.

use crate::arguments::Common;
use crate::arguments::lab::Collect;
use crate::exit::Exit;
use crate::target::Target;
use crate::{output, stored};
use anyhow::{Context, Result};
use files::Watch;
use report::lab::{Class, HandIn};
use report::{markdown, page, view};
use std::path::Path;

pub fn execute(arguments: &Collect, common: &Common) -> Result<Exit> {
    let target = Target::asked(&arguments.output, common)?;
    let hand_ins = arguments.files.iter().map(|path| read(path));
    let class = Class::new(&hand_ins.collect::<Result<Vec<_>>>()?);
    let ending = arguments.output.path().extension().unwrap_or_default();
    let is = |ending_of: &str| ending.eq_ignore_ascii_case(ending_of);
    let text = if common.json || is("json") {
        output::json(&class)?
    } else if is("html") || is("htm") {
        page::paint(&view::class(&class), None)
    } else {
        markdown::paint(&view::class(&class), 1)
    };
    target.write(text.as_bytes(), &Watch::default())?;
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<HandIn> {
    let text = stored::text_of(path)?;
    HandIn::read(&text).with_context(|| format!("cannot read {}", path.display()))
}
