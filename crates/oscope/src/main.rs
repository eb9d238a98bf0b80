//! oscope: an instrument for operating systems.
//!
//! # What it is
//!
//! The program: one file for each command, progress, exit codes.
//!
//! # What it uses
//!
//! Every other crate.
//!
//! # What it must never do
//!
//! Measure or compute anything itself.

mod arguments;
mod command;
mod exit;
mod leftovers;
mod output;
mod progress;
mod selection;
mod setting;
mod stored;
mod style;

use arguments::Arguments;
use clap::Parser;
use exit::Exit;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    platform::signal::restore_default_sigpipe();
    platform::signal::ignore_sigxfsz();
    let exit = match Arguments::try_parse() {
        Ok(arguments) => command::execute(arguments).unwrap_or_else(|error| {
            output::say(&format!("oscope: {}", exit::words(&error)));
            exit::of_error(&error)
        }),
        Err(answer) => tell(&answer),
    };
    match exit {
        Exit::Done if output::has_lost_words() => Exit::Incomplete,
        exit => exit,
    }
    .into()
}

/// Prints help, the version, or what is wrong with the command line.
fn tell(answer: &clap::Error) -> Exit {
    match answer.print() {
        _ if answer.exit_code() != 0 => Exit::WrongUse,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Incomplete,
        _ => Exit::Done,
    }
}
