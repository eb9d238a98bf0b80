//! The values of all nodes, side by side.

use super::reading::{Cell, Key, Meaning, Reading};
use crate::comparison::Refusal;
use instrument::experiment::Definition;
use std::collections::HashMap;

/// The runs of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    pub name: String,
    /// Without their values.
    pub readings: Vec<Reading>,
    /// The earlier ones, if changes since then are judged.
    pub before: Option<Vec<Reading>>,
}

/// All that was gathered.
#[derive(Debug)]
pub(super) struct Gathered {
    pub nodes: Vec<Sessions>,
    pub columns: Vec<Column>,
    pub definitions: HashMap<String, Definition>,
    /// Runs that came twice, each with the two names of its node.
    pub twice: Vec<(String, String)>,
    /// Number of values of experiments that this version of oscope does not know.
    pub unknown: usize,
    /// Values that cannot be compared.
    pub refused: Vec<Refusal>,
    /// Nodes with runs either now or before, if changes are judged.
    pub unpaired: Vec<String>,
}

/// A metric at a point over the nodes, of one meaning.
#[derive(Debug)]
pub(super) struct Column {
    pub key: Key,
    pub meaning: Meaning,
    /// In the order of the nodes.
    pub nodes: Vec<Option<Cell>>,
}
