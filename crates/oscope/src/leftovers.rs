//! Leftovers of killed runs and comparisons.

use crate::arguments::Common;
use crate::command::resume;
use crate::output;
use anyhow::Result;
use instrument::removal::REMOVAL;
use platform::scratch::{Scratch, Sweep};
use record::store::{RunSelector, Store};
use std::path::Path;

/// Something that a killed program left behind.
pub struct Leftover {
    /// What it is, and what became of it.
    pub sentence: String,
    /// True if it is still there.
    pub is_stuck: bool,
}

impl Leftover {
    /// One that does no more harm.
    pub fn undone(sentence: String) -> Self {
        Self {
            sentence,
            is_stuck: false,
        }
    }

    /// One that is still there.
    pub fn stuck(sentence: String) -> Self {
        Self {
            sentence,
            is_stuck: true,
        }
    }
}

/// As [`clear`], and reports each leftover before the work begins.
pub fn clear_and_report(store: Option<&Store>, dir: &Path, common: &Common) -> Result<()> {
    for leftover in clear(store, dir)? {
        if leftover.is_stuck || !(common.quiet || common.is_led) {
            output::say(&leftover.sentence);
        }
    }
    Ok(())
}

/// Removes the leftovers in the directories of the runs in `store` that never ended, and in `dir`,
/// which a run of another store may have used.
pub fn clear(store: Option<&Store>, dir: &Path) -> Result<Vec<Leftover>> {
    let mut leftovers = Vec::new();
    let mut is_swept = false;
    let runs = store.map(Store::unfinished).transpose()?;
    for run in runs.unwrap_or_default() {
        let sweep = Scratch::sweep(&run.directory, &REMOVAL);
        is_swept |= sweep.left.iter().any(|(path, _)| is_in(path, dir));
        let swept = all(sweep);
        if !swept.is_empty() {
            leftovers.push(cut_off(store, run.number));
        }
        leftovers.extend(swept);
    }
    if !is_swept {
        leftovers.extend(all(Scratch::sweep(dir, &REMOVAL)));
    }
    Ok(leftovers)
}

/// The samples of a run. It can be continued if it is whole in the store, and on this machine.
fn cut_off(store: Option<&Store>, number: u64) -> Leftover {
    let run = store.map(|store| store.run(&RunSelector::Text(number.to_string())));
    let kept = format!("run {number} was cut off; its results are kept: `oscope show {number}`");
    Leftover::undone(match run {
        Some(Ok(run)) if resume::is_possible(&run) => {
            format!("{kept}; `oscope run --resume {number}` continues it")
        }
        _ => kept,
    })
}

fn is_in(path: &Path, dir: &Path) -> bool {
    let dir = dunce::canonicalize(dir).ok();
    dir.is_some_and(|dir| path.parent() == Some(&dir))
}

/// Scratch directories, including their control groups and swap.
fn all(sweep: Sweep) -> Vec<Leftover> {
    let by = "left behind by a run that was killed";
    let removed = sweep.removed.into_iter();
    let removed = removed.map(|it| Leftover::undone(format!("removed {}, {by}", it.display())));
    let left = sweep.left.into_iter().map(|(path, error)| {
        Leftover::stuck(format!(
            "{}, {by}, cannot be removed: {error}",
            path.display()
        ))
    });
    removed.chain(left).collect()
}
