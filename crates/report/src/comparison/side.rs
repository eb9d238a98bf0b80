//! One side of a comparison: one or several sessions.

use record::Run;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side {
    /// What the user called it.
    pub label: String,
    /// Its sessions: whole runs of the same plan.
    pub runs: Vec<Run>,
    /// Whether its numbers were printed in a published report, without samples or spread.
    pub is_reported: bool,
}

impl Side {
    /// What people read: the label, with the run's own name where that says more.
    pub fn title(&self) -> String {
        match self.runs.as_slice() {
            [run] => match &run.header.name {
                Some(name) if *name != self.label => format!("{} ({name})", self.label),
                _ => self.label.clone(),
            },
            runs => format!("{} ({} sessions)", self.label, runs.len()),
        }
    }

    /// The names of the machines that its sessions ran on, each once.
    pub fn machines(&self) -> Vec<&str> {
        let mut machines: Vec<&str> = Vec::new();
        for run in &self.runs {
            let fingerprint = run.header.machine_fingerprint.as_str();
            if !machines.contains(&fingerprint) {
                machines.push(fingerprint);
            }
        }
        machines
    }
}
