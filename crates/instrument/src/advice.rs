//! Advice: the settings that programs should use on a machine, as its measurements tell.

use crate::claim::Evidence;
use crate::finding::Finding;
use crate::point::Level;
use crate::quantity::{Quantity, Unit};

/// How one setting is found.
#[derive(Debug)]
pub struct Rule {
    /// Its name, the same in every version: `read_block_size`.
    pub setting: &'static str,
    /// What it sets, for people: `block size for reading files`.
    pub title: &'static str,
    /// What numbers are counted in; `None` for a named choice.
    pub unit: Option<Unit>,
    /// The experiments that tell.
    pub experiments: &'static [&'static str],
    /// Finds it; `None` where what is needed was not measured or does not tell.
    pub find: fn(&Evidence<'_>) -> Option<Advice>,
}

/// What to use, and what that brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What to use: bytes, a count or a named choice.
    pub value: Level,
    /// What programs use when nobody has thought about it.
    pub usual: Level,
    /// How many times as fast the advised value is as the usual one; `None` where that was not
    /// measured.
    pub gain: Option<Quantity>,
    /// What it follows from.
    pub because: Finding,
}
