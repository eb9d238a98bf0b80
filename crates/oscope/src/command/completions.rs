//! `oscope completions`: completion scripts for shells.

use crate::arguments::{Arguments, Completions};
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use clap::CommandFactory;

pub fn execute(arguments: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "oscope",
        &mut script,
    );
    output::print(&script)?;
    Ok(Exit::Done)
}
