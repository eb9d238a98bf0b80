//! Facts about a machine in its earlier runs.

use super::column::json;
use super::error::{Error, OrFault};
use super::open::Store;
use super::summary::{ALL, Entry, entries};
use crate::run::Closing;
use instrument::plan::{Profile, VisitCosts};
use instrument::point::Point;
use instrument::sample::{Batch, FullSpeed};
use rusqlite::Connection;
use std::collections::BTreeMap;

impl Store {
    /// The mean wall time of a visit to each point that the last three runs of the machine with this
    /// `fingerprint` have measured in `profile` and without limits. Runs whose entry in the list of runs
    /// is damaged do not count.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn visit_costs(&self, fingerprint: &str, profile: Profile) -> Result<VisitCosts, Error> {
        let visits = self.reading(|connection| {
            let mut visits = Visits::new();
            let runs = entries(connection, "fingerprint = ?1", ALL, [fingerprint])?;
            let is_like = |entry: &&Entry| {
                let run = &entry.summary;
                run.profile == profile && !entry.is_limited && !run.damaged
            };
            for run in runs.iter().filter(is_like).take(3) {
                add_visits(connection, run.summary.number, &mut visits)?;
            }
            Ok(visits)
        })?;
        let mut costs = VisitCosts::default();
        for ((id, point), (count, wall_ns)) in visits {
            costs.add(&id, point, wall_ns as f64 / count as f64);
        }
        Ok(costs)
    }

    /// The full speed of each type of core, as the newest run of the machine with this `fingerprint`
    /// knew it at its end; empty if none of its last ten runs has measured it. Runs whose entry in the
    /// list of runs is damaged do not count.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn full_speeds(&self, fingerprint: &str) -> Result<Vec<FullSpeed>, Error> {
        let mut runs =
            self.reading(|connection| entries(connection, "fingerprint = ?1", 10, [fingerprint]))?;
        runs.retain(|run| !run.summary.damaged && !run.full_speeds.is_empty());
        let newest = runs.into_iter().next();
        Ok(newest.map_or_else(Vec::new, |run| run.full_speeds))
    }
}

/// The number of visits to each point, and their wall time in ns.
type Visits = BTreeMap<(String, Point), (u64, u64)>;

/// Adds the visits of a run.
fn add_visits(connection: &Connection, run: u64, visits: &mut Visits) -> OrFault<()> {
    let mut statement = connection.prepare_cached(
        "SELECT id, points.content, visits, wall_ns
         FROM points JOIN experiments ON experiments.key = experiment
         WHERE run = ?1 AND visits > 0",
    )?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let (point, _): (Point, Option<Closing>) = json(row, 1)?;
        let (count, wall_ns): (u64, u64) = (row.get(2)?, row.get(3)?);
        let sum = visits.entry((row.get(0)?, point)).or_default();
        *sum = (sum.0 + count, sum.1.saturating_add(wall_ns));
    }
    Ok(())
}

/// The full speed of each type of core that a run has seen, as it knows it at its end.
pub(super) type FullSpeeds = BTreeMap<Option<usize>, FullSpeed>;

/// Notes the full speed that `batch` has seen.
pub(super) fn note(speeds: &mut FullSpeeds, batch: &Batch) {
    if let Some(seen) = batch.full_speed {
        let known = speeds.entry(seen.core_type).or_insert(seen);
        *known = known.and(seen);
    }
}
