//! The full speed of a machine's processor in its earlier runs.

use super::error::{Error, Fault, Result};
use super::open::Store;
use rusqlite::{Connection, OptionalExtension};

impl Store {
    /// Wall time of the reference loop at full speed in ns, as the newest run of the machine with
    /// this `fingerprint` knew it at its end; `None` if none of its last ten runs has measured it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn full_speed_ns(&self, fingerprint: &str) -> std::result::Result<Option<f64>, Error> {
        read(&self.connection, fingerprint).map_err(|fault: Fault| fault.at(&self.path))
    }
}

fn read(connection: &Connection, fingerprint: &str) -> Result<Option<f64>> {
    let found = connection
        .prepare(
            "SELECT min(full_speed_ns)
             FROM (
               SELECT number, started FROM runs JOIN machines ON machines.key = runs.machine
               WHERE fingerprint = ?1 ORDER BY started DESC LIMIT 10
             ) AS recent
             JOIN experiments ON experiments.run = recent.number
             JOIN points ON points.experiment = experiments.key
             JOIN batches ON batches.point = points.key
             WHERE full_speed_ns IS NOT NULL
             GROUP BY recent.number ORDER BY recent.started DESC LIMIT 1",
        )?
        .query_row([fingerprint], |row| row.get(0))
        .optional()?;
    Ok(found)
}
