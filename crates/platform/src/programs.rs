//! The running programs and their CPU time.

pub use crate::os::usage::running;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The process id.
    pub id: u32,
    /// The kernel's short name for it (on Linux at most 15 bytes).
    pub name: String,
    /// CPU time so far in ns; the kernel counts in ticks.
    pub cpu_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::running;

    #[test]
    fn this_process_runs() {
        let programs = running();
        let own = programs
            .iter()
            .find(|program| program.id == std::process::id());
        assert!(
            own.is_some_and(|program| !program.name.is_empty()),
            "{programs:?}"
        );
    }
}
