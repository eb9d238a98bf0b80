//! The values of all nodes, side by side.

use super::meaning::Meaning;
use super::reading::{Key, Reading};
use crate::comparison::Refusal;
use instrument::experiment::Definition;
use instrument::statistics::peers::Observation;
use std::collections::HashMap;

/// All that was gathered.
#[derive(Debug)]
pub(super) struct Gathered {
    pub names: Vec<String>,
    pub nodes: Vec<Sessions>,
    pub columns: Vec<Column>,
    pub definitions: HashMap<String, Definition>,
    pub left_out: LeftOut,
}

/// All that is not judged.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// Runs that came twice, each with the two names of its node.
    pub twice: Vec<(String, String)>,
    /// Number of values of experiments that this version of oscope does not know.
    pub unknown: usize,
    /// Values that cannot be compared.
    pub values: Vec<Refusal>,
    /// Nodes with runs either now or before, if changes are judged.
    pub unpaired: Vec<String>,
}

/// The runs of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    /// Without their values.
    pub readings: Vec<Reading>,
    /// The earlier ones, if changes since then are judged.
    pub before: Option<Vec<Reading>>,
}

/// A metric at a point over the nodes, of one meaning.
#[derive(Debug)]
pub(super) struct Column {
    pub key: Key,
    pub meaning: Meaning,
    /// In the order of the nodes.
    pub nodes: Vec<Option<Cell>>,
}

/// The value of a node, or its change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub found: Observation,
    /// True if a warning concerns it.
    pub is_doubtful: bool,
    /// The logarithms of the value now and before, if `found` is its change.
    pub sides: Option<[f64; 2]>,
}
