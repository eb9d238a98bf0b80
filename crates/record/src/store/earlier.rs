//! Facts about a machine in its earlier runs.

use super::error::{Error, Fault, Result};
use super::open::Store;
use super::read::{header, run};
use crate::run::{Header, Run};
use instrument::plan::Profile;
use instrument::plan::VisitCosts;
use instrument::point::Point;
use instrument::sample::{Batch, FullSpeed};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

impl Store {
    /// The mean wall time of a visit to each point that the last three runs of the machine with this
    /// `fingerprint` have measured in `profile` and without limits. Damaged runs do not count.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn visit_costs(
        &self,
        fingerprint: &str,
        profile: Profile,
    ) -> std::result::Result<VisitCosts, Error> {
        let is_like = |header: &Header| header.profile == profile && header.limited.is_none();
        let mut visits: BTreeMap<(String, Point), Vec<u64>> = BTreeMap::new();
        self.earlier(fingerprint, 3, is_like, |run| {
            for record in &run.experiments {
                for point in &record.points {
                    let of = (record.definition.id.clone(), point.point.clone());
                    let times = point.batches.iter().map(|batch| batch.wall_ns);
                    visits.entry(of).or_default().extend(times);
                }
            }
            ControlFlow::Continue(())
        })?;
        let mut costs = VisitCosts::default();
        for ((id, point), times) in visits.into_iter().filter(|(_, times)| !times.is_empty()) {
            let sum: f64 = times.iter().map(|ns| *ns as f64).sum();
            costs.add(&id, point, sum / times.len() as f64);
        }
        Ok(costs)
    }

    /// The full speed of each type of core, as the newest run of the machine with this `fingerprint`
    /// knew it at its end; empty if none of its last ten runs has measured it. Damaged runs do not
    /// count.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn full_speeds(&self, fingerprint: &str) -> std::result::Result<Vec<FullSpeed>, Error> {
        let mut speeds = BTreeMap::new();
        self.earlier(
            fingerprint,
            10,
            |_| true,
            |run| {
                let points = run.experiments.iter().flat_map(|record| &record.points);
                let batches = points.flat_map(|record| &record.batches);
                for seen in batches.filter_map(|batch: &Batch| batch.full_speed) {
                    let known = speeds.entry(seen.core_type).or_insert(seen);
                    *known = at_the_end(*known, seen);
                }
                if speeds.is_empty() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            },
        )?;
        Ok(speeds.into_values().collect())
    }

    /// Calls `visit` with the newest intact runs of a machine of which `is_wanted` accepts the header,
    /// the newest first: `most` of them, or until it breaks.
    fn earlier(
        &self,
        fingerprint: &str,
        most: usize,
        is_wanted: impl Fn(&Header) -> bool,
        mut visit: impl FnMut(&Run) -> ControlFlow<()>,
    ) -> std::result::Result<(), Error> {
        let mut read = || {
            // One transaction, because another process may be recording.
            let transaction = self.connection.unchecked_transaction()?;
            let mut left = most;
            for number in numbers(&transaction, fingerprint)? {
                if left == 0 || !is_wanted(&header(&transaction, number)?.0) {
                    continue;
                }
                left -= 1;
                match run(&transaction, number)?.checked() {
                    Ok(stored) if visit(&stored.run).is_break() => break,
                    Ok(_) | Err(Fault::DamagedRun { .. }) => {}
                    Err(fault) => return Err(fault),
                }
            }
            Ok(())
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }
}

/// The numbers of the runs of a machine, the newest first.
fn numbers(connection: &Connection, fingerprint: &str) -> Result<Vec<u64>> {
    connection
        .prepare_cached(
            "SELECT number FROM runs WHERE fingerprint = ?1 ORDER BY started DESC, number DESC",
        )?
        .query_and_then([fingerprint], |row| Ok(row.get(0)?))?
        .collect()
}

/// The full speed of a core of which both were known in the same run.
fn at_the_end(one: FullSpeed, other: FullSpeed) -> FullSpeed {
    let ends = |(least, greatest): (f64, f64), (least_too, greatest_too): (f64, f64)| {
        (f64::min(least, least_too), f64::max(greatest, greatest_too))
    };
    FullSpeed {
        core_type: one.core_type,
        chain_ns: one.chain_ns.min(other.chain_ns),
        best_chain_ns: one.best_chain_ns.min(other.best_chain_ns),
        alone_ratio: one.alone_ratio.min(other.alone_ratio),
        longest_chain_ns: either(one.longest_chain_ns, other.longest_chain_ns, f64::max),
        earlier_chain_ns: either(one.earlier_chain_ns, other.earlier_chain_ns, ends),
    }
}

fn either<T>(one: Option<T>, other: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(both(one, other)),
        (one, other) => one.or(other),
    }
}
