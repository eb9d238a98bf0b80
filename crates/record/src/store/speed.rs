//! The full speed of a machine's cores in its earlier runs.

use super::error::{Error, Fault, Result};
use super::open::Store;
use instrument::sample::FullSpeed;
use rusqlite::Connection;

impl Store {
    /// The full speed of each type of core, as the newest run of the machine with this `fingerprint`
    /// knew it at its end; empty if none of its last ten runs has measured it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn full_speeds(&self, fingerprint: &str) -> std::result::Result<Vec<FullSpeed>, Error> {
        read(&self.connection, fingerprint).map_err(|fault: Fault| fault.at(&self.path))
    }
}

fn read(connection: &Connection, fingerprint: &str) -> Result<Vec<FullSpeed>> {
    let found = connection
        .prepare(
            "WITH measured AS (
               SELECT recent.number, recent.started, batches.full_speed
               FROM (
                 SELECT number, started FROM runs JOIN machines ON machines.key = runs.machine
                 WHERE fingerprint = ?1 ORDER BY started DESC LIMIT 10
               ) AS recent
               JOIN experiments ON experiments.run = recent.number
               JOIN points ON points.experiment = experiments.key
               JOIN batches ON batches.point = points.key
               WHERE batches.full_speed IS NOT NULL
             )
             SELECT full_speed ->> 'core_type' AS core_type, min(full_speed ->> 'chain_ns'),
                    min(full_speed ->> 'best_chain_ns'), min(full_speed ->> 'alone_ratio'),
                    max(full_speed ->> 'longest_chain_ns'),
                    min(full_speed ->> '$.earlier_chain_ns[0]'), max(full_speed ->> '$.earlier_chain_ns[1]')
             FROM measured
             WHERE number = (SELECT number FROM measured ORDER BY started DESC LIMIT 1)
             GROUP BY core_type",
        )?
        .query_map([fingerprint], |row| {
            Ok(FullSpeed {
                core_type: row.get(0)?,
                chain_ns: row.get(1)?,
                best_chain_ns: row.get(2)?,
                alone_ratio: row.get(3)?,
                longest_chain_ns: row.get(4)?,
                earlier_chain_ns: row.get::<_, Option<f64>>(5)?.zip(row.get(6)?),
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(found)
}
