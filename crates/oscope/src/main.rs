//! oscope: an instrument for operating systems.
//!
//! # What it is
//!
//! The program: one module for each command, progress, exit codes.
//!
//! # What it uses
//!
//! Every other crate.
//!
//! # What it must never do
//!
//! Measure or compute anything itself.

#[cfg(test)]
use testing as _;

mod arguments;
mod command;
mod exit;
mod kernel_settings;
mod leftovers;
mod limits;
mod machines;
mod output;
mod progress;
mod sanitise;
mod selection;
mod setting;
mod stored;
mod style;
mod target;
mod token_file;

use arguments::{Arguments, Worker};
use clap::Parser;
use exit::{Choice, Exit};
use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;
use std::thread;

/// The stack of a usual main thread.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    if platform::startup::has_small_stack() {
        // Without such a thread, the small stack may do.
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        if let Ok(thread) = thread {
            return thread.join().unwrap_or(ExitCode::FAILURE);
        }
    }
    work()
}

/// Does what the command line asks for.
fn work() -> ExitCode {
    platform::signal::restore_default_sigpipe();
    platform::signal::ignore_sigxfsz();
    let done = match Worker::called() {
        Some(worker) => command::work(&worker),
        None => match Arguments::try_parse() {
            Ok(arguments) => command::execute(arguments),
            Err(answer) => Ok(print_answer(&answer)),
        },
    };
    let exit = done.unwrap_or_else(|error| {
        output::say(&format!("oscope: {}", exit::words(&error)));
        if let Some(choice) = error.downcast_ref::<Choice>() {
            choice
                .offered
                .iter()
                .for_each(|name| output::say(&format!("  {name}")));
        }
        exit::of_error(&error)
    });
    match exit {
        Exit::Done if output::has_lost_words() => Exit::Incomplete,
        exit => exit,
    }
    .into()
}

/// Prints help, the version, or the error in the command line.
fn print_answer(answer: &clap::Error) -> Exit {
    if answer.use_stderr() && !std::env::args_os().all(|argument| is_harmless(&argument)) {
        // The message quotes the command line, which may contain a harmful file name.
        output::say_text(&answer.render().to_string());
        return Exit::WrongUse;
    }
    let printed = if answer.use_stderr() || platform::startup::had_standard_output() {
        answer.print()
    } else {
        Err(io::Error::other("it is not open for writing"))
    };
    match printed {
        _ if answer.exit_code() != 0 => Exit::WrongUse,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            output::say(&format!("oscope: cannot write to standard output: {error}"));
            Exit::Incomplete
        }
        _ => Exit::Done,
    }
}

fn is_harmless(text: &OsStr) -> bool {
    let text = text.to_string_lossy();
    output::harmless(&text) == text
}
