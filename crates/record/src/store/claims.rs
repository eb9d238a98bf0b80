//! Claims of runs: no process deletes or continues a run that another one measures.

use super::error::{Error, OrFault};
use platform::file::try_lock_byte;
use std::collections::HashSet;
use std::fs::File;

/// The locked byte of run 0; that of each other run follows it by the run's number. SQLite's own locks are on bytes
/// before 2 GiB, and no store is as large.
const FIRST: u64 = 1 << 62;

/// The runs that a store's process has claimed. They are free again as soon as the store is closed, or its process
/// dies.
#[derive(Debug)]
pub(super) struct Claims {
    /// The store's file, open for as long as SQLite has it open: when a process closes a file, it loses the locks that
    /// SQLite has on it. `None` if the store is only read.
    file: Option<File>,
    runs: HashSet<u64>,
}

impl Claims {
    pub fn new(file: Option<File>) -> Self {
        let runs = HashSet::new();
        Self { file, runs }
    }

    /// Claims a run. A file system without locks grants every claim.
    ///
    /// # Errors
    /// [`Error::UnderWay`] if another process has claimed the run.
    pub fn claim(&mut self, run: u64) -> OrFault<()> {
        let may_lock = |file: &File| try_lock_byte(file, FIRST + run).unwrap_or(true);
        if !self.runs.contains(&run) && !self.file.as_ref().is_none_or(may_lock) {
            return Err(Error::UnderWay(run).into());
        }
        self.runs.insert(run);
        Ok(())
    }
}
