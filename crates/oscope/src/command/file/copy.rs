//! `oscope file copy`: copies a file with a selected method, and compares with dd.

use super::live;
use super::outcome::{Outcome, blocks};
use crate::arguments::Common;
use crate::arguments::file::{Copy, Peer};
use crate::exit::{Exit, WrongUse};
use crate::output;
use anyhow::Result;
use choice::Choice;
use files::copy::{Against, Copied, CopyOptions, against_dd, ensure_comparable};
use files::{Source, Watch, copy, names_standard_output, timed};
use instrument::quantity::{Bytes, Nanoseconds, Unit};
use platform::signal::Interrupt;
use std::path::{Path, PathBuf};

pub fn execute(arguments: &Copy, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let options = CopyOptions {
        method: arguments.method,
        block_bytes: arguments.block_size.map(super::block_bytes),
        force: arguments.force,
    };
    if arguments.against.is_some() && arguments.source == Path::new("-") {
        let reason = "standard input can be read only once: `--against` needs a file";
        return Err(WrongUse(reason.into()).into());
    }
    let source = Source::open(&arguments.source)?;
    let target = target(arguments)?;
    output::keep_for(&target, common);
    if arguments.against.is_some() {
        ensure_comparable(&target)?;
    }
    let watch = Watch::stopped_by(interrupt.flag());
    let timed = live::while_doing(&watch, source.size(), common, || {
        timed(|| copy(&source, &target, &options, &watch))
    })?;
    let Copied {
        bytes,
        hole_bytes,
        method,
        block_bytes,
    } = timed.value;
    let moved = timed.value.moved_bytes();
    let mut outcome = Outcome::default()
        .field("source", arguments.source.to_string_lossy())
        .field("target", target.to_string_lossy())
        .line("copied", blocks(bytes, block_bytes as u64));
    if hole_bytes > 0 {
        let (data, holes) = (Bytes(bytes - hole_bytes), Bytes(hole_bytes));
        outcome = outcome.line(
            "of that",
            format!("{data:.4} of data and {holes:.4} of holes"),
        );
    }
    outcome = outcome
        .line("method", method.name())
        .field("block_bytes", block_bytes)
        .field("method", method.name())
        .field("bytes", bytes)
        .field("hole_bytes", hole_bytes)
        .times(timed.wall_ns, timed.cpu_ns);
    // Time that moved no bytes gives no speed.
    outcome = if moved > 0 || bytes == 0 {
        outcome.speed_of(moved, timed.wall_ns)
    } else {
        outcome
            .line("speed", "none, since no bytes were moved")
            .field("bytes_per_second", 0.0)
    };
    if method.writes() {
        outcome = outcome.warned_of_large_calls(block_bytes as u64);
    }
    if arguments.against == Some(Peer::Dd) {
        let watch = Watch::stopped_by(interrupt.flag());
        let against = live::while_doing(&watch, None, common, || {
            against_dd(&arguments.source, &target, &options, &watch)
        })?;
        outcome = compared(outcome, &against);
    }
    outcome.show(common)?;
    Ok(Exit::Done)
}

/// The file to write: in a directory, the one with the name of the source.
fn target(arguments: &Copy) -> Result<PathBuf, WrongUse> {
    let target = &arguments.target;
    if names_standard_output(target) || !target.is_dir() {
        return Ok(target.clone());
    }
    let is_named = arguments.source != Path::new("-");
    match arguments.source.file_name().filter(|_| is_named) {
        Some(name) => Ok(target.join(name)),
        None => Err(WrongUse(format!(
            "{} is a directory, and standard input has no name: name a file in it",
            target.display()
        ))),
    }
}

fn compared(outcome: Outcome, against: &Against) -> Outcome {
    let ratio = |value: f64| Unit::Ratio.show(value, 3);
    let (least, middle, most) = against.ratios();
    let text = format!(
        "dd takes {} the time of this method, from {} to {} in {} rounds in turn; {:.4} against {:.4}",
        ratio(middle),
        ratio(least),
        ratio(most),
        against.rounds.len(),
        Nanoseconds(against.median_dd_ns()),
        Nanoseconds(against.median_ours_ns()),
    );
    let rounds: Vec<_> = against
        .rounds
        .iter()
        .map(|(ours_ns, dd_ns)| serde_json::json!({ "oscope_ns": ours_ns, "dd_ns": dd_ns }))
        .collect();
    outcome.line("against dd", text).field("against_dd", rounds)
}
