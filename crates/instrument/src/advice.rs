//! Advice: the settings that programs should use on a machine, derived from its measurements.

use crate::claim::Evidence;
use crate::finding::Finding;
use crate::point::Level;
use crate::quantity::{Quantity, Unit};

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
    /// The experiments that the rule reads.
    pub experiments: &'static [&'static str],
    /// Finds the advice; `None` if the needed measurements are missing or do not decide.
    pub find: fn(&Evidence<'_>) -> Option<Advice>,
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
}
