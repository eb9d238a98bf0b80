//! `oscope fleet`: many machines that should be alike, one module each command.

mod fabric;
mod files;
mod judge;
mod member;
mod network;
mod node;
mod run;
mod turn;

use crate::arguments::Common;
use crate::arguments::fleet::Command;
use crate::exit::Exit;
use anyhow::Result;

pub fn execute(command: &Command, common: &Common) -> Result<Exit> {
    match command {
        Command::Fabric(arguments) => fabric::execute(arguments, common),
        Command::Judge(arguments) => judge::execute(arguments, common),
        Command::Network(arguments) => network::execute(arguments, common),
        Command::Run(arguments) => run::execute(arguments, common),
    }
}
