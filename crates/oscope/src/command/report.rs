//! `oscope report`: the page of a stored run.

use crate::arguments::{Common, Written};
use crate::exit::Exit;
use crate::target::Target;
use crate::{machines, stored};
use anyhow::Result;
use files::Watch;
use report::page;

pub fn execute(written: &Written, common: &Common) -> Result<Exit> {
    let target = Target::for_document("a page", &written.output, common)?;
    let mut judged = stored::judged(common, &written.run, written.sharing)?;
    let mut analysis = judged.analysis();
    stored::add_settings_of_system(&mut analysis, stored::open_if_there(common)?.as_ref())?;
    machines::add_to(&mut analysis, common);
    let page = page::render(&analysis);
    target.write(page.as_bytes(), &Watch::default())?;
    Ok(Exit::Done)
}
