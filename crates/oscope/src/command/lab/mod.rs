//! `oscope lab`: labs for teachers and students, one module each command.

mod ask;
mod collect;
mod measure;
mod start;
mod written;

use crate::arguments::Common;
use crate::arguments::lab::Command;
use crate::exit::{Exit, WrongUse};
use crate::style;
use anyhow::Result;
use report::{lab, view};

pub fn execute(command: &Command, common: &Common) -> Result<Exit> {
    match command {
        Command::List => {
            style::show(common, lab::list, view::labs)?;
            Ok(Exit::Done)
        }
        Command::Start(arguments) => start::execute(arguments, common),
        Command::Collect(arguments) => collect::execute(arguments, common),
    }
}

/// The lab called `name`.
fn find(name: &str) -> Result<&'static lab::Lab, WrongUse> {
    lab::find(name).ok_or_else(|| {
        let known: Vec<&str> = lab::labs().iter().map(|lab| lab.name.as_str()).collect();
        WrongUse(format!(
            "there is no lab '{name}'; there are {}",
            known.join(", ")
        ))
    })
}
