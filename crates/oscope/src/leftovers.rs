//! Leftovers of killed runs.

use crate::arguments::Common;
use crate::command::resume;
use crate::output;
use anyhow::Result;
use instrument::removal::REMOVAL;
use platform::scratch::Scratch;
use record::store::{RunSelector, Store};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A leftover of a killed run.
pub enum Leftover {
    /// Samples in the store.
    Run {
        number: u64,
        /// `oscope run --resume` would continue it.
        is_resumable: bool,
    },
    /// A removed scratch directory, including its control group and swap.
    Removed(PathBuf),
    /// A scratch directory that could not be removed.
    Stuck(PathBuf, io::Error),
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run {
                number,
                is_resumable,
            } => {
                write!(
                    f,
                    "run {number} was cut off; its results are kept: `oscope show {number}`"
                )?;
                if *is_resumable {
                    write!(f, "; `oscope run --resume {number}` continues it")?;
                }
                Ok(())
            }
            Self::Removed(path) => write!(
                f,
                "removed {}, left behind by a run that was killed",
                path.display()
            ),
            Self::Stuck(path, error) => write!(
                f,
                "{}, left behind by a run that was killed, cannot be removed: {error}",
                path.display()
            ),
        }
    }
}

impl Leftover {
    /// True if it is still there.
    pub fn is_stuck(&self) -> bool {
        matches!(self, Self::Stuck(..))
    }
}

/// As [`clear`], and reports each leftover before the work begins.
pub fn clear_and_report(store: Option<&Store>, dir: &Path, common: &Common) -> Result<()> {
    for leftover in clear(store, dir)? {
        if leftover.is_stuck() || !(common.quiet || common.is_led) {
            output::say(&leftover.to_string());
        }
    }
    Ok(())
}

/// Removes the leftovers in the directories of the runs in `store` that never ended, and in `dir`,
/// which a run of another store may have used.
pub fn clear(store: Option<&Store>, dir: &Path) -> Result<Vec<Leftover>> {
    let mut leftovers = Vec::new();
    if let Some(store) = store {
        for run in store.unfinished()? {
            let swept = sweep(&run.directory);
            if !swept.is_empty() {
                leftovers.push(Leftover::Run {
                    number: run.number,
                    is_resumable: is_resumable(store, run.number),
                });
            }
            leftovers.extend(swept);
        }
    }
    let is_swept =
        |leftover: &Leftover| matches!(leftover, Leftover::Stuck(path, _) if is_in(path, dir));
    if !leftovers.iter().any(is_swept) {
        leftovers.extend(sweep(dir));
    }
    Ok(leftovers)
}

/// True if the run is whole in the store, and this machine can continue it.
fn is_resumable(store: &Store, number: u64) -> bool {
    let run = store.run(&RunSelector::Text(number.to_string()));
    run.is_ok_and(|run| resume::is_possible(&run))
}

fn is_in(path: &Path, dir: &Path) -> bool {
    let dir = dunce::canonicalize(dir).ok();
    dir.is_some_and(|dir| path.parent() == Some(&dir))
}

fn sweep(dir: &Path) -> Vec<Leftover> {
    let sweep = Scratch::sweep(dir, &REMOVAL);
    let stuck = |(path, error)| Leftover::Stuck(path, error);
    let removed = sweep.removed.into_iter().map(Leftover::Removed);
    removed.chain(sweep.left.into_iter().map(stuck)).collect()
}
