//! Runs that match a selector.

use std::fmt;

/// A run that matches a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The run's number in the store.
    pub number: u64,
    /// The run's id.
    pub id: String,
    /// The run's name.
    pub name: Option<String>,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id.get(..8).unwrap_or(&self.id);
        match &self.name {
            Some(name) => write!(f, "{} ({name}, {id})", self.number),
            None => write!(f, "{} ({id})", self.number),
        }
    }
}
