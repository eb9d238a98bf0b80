//! `oscope file`: the direct commands on files, one module each.

mod copy;
mod live;
mod outcome;
mod read;
mod size;
mod sum;
mod write;

use crate::arguments::Common;
use crate::arguments::file::{Command, File};
use crate::exit::{Exit, WrongUse};
use anyhow::Result;
use platform::signal::Interrupt;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

/// Time of a command to clean up after a signal; then the signal ends it. The release of its memory may
/// take a little longer.
const PATIENCE: Duration = Duration::from_millis(100);

pub fn execute(arguments: &File, common: &Common) -> Result<Exit> {
    let interrupt = Interrupt::install_for(PATIENCE)?;
    let work = || match &arguments.command {
        Command::Write(arguments) => write::execute(arguments, common, interrupt),
        Command::Read(arguments) => read::execute(arguments, common, interrupt),
        Command::Size(arguments) => size::execute(arguments, common, interrupt),
        Command::Sum(arguments) => sum::execute(arguments, common, interrupt),
        Command::Copy(arguments) => copy::execute(arguments, common, interrupt),
    };
    beside_signals(work).or_else(|error| {
        match (error.downcast::<files::Error>(), interrupt.signal()) {
            (Ok(files::Error::Stopped), Some(signal)) => Ok(Exit::Stopped(signal)),
            (Ok(error), _) if is_wrong_use(&error) => Err(WrongUse(error.to_string()).into()),
            (Ok(error), _) => Err(error.into()),
            (Err(error), _) => Err(error),
        }
    })
}

/// Does `work` in a second thread, so that the first can handle signals. A handler runs only between
/// system calls, and one call on a huge block takes seconds.
fn beside_signals<T: Send>(work: impl Fn() -> T + Sync) -> T {
    thread::scope(|scope| {
        match thread::Builder::new().spawn_scoped(scope, &work) {
            Ok(worker) => worker.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // If the thread cannot start, this one does the work.
            Err(_) => work(),
        }
    })
}

/// True if the user can fix the error with another command line.
fn is_wrong_use(error: &files::Error) -> bool {
    matches!(
        error,
        files::Error::EmptyBlock
            | files::Error::HugeBlock(_)
            | files::Error::NoRoom { .. }
            | files::Error::InOrderOnly(_)
            | files::Error::NoDirectory(_)
            | files::Error::Misaligned { .. }
            | files::Error::NoOffsets(_)
            | files::Error::Directory(_)
            | files::Error::SameFile(..)
    )
}

/// The block size as `usize`; a size that does not fit is refused later.
fn block_bytes(size: instrument::quantity::Bytes) -> usize {
    usize::try_from(size.0).unwrap_or(usize::MAX)
}
