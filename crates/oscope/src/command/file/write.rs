//! `oscope file write`: writes a file of pseudo-random bytes.

use super::live;
use super::outcome::{Outcome, blocks};
use crate::arguments::Common;
use crate::arguments::file::Write;
use crate::exit::{Exit, WrongUse};
use crate::output;
use anyhow::Result;
use files::copy::CopyMethod;
use files::write::WriteOptions;
use files::{Watch, names_standard_output, timed};
use instrument::quantity::Bytes;
use platform::file::OpenMode;
use platform::signal::Interrupt;

/// A fixed seed: the same bytes on every run, so that the sum allows comparing two machines.
const SEED: u64 = 1;

pub fn execute(arguments: &Write, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let (mode, waits) = if arguments.sync {
        (OpenMode::Synchronous, "each write waited for the device")
    } else if arguments.direct {
        (OpenMode::Direct, "past the page cache")
    } else {
        (
            OpenMode::Plain,
            "into the page cache; nothing waited for the device",
        )
    };
    if mode != OpenMode::Plain && names_standard_output(&arguments.path) {
        let reason = "standard output is open already: `--sync` and `--direct` need a file";
        return Err(WrongUse(reason.into()).into());
    }
    output::keep_for(&arguments.path, common);
    let usual = Bytes(CopyMethod::ReadWrite.usual_block_bytes() as u64);
    let block_size = arguments.block_size.unwrap_or(usual);
    let bytes = match (arguments.size, arguments.count) {
        (Some(size), _) => size.0,
        // Whole blocks, also where they are more than any file can hold.
        (None, count) => block_size.0 * count.unwrap_or(0).min(u64::MAX / block_size.0.max(1)),
    };
    let options = WriteOptions {
        block_bytes: super::block_bytes(block_size),
        bytes,
        mode,
        force: arguments.force,
        seed: SEED,
    };
    let watch = Watch::stopped_by(interrupt.flag());
    let timed = live::while_doing(&watch, Some(bytes), common, || {
        timed(|| files::write(&arguments.path, &options, &watch))
    })?;
    let sum = timed.value;
    let mut outcome = Outcome::default()
        .field("path", arguments.path.to_string_lossy())
        .line("written", blocks(sum.bytes, block_size.0))
        .line("mode", waits)
        .field("block_bytes", block_size.0)
        .field("count", bytes.div_ceil(block_size.0))
        .field("mode", serde_json::to_value(mode)?)
        .timed(sum.bytes, timed.wall_ns, timed.cpu_ns)
        .xor(sum.xor);
    if mode == OpenMode::Plain {
        outcome = outcome.warned_of_large_calls(block_size.0);
    }
    outcome.show(common)?;
    Ok(Exit::Done)
}
