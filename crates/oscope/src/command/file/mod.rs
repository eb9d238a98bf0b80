//! `oscope file`: the direct commands on files, with their progress line and their output as lines of text or
//! JSON.

mod read;
mod write;

use crate::arguments::Common;
use crate::arguments::file::Command;
use crate::exit::{self, Exit, WrongUse};
use crate::output;
use crate::progress::{Voice, bar_of_bytes, while_drawn};
use anyhow::Result;
use files::Watch;
use instrument::quantity::{Bytes, BytesPerSecond, Nanoseconds, counted};
use platform::signal::Interrupt;
use serde_json::{Map, Value};
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

/// Time of a command to clean up after a signal; then the signal ends it. The release of its memory may
/// take a little longer.
const PATIENCE: Duration = Duration::from_millis(100);

pub fn execute(command: &Command, common: &Common) -> Result<Exit> {
    let interrupt = Interrupt::install_for(PATIENCE)?;
    let work = || match command {
        Command::Write(arguments) => write::write_file(arguments, common, interrupt),
        Command::Read(arguments) => read::read_file(arguments, common, interrupt),
        Command::Size(arguments) => read::size_for(arguments, common, interrupt),
        Command::Sum(arguments) => read::sum_files(arguments, common, interrupt),
        Command::Copy(arguments) => write::copy_files(arguments, common, interrupt),
    };
    in_second_thread(work).or_else(|error| {
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
fn in_second_thread<T: Send>(work: impl Fn() -> T + Sync) -> T {
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

/// Does `one` with each of `items`, and prints the list of what it returns as JSON if that is asked for. Of several,
/// one that fails is reported, and the next follows.
fn with_each<T>(
    items: &[T],
    common: &Common,
    mut one: impl FnMut(&T) -> Result<Option<Value>>,
) -> Result<Exit> {
    let mut exit = Exit::Done;
    let mut list = Vec::new();
    for item in items {
        match one(item) {
            Ok(done) => list.extend(done),
            Err(error) => {
                let is_stopped = matches!(error.downcast_ref(), Some(files::Error::Stopped));
                if items.len() == 1 || is_stopped {
                    return Err(error);
                }
                output::say(&format!("oscope: {}", exit::words(&error)));
                exit = Exit::Incomplete;
            }
        }
    }
    if common.json {
        output::show_json(&list)?;
    }
    Ok(exit)
}

/// The block size as `usize`; a size that does not fit is refused later.
fn block_bytes(size: Bytes) -> usize {
    usize::try_from(size.0).unwrap_or(usize::MAX)
}

/// Does `work`, and shows its progress, out of `total_bytes` if known.
fn while_doing<T>(
    watch: &Watch<'_>,
    total_bytes: Option<u64>,
    common: &Common,
    work: impl FnOnce() -> T,
) -> T {
    let voice = Voice::new(common, || bar_of_bytes(total_bytes));
    while_drawn(voice.bar(), || watch.done_bytes(), work)
}

/// The version of the JSON format; its schema is `schema/file-1.schema.json` in this crate.
const FORMAT: u32 = 1;
/// From this size on, calls that write to a new file are slow on some systems: a guest takes memory
/// for them in pieces that it may have to get back from its host.
const SLOW_CALL_BYTES: u64 = 1 << 20;
/// Significant digits in text output.
const DIGITS: usize = 4;
/// Width of the column of names.
const WIDTH: usize = 12;

/// Facts in output order.
#[derive(Default)]
struct Facts {
    lines: Vec<(&'static str, String)>,
    fields: Map<String, Value>,
}

impl Facts {
    /// Adds a line for text output.
    fn line(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.lines.push((name, text.into()));
        self
    }

    /// Adds a field for JSON output.
    fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// Adds the wall time, CPU time and speed of the work on `bytes`.
    fn timed(self, bytes: u64, wall_ns: u64, cpu_ns: u64) -> Self {
        self.times(wall_ns, cpu_ns)
            .speed_of(bytes, wall_ns)
            .field("bytes", bytes)
    }

    /// Adds the wall time and CPU time.
    fn times(self, wall_ns: u64, cpu_ns: u64) -> Self {
        self.line(
            "wall time",
            format!("{:.DIGITS$}", Nanoseconds(wall_ns as f64)),
        )
        .line(
            "CPU time",
            format!("{:.DIGITS$}, over all threads", Nanoseconds(cpu_ns as f64)),
        )
        .field("wall_ns", wall_ns)
        .field("cpu_ns", cpu_ns)
    }

    /// Adds the speed at which `bytes` were moved.
    fn speed_of(self, bytes: u64, wall_ns: u64) -> Self {
        let speed = speed(bytes, wall_ns as f64);
        self.line(
            "speed",
            format!(
                "{:.1} MiB/s = {:.0} B/s of wall time",
                speed.0 / f64::from(1 << 20),
                speed.0
            ),
        )
        .field("bytes_per_second", speed.0)
    }

    /// Adds a note where a file was written in calls that are slow on some systems.
    fn warned_of_large_calls(self, block_bytes: u64) -> Self {
        if block_bytes < SLOW_CALL_BYTES {
            return self;
        }
        let note = format!(
            "calls that write 1 MiB or more to a new file are several times slower on some \
             systems; `oscope run {}` shows whether they are slow here",
            experiments::WRITES_BY_SIZE
        );
        self.line("note", note.clone()).field("note", note)
    }

    /// Adds the sum.
    fn xor(self, xor: files::sum::Xor) -> Self {
        let text = format!("{:08x}", xor.0);
        self.line("xor", text.clone()).field("xor", text)
    }

    /// The facts as JSON.
    fn into_json(self) -> Value {
        Value::Object(self.field("format", FORMAT).fields)
    }

    /// Prints the facts.
    fn show(self, common: &Common) -> Result<()> {
        let text = if common.json {
            output::json(&self.into_json())?
        } else {
            self.lines.iter().fold(String::new(), |all, (name, text)| {
                all + &format!("{name:WIDTH$}{text}\n")
            })
        };
        output::show(&text)
    }
}

/// Bytes divided by wall time.
fn speed(bytes: u64, wall_ns: f64) -> BytesPerSecond {
    BytesPerSecond(bytes as f64 * 1e9 / wall_ns.max(1.0))
}

/// `9 × 512 KiB = 4.5 MiB`, for text output.
fn blocks(bytes: u64, block_bytes: u64) -> String {
    let total = Bytes(bytes);
    if block_bytes == 0 {
        return total.to_string();
    }
    format!(
        "{total:.DIGITS$} = {bytes} B, in {} of {}",
        counted(bytes.div_ceil(block_bytes), "block"),
        Bytes(block_bytes)
    )
}
