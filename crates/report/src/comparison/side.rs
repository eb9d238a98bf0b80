//! One side of a comparison: one or several sessions.

use crate::lists::distinct;
use record::Run;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side {
    /// The user's name for it.
    pub label: String,
    /// Its sessions: whole runs of the same plan.
    pub runs: Vec<Run>,
}

impl Side {
    /// The label for readers, extended by the run's own name if that says more.
    pub fn title(&self) -> String {
        match self.runs.as_slice() {
            [run] => match &run.header.name {
                Some(name) if *name != self.label => format!("{} ({name})", self.label),
                _ => self.label.clone(),
            },
            runs => format!("{} ({} sessions)", self.label, runs.len()),
        }
    }

    /// True if a published report printed numbers of it, without samples or spread.
    pub fn is_reported(&self) -> bool {
        self.runs.iter().any(|run| run.header.is_reported())
    }

    /// The distinct fingerprints of the machines of its sessions.
    pub fn machines(&self) -> Vec<&str> {
        let runs = self.runs.iter();
        distinct(runs.map(|run| run.header.machine_fingerprint.as_str()))
    }
}
