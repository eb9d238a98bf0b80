//! `oscope file write` and `copy`: the commands that write files.

use super::read::escaped;
use super::{DIGITS, Facts, block_bytes, blocks, while_doing, with_each};
use crate::arguments::Common;
use crate::arguments::file::{Copy, Peer, Write};
use crate::exit::{Exit, WrongUse, refuse};
use crate::output;
use anyhow::Result;
use choice::Choice;
use files::copy::{Copied, CopyMethod, CopyOptions, against_dd, ensure_comparable};
use files::write::WriteOptions;
use files::{Source, Timed, Watch, copy, names_standard_output, timed};
use instrument::quantity::{Bytes, Nanoseconds, Unit};
use instrument::statistics::summary::quantile;
use platform::file::OpenMode;
use platform::signal::Interrupt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A fixed seed: the same bytes on every run, so that the sum allows comparing two machines.
const SEED: u64 = 1;

/// `oscope file write`: writes a file of pseudo-random bytes.
pub fn write_file(arguments: &Write, common: &Common, interrupt: Interrupt) -> Result<Exit> {
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
        refuse!("standard output is open already: `--sync` and `--direct` need a file");
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
        block_bytes: block_bytes(block_size),
        bytes,
        mode,
        force: arguments.force,
        seed: SEED,
    };
    let watch = Watch::stopped_by(interrupt.flag());
    let timed = while_doing(&watch, Some(bytes), common, || {
        timed(|| files::write(&arguments.path, &options, &watch))
    })?;
    let sum = timed.value;
    let mut facts = Facts::default()
        .field("path", arguments.path.to_string_lossy())
        .line("written", blocks(sum.bytes, block_size.0))
        .line("mode", waits)
        .field("block_bytes", block_size.0)
        .field("count", bytes.div_ceil(block_size.0))
        .field("mode", serde_json::to_value(mode)?)
        .timed(sum.bytes, timed.wall_ns, timed.cpu_ns)
        .xor(sum.xor);
    if mode == OpenMode::Plain {
        facts = facts.warned_of_large_calls(block_size.0);
    }
    facts.show(common)?;
    Ok(Exit::Done)
}

/// `oscope file copy`: copies files with a selected method, and compares with dd.
pub fn copy_files(arguments: &Copy, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let (into, sources) = match arguments.paths.split_last() {
        Some((into, sources)) if !sources.is_empty() => (into, sources),
        _ => refuse!("a copy needs a source and a target"),
    };
    if let [source] = sources {
        let target = target(source, into)?;
        let (_, facts) = copy_file(source, &target, arguments, common, interrupt)?;
        facts.show(common)?;
        return Ok(Exit::Done);
    }
    if arguments.against.is_some() {
        refuse!("`--against` compares copies of one file");
    }
    if !into.is_dir() {
        let into = into.display();
        refuse!("{into} is not a directory, and several files need one");
    }
    let mut pairs = BTreeMap::new();
    for source in sources {
        let target = target(source, into)?;
        if let Some(other) = pairs.insert(target, source) {
            let (other, source) = (other.display(), source.display());
            refuse!("{other} and {source} would have the same name there");
        }
    }
    with_each(&Vec::from_iter(pairs), common, |(target, source)| {
        let (copied, facts) = copy_file(source, target, arguments, common, interrupt)?;
        if common.json {
            return Ok(Some(facts.into_json()));
        }
        output::show(&format!(
            "{}: {:.DIGITS$} in {:.DIGITS$} by {}\n",
            escaped(target),
            Bytes(copied.value.bytes),
            Nanoseconds(copied.wall_ns as f64),
            copied.value.method.name()
        ))?;
        Ok(None)
    })
}

/// Copies `source` to `target`, and compares with dd if that is wanted.
fn copy_file(
    source_path: &Path,
    target: &Path,
    arguments: &Copy,
    common: &Common,
    interrupt: Interrupt,
) -> Result<(Timed<Copied>, Facts)> {
    let options = CopyOptions {
        method: arguments.method,
        block_bytes: arguments.block_size.map(block_bytes),
        force: arguments.force,
    };
    if arguments.against.is_some() && source_path == Path::new("-") {
        refuse!("standard input can be read only once: `--against` needs a file");
    }
    let source = Source::open(source_path)?;
    output::keep_for(target, common);
    if arguments.against.is_some() {
        ensure_comparable(target)?;
    }
    let watch = Watch::stopped_by(interrupt.flag());
    let timed = while_doing(&watch, source.size(), common, || {
        timed(|| copy(&source, target, &options, &watch))
    })?;
    let Copied {
        bytes,
        hole_bytes,
        method,
        block_bytes,
    } = timed.value;
    let moved = timed.value.moved_bytes();
    let mut facts = Facts::default()
        .field("source", source_path.to_string_lossy())
        .field("target", target.to_string_lossy())
        .line("copied", blocks(bytes, block_bytes as u64));
    if hole_bytes > 0 {
        let (data, holes) = (Bytes(bytes - hole_bytes), Bytes(hole_bytes));
        facts = facts.line(
            "of that",
            format!("{data:.4} of data and {holes:.4} of holes"),
        );
    }
    facts = facts
        .line("method", method.name())
        .field("block_bytes", block_bytes)
        .field("method", method.name())
        .field("bytes", bytes)
        .field("hole_bytes", hole_bytes)
        .times(timed.wall_ns, timed.cpu_ns);
    // Time that moved no bytes gives no speed.
    facts = if moved > 0 || bytes == 0 {
        facts.speed_of(moved, timed.wall_ns)
    } else {
        facts
            .line("speed", "none, since no bytes were moved")
            .field("bytes_per_second", 0.0)
    };
    if method.writes() {
        facts = facts.warned_of_large_calls(block_bytes as u64);
    }
    if arguments.against == Some(Peer::Dd) {
        let watch = Watch::stopped_by(interrupt.flag());
        let against = while_doing(&watch, None, common, || {
            against_dd(source_path, target, &options, &watch)
        })?;
        facts = compared(facts, &against);
    }
    Ok((timed, facts))
}

/// The file to write: in a directory, the one with the name of the source.
fn target(source: &Path, target: &Path) -> Result<PathBuf, WrongUse> {
    if names_standard_output(target) || !target.is_dir() {
        return Ok(target.into());
    }
    if source == Path::new("-") {
        refuse!(
            "{} is a directory, and standard input has no name: name a file in it",
            target.display()
        );
    }
    // A path without a name is that of a directory, which is refused when it is opened.
    Ok(target.join(source.file_name().unwrap_or_default()))
}

/// Adds the wall times of the rounds by this program and by dd.
fn compared(facts: Facts, rounds: &[(f64, f64)]) -> Facts {
    let at = |share: f64, of: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = rounds.iter().map(of).collect();
        quantile(&values, share).unwrap_or_default()
    };
    let ratio = |share| Unit::Ratio.show(at(share, |(ours_ns, dd_ns)| dd_ns / ours_ns), 3);
    let text = format!(
        "dd takes {} the time of this method, from {} to {} in {} rounds in turn; {:.4} against {:.4}",
        ratio(0.5),
        ratio(0.0),
        ratio(1.0),
        rounds.len(),
        Nanoseconds(at(0.5, |(_, dd_ns)| *dd_ns)),
        Nanoseconds(at(0.5, |(ours_ns, _)| *ours_ns)),
    );
    let rounds = rounds
        .iter()
        .map(|(ours_ns, dd_ns)| serde_json::json!({ "oscope_ns": ours_ns, "dd_ns": dd_ns }));
    let rounds: Vec<_> = rounds.collect();
    facts.line("against dd", text).field("against_dd", rounds)
}
