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
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    platform::signal::restore_default_sigpipe();
    match command::execute(Arguments::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            // Where nobody listens any more, the exit code still tells.
            let _ = writeln!(io::stderr(), "oscope: {}", exit::words(&error));
            exit::of_error(&error).into()
        }
    }
}
