//! `oscope file write`: writes a file of pseudo-random bytes.

use super::live;
use super::outcome::{Outcome, blocks};
use crate::arguments::Common;
use crate::arguments::file::Write;
use crate::exit::Exit;
use anyhow::Result;
use files::write::WriteOptions;
use files::{Watch, timed};
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
    let options = WriteOptions {
        block_bytes: super::block_bytes(arguments.block_size),
        count: arguments.count,
        mode,
        force: arguments.force,
        seed: SEED,
    };
    let watch = Watch::stopped_by(interrupt.flag());
    let total = arguments.block_size.0.saturating_mul(arguments.count);
    let timed = live::while_doing(&watch, Some(total), common, || {
        timed(|| files::write(&arguments.path, &options, &watch))
    })?;
    let sum = timed.value;
    let mut outcome = Outcome::default()
        .field("path", arguments.path.to_string_lossy())
        .line("written", blocks(sum.bytes, arguments.block_size.0))
        .line("mode", waits)
        .field("block_bytes", arguments.block_size.0)
        .field("count", arguments.count)
        .field("mode", serde_json::to_value(mode)?)
        .timed(sum.bytes, timed.wall_ns, timed.cpu_ns)
        .xor(sum.xor);
    if mode == OpenMode::Plain {
        outcome = outcome.warned_of_large_calls(arguments.block_size.0);
    }
    outcome.show(common)?;
    Ok(Exit::Done)
}
