//! `oscope file read`: reads and sums a file.

use super::live;
use super::outcome::{Outcome, blocks};
use crate::arguments::Common;
use crate::arguments::file::Read;
use crate::exit::Exit;
use anyhow::Result;
use choice::Choice;
use files::cache::{make_cold, make_warm, resident_share};
use files::choose::good_block_bytes;
use files::pass::PassOptions;
use files::{Source, Watch, pass};
use instrument::quantity::{Bytes, Unit};
use platform::signal::Interrupt;
use platform::usage::{COUNTS_DIRECT_READS, storage_read_bytes};

pub fn execute(arguments: &Read, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let watch = Watch::stopped_by(interrupt.flag());
    let source = Source::open(&arguments.path)?;
    let method = arguments.method;
    let block_size = arguments
        .block_size
        .unwrap_or(Bytes(good_block_bytes(method) as u64));
    let asked = arguments
        .count
        .map(|count| count.saturating_mul(block_size.0));
    let cut = asked.filter(|asked| source.size().is_some_and(|size| *asked > size));
    let options = PassOptions {
        method,
        block_bytes: super::block_bytes(block_size),
        // With more blocks than the file has, the command reads the whole file and says so.
        count: arguments.count.filter(|_| cut.is_none()),
    };
    options.check(&source)?;
    if arguments.cold {
        make_cold(&source)?;
    } else if arguments.warm {
        make_warm(&source, &watch)?;
    }
    let resident = resident_share(&source);
    let watch = Watch::stopped_by(interrupt.flag());
    let storage_before = storage_read_bytes();
    let timed = live::while_doing(&watch, source.size(), common, || {
        pass(&source, &options, &watch)
    })?;
    let from_storage = storage_read_bytes()
        .zip(storage_before)
        .map(|(now, before)| now.saturating_sub(before))
        .filter(|_| COUNTS_DIRECT_READS || !method.is_direct());
    let sum = timed.value;
    let there = resident.map_or("not known".into(), |share| Unit::Share.show(share, 3));
    let read = from_storage.map_or("not known".into(), |bytes| format!("{:.4}", Bytes(bytes)));
    let told = Outcome::default()
        .field("path", arguments.path.to_string_lossy())
        .line("read", blocks(sum.bytes, block_size.0));
    let told = match cut {
        Some(asked) => told.line(
            "ended",
            format!("the file ends here; {} were asked for", Bytes(asked)),
        ),
        None => told,
    };
    told.line("method", method.name())
        .line(
            "from",
            format!("in the page cache before: {there}; read from storage: {read}"),
        )
        .field("block_bytes", block_size.0)
        .field("method", method.name())
        .field("resident_before", resident)
        .field("storage_bytes", from_storage)
        .timed(sum.bytes, timed.wall_ns, timed.cpu_ns)
        .xor(sum.xor)
        .show(common)?;
    Ok(Exit::Done)
}
