//! `oscope man`: the manual pages, made of the command line's definition.

use crate::arguments::{Arguments, Man};
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::fs;

pub fn execute(arguments: &Man) -> Result<Exit> {
    if let Some(dir) = &arguments.dir {
        fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(Arguments::command(), dir))
            .with_context(|| format!("cannot write the manual pages into {}", dir.display()))?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
        output::print(&page)?;
    }
    Ok(Exit::Done)
}
