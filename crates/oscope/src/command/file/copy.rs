//! `oscope file copy`: copies a file with a selected method, and compares with dd.

use super::live;
use super::outcome::{Outcome, blocks};
use crate::arguments::Common;
use crate::arguments::file::{Copy, Peer};
use crate::exit::{Exit, WrongUse};
use anyhow::Result;
use choice::Choice;
use files::copy::{Against, Copied, CopyOptions, against_dd};
use files::{Source, Watch, copy, timed};
use instrument::quantity::{Nanoseconds, Unit};
use platform::signal::Interrupt;
use std::path::Path;

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
    let watch = Watch::stopped_by(interrupt.flag());
    let timed = live::while_doing(&watch, source.size(), common, || {
        timed(|| copy(&source, &arguments.target, &options, &watch))
    })?;
    let Copied {
        bytes,
        method,
        block_bytes,
    } = timed.value;
    let mut outcome = Outcome::default()
        .field("source", arguments.source.to_string_lossy())
        .field("target", arguments.target.to_string_lossy())
        .line("copied", blocks(bytes, block_bytes as u64))
        .line("method", method.name())
        .field("block_bytes", block_bytes)
        .field("method", method.name())
        .timed(bytes, timed.wall_ns, timed.cpu_ns);
    if method.writes() {
        outcome = outcome.warned_of_large_calls(block_bytes as u64);
    }
    if arguments.against == Some(Peer::Dd) {
        let watch = Watch::stopped_by(interrupt.flag());
        let against = live::while_doing(&watch, None, common, || {
            against_dd(&arguments.source, &arguments.target, &options, &watch)
        })?;
        outcome = compared(outcome, &against);
    }
    outcome.show(common)?;
    Ok(Exit::Done)
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
