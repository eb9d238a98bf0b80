//! `oscope file read`, `size` and `sum`: the commands that read files.

use super::{Facts, block_bytes, blocks, speed, while_doing, with_each};
use crate::arguments::Common;
use crate::arguments::file::{Read, Size, Sum as SumArguments};
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result, bail};
use choice::Choice as _;
use files::cache::{make_cold, make_warm, resident_share};
use files::choose::{Choice, Wishes, good_block_bytes, sum_fastest};
use files::grow::{Search, find_size, find_size_growing};
use files::pass::PassOptions;
use files::sum::Sum;
use files::{Source, Timed, Watch, pass, timed};
use instrument::quantity::{Bytes, Nanoseconds, Unit, counted};
use platform::signal::Interrupt;
use platform::storage::Storage;
use platform::usage::{COUNTS_DIRECT_READS, storage_read_bytes};
use std::path::Path;

/// `oscope file read`: reads and sums a file.
pub fn read_file(arguments: &Read, common: &Common, interrupt: Interrupt) -> Result<Exit> {
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
        block_bytes: block_bytes(block_size),
        // With more blocks than the file has, the command reads the whole file and reports that.
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
    let timed = while_doing(&watch, source.size(), common, || {
        pass(&source, &options, &watch)
    })?;
    let from_storage = storage_read_bytes()
        .zip(storage_before)
        .map(|(now, before)| now.saturating_sub(before))
        .filter(|_| COUNTS_DIRECT_READS || !method.is_direct());
    let sum = timed.value;
    let there = resident.map_or("not known".into(), |share| Unit::Share.show(share, 3));
    let read = from_storage.map_or("not known".into(), |bytes| format!("{:.4}", Bytes(bytes)));
    let facts = Facts::default()
        .field("path", arguments.path.to_string_lossy())
        .line("read", blocks(sum.bytes, block_size.0));
    let facts = match cut {
        Some(asked) => facts.line(
            "ended",
            format!("the file ends here; {} were asked for", Bytes(asked)),
        ),
        None => facts,
    };
    facts
        .line("method", method.name())
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

/// One part in this many of the free space stays free for others.
const SHARE_LEFT: u64 = 4;

/// `oscope file size`: finds the size of a file that takes a given time to read.
pub fn size_for(arguments: &Size, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let watch = Watch::stopped_by(interrupt.flag());
    let search = Search {
        block_bytes: block_bytes(arguments.block_size),
        wanted_ns: (arguments.time.from.0 as u64, arguments.time.to.0 as u64),
    };
    let report = |prefix: &Timed<u64>| output::note(common, &step(prefix));
    let found = while_doing(&watch, None, common, || {
        if arguments.grow {
            let limit = room_for(&arguments.path)?;
            Ok::<_, anyhow::Error>(find_size_growing(
                &arguments.path,
                limit,
                &search,
                &watch,
                report,
            )?)
        } else {
            let source = Source::open(&arguments.path)?;
            Ok(find_size(&source, &search, &watch, report)?)
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
    Facts::default()
        .line("size", blocks(found.value, arguments.block_size.0))
        .field("block_bytes", arguments.block_size.0)
        .field("blocks", found.value.div_ceil(arguments.block_size.0))
        .timed(found.value, found.wall_ns, found.cpu_ns)
        .show(common)?;
    Ok(Exit::Done)
}

fn step(prefix: &Timed<u64>) -> String {
    let wall_ns = prefix.wall_ns as f64;
    format!(
        "{:.4}: {:.4}, {:.4}",
        Bytes(prefix.value),
        Nanoseconds(wall_ns),
        speed(prefix.value, wall_ns)
    )
}

/// Maximum size of a scratch file, in bytes.
fn room_for(path: &Path) -> Result<u64> {
    let directory = files::folder(path);
    let storage = Storage::behind(directory)
        .with_context(|| format!("cannot use {}", directory.display()))?;
    Ok(storage.free_bytes - storage.free_bytes / SHARE_LEFT)
}

/// `oscope file sum`: the exclusive or of files, as fast as possible.
pub fn sum_files(arguments: &SumArguments, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let wishes = Wishes {
        method: arguments.method,
        block_bytes: arguments.block_size.map(block_bytes),
        threads: arguments.threads.map(usize::from),
    };
    with_each(&arguments.paths, common, |path| {
        let timed = sum(path, &wishes, arguments.cold, common, interrupt)?;
        if common.json {
            return Ok(Some(to_json(path, &timed)));
        }
        let (sum, _) = &timed.value;
        // Before the sum, so that the sum is the last line on the terminal.
        output::note(common, &explain(path, &timed));
        let name = escaped(path);
        output::show(&format!("{:08x} {} {name}\n", sum.xor.0, sum.bytes))?;
        Ok(None)
    })
}

fn sum(
    path: &Path,
    wishes: &Wishes,
    cold: bool,
    common: &Common,
    interrupt: Interrupt,
) -> files::Result<Timed<(Sum, Choice)>> {
    let source = Source::open(path)?;
    if cold {
        make_cold(&source)?;
    }
    let watch = Watch::stopped_by(interrupt.flag());
    while_doing(&watch, source.size(), common, || {
        timed(|| sum_fastest(&source, wishes, &watch))
    })
}

/// Time, speed and the way that was chosen.
fn explain(path: &Path, timed: &Timed<(Sum, Choice)>) -> String {
    let (sum, choice) = &timed.value;
    let options = &choice.options;
    format!(
        "{}: {:.4}, {:.4} by {}, {}, blocks of {}: {}",
        escaped(path),
        Nanoseconds(timed.wall_ns as f64),
        speed(sum.bytes, timed.wall_ns as f64),
        options.method.name(),
        counted(options.threads, "thread"),
        Bytes(options.block_bytes as u64),
        choice.reason
    )
}

fn to_json(path: &Path, timed: &Timed<(Sum, Choice)>) -> serde_json::Value {
    let (sum, choice) = &timed.value;
    let facts = Facts::default().field("path", path.to_string_lossy());
    let facts = match path.to_str() {
        Some(_) => facts,
        None => facts.field("path_bytes", path.as_os_str().as_encoded_bytes()),
    };
    facts
        .timed(sum.bytes, timed.wall_ns, timed.cpu_ns)
        .xor(sum.xor)
        .field("method", choice.options.method.name())
        .field("block_bytes", choice.options.block_bytes)
        .field("threads", choice.options.threads)
        .field("reason", choice.reason)
        .into_json()
}

/// An unambiguous name of the file on one line: backslashes, control characters and invalid UTF-8 are escaped, as a
/// shell reads them in `$'…'`.
pub fn escaped(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' || character.is_control() {
                let bytes = character.to_string().into_bytes();
                shown += &bytes.escape_ascii().to_string();
            } else {
                shown.push(character);
            }
        }
        shown += &chunk.invalid().escape_ascii().to_string();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::escaped;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn a_name_is_one_line_and_means_no_other() {
        let shown = |bytes: &[u8]| escaped(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(shown("Größe 1".as_bytes()), "Größe 1");
        assert_eq!(shown(b"a\nb\tc\\n"), r"a\nb\tc\\n");
        assert_eq!(shown(b"odd \xff\xc3"), r"odd \xff\xc3");
        assert_eq!(shown("\u{85}".as_bytes()), r"\xc2\x85");
    }
}
