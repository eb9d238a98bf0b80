//! The wall time of visits to a machine's points in its earlier runs.

use super::column::json;
use super::error::{Error, Fault, Result};
use super::open::Store;
use instrument::plan::{Profile, VisitCosts};
use instrument::point::Point;
use rusqlite::Connection;

impl Store {
    /// The mean wall time of a visit to each point that the last three runs of the machine with this
    /// `fingerprint` have measured in `profile` and without limits.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn visit_costs(
        &self,
        fingerprint: &str,
        profile: Profile,
    ) -> std::result::Result<VisitCosts, Error> {
        let profile = profile.to_string();
        read(&self.connection, fingerprint, &profile).map_err(|fault: Fault| fault.at(&self.path))
    }
}

fn read(connection: &Connection, fingerprint: &str, profile: &str) -> Result<VisitCosts> {
    let mut costs = VisitCosts::default();
    let mut statement = connection.prepare(
        "SELECT id, levels, avg(wall_ns)
         FROM (
           SELECT number FROM runs
           JOIN machines ON machines.key = runs.machine
           JOIN circumstances ON circumstances.run = runs.number
           WHERE fingerprint = ?1 AND profile = ?2 AND limited IS NULL
           ORDER BY started DESC LIMIT 3
         ) AS recent
         JOIN experiments ON experiments.run = recent.number
         JOIN points ON points.experiment = experiments.key
         JOIN batches ON batches.point = points.key
         GROUP BY experiments.id, points.levels",
    )?;
    let mut rows = statement.query([fingerprint, profile])?;
    while let Some(row) = rows.next()? {
        let point: Point = json(row, "levels")?;
        costs.add(&row.get::<_, String>("id")?, point, row.get(2)?);
    }
    Ok(costs)
}
