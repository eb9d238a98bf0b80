//! `oscope file size`: finds the file size that takes a given time to read.

use super::live;
use super::outcome::{Outcome, blocks, speed};
use crate::arguments::Common;
use crate::arguments::file::Size;
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result, bail};
use files::grow::{Prefix, Search, find_size, find_size_growing};
use files::{Source, Watch};
use instrument::quantity::{Bytes, Nanoseconds};
use platform::signal::Interrupt;
use platform::storage::Storage;
use std::path::Path;

/// One part in this many of the free space stays free for others.
const SHARE_LEFT: u64 = 4;

pub fn execute(arguments: &Size, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let watch = Watch::stopped_by(interrupt.flag());
    let search = Search {
        block_bytes: super::block_bytes(arguments.block_size),
        wanted_ns: (arguments.time.from.0 as u64, arguments.time.to.0 as u64),
    };
    let tell = |prefix: &Prefix| {
        if !common.quiet {
            output::say(&step(prefix));
        }
    };
    let found = live::while_doing(&watch, None, common, || {
        if arguments.grow {
            let limit = room_beside(&arguments.path)?;
            Ok::<_, anyhow::Error>(find_size_growing(
                &arguments.path,
                limit,
                &search,
                &watch,
                tell,
            )?)
        } else {
            let source = Source::open(&arguments.path)?;
            Ok(find_size(&source, &search, &watch, tell)?)
        }
    })?;
    let Some(found) = found else {
        bail!(
            "all of {} is read in less than {}; {}",
            arguments.path.display(),
            arguments.time.from,
            if arguments.grow {
                "there is no room for more: name a shorter `--time` or another file system"
            } else {
                "name a larger file, a shorter `--time`, or `--grow` a scratch file"
            }
        );
    };
    Outcome::default()
        .line("size", blocks(found.bytes, arguments.block_size.0))
        .field("block_bytes", arguments.block_size.0)
        .field("blocks", found.blocks)
        .timed(found.bytes, found.wall_ns, found.cpu_ns)
        .show(common)?;
    Ok(Exit::Done)
}

fn step(prefix: &Prefix) -> String {
    let wall_ns = prefix.wall_ns as f64;
    format!(
        "{:.4}: {:.4}, {:.4}",
        Bytes(prefix.bytes),
        Nanoseconds(wall_ns),
        speed(prefix.bytes, wall_ns)
    )
}

/// Maximum size of a scratch file, in bytes.
fn room_beside(path: &Path) -> Result<u64> {
    let directory = files::folder(path);
    let storage = Storage::behind(directory)
        .with_context(|| format!("cannot use {}", directory.display()))?;
    Ok(storage.free_bytes - storage.free_bytes / SHARE_LEFT)
}
