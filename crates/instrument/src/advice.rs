//! Advice: the settings that programs should use on a machine, derived from its measurements.

use crate::claim::Basis;
use crate::finding::{Finding, Sentence};
use crate::point::Level;
use crate::quantity::{Quantity, Unit};
use crate::trial::Trial;
use platform::environment::System;
use serde::{Deserialize, Serialize};

/// A rule that finds the best value of one setting.
#[derive(Debug)]
pub struct Rule {
    /// Name, the same in every version: `read_block_size`.
    pub setting: &'static str,
    /// Title for readers: `block size for reading files`.
    pub title: &'static str,
    /// The people who can act on it.
    pub audience: Audience,
    /// Unit of numeric values; `None` for a named choice.
    pub unit: Option<Unit>,
    /// The experiments that the rule reads, and the advice from them; `None` if they do not decide.
    pub basis: Basis<Advice>,
    /// What to do to have this value on this system.
    pub act: fn(&Level, System) -> Action,
}

/// The people who can act on advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    /// Authors and users of programs.
    Programs,
    /// Databases and services: programs that wait for storage, or hold large buffers.
    Services,
}

/// The recommended value of a setting, and the gain from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The recommended value: bytes, a count or a named choice.
    pub value: Level,
    /// The value that programs use by default.
    pub usual: Level,
    /// Speed with the recommended value divided by speed with the usual one; `None` if not
    /// measured.
    pub gain: Option<Quantity>,
    /// The finding that supports the advice.
    pub because: Finding,
    /// The pair of measurements that tries it; `None` where the value is the usual one, or where no
    /// experiment measures both.
    pub trial: Option<Trial>,
}

/// What a reader does to follow advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// A command that changes this machine or the call of a program.
    Command(String),
    /// A sentence about the reader's own code.
    Code(Sentence),
}

impl Advice {
    /// True if both advise the same to a reader: the same choice, or a change from the usual number to
    /// one within a step of the usual grids.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        /// Sizes and counts are measured at every second or third power of two.
        const STEP: u64 = 8;
        match (&self.value, &other.value) {
            (Level::Number(ours), Level::Number(theirs)) => {
                let is_change = |advice: &Self| advice.value != advice.usual;
                let (less, more) = (ours.min(theirs), ours.max(theirs));
                is_change(self) == is_change(other) && less.saturating_mul(STEP) >= *more
            }
            (ours, theirs) => ours == theirs,
        }
    }
}
