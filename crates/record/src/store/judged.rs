//! Keeps the analysis of a run with it, so that it is judged once.

use super::error::{Error, Fault, OrFault, is_damage};
use super::open::Store;
use super::read;
use super::selector::{RunSelector, resolve};
use crate::checksum::Checksum;
use crate::run::Run;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// A stored run, with all that an analysis needs of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// A run whose analysis is kept, and which is the one that was analysed.
    Kept {
        /// The run without its measurements: each point that was measured has one batch, which is
        /// empty.
        outline: Run,
        /// The analysis, as it was given to [`Store::keep`].
        analysis: String,
    },
    /// The whole run, which agrees with its checksums.
    Anew {
        /// The run.
        run: Run,
        /// The run to which a new analysis belongs; `None` for a run without an end, which changes.
        snapshot: Option<Snapshot>,
    },
}

/// A stored run at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    number: u64,
    checksum: Checksum,
}

impl Store {
    /// The run that `selector` names, with its analysis if that of this version of the `code` is
    /// kept and belongs to the run as it now lies in the store.
    ///
    /// Either way the run is compared with its checksums; only its batches are not decoded where the
    /// analysis is kept.
    ///
    /// # Errors
    /// Those of [`Store::run`].
    pub fn judged(&self, selector: &RunSelector, code: &str) -> Result<Judged, Error> {
        self.reading(|connection| {
            let number = resolve(connection, selector)?;
            if let Some(analysis) = kept(connection, number, code)? {
                let mut outline = read::outline(connection, number)?.checked()?.run;
                let records = outline.experiments.iter_mut();
                let points = records.flat_map(|record| &mut record.points);
                points.for_each(|record| record.batches.truncate(1));
                return Ok(Judged::Kept { outline, analysis });
            }
            let stored = read::run(connection, number)?.checked()?;
            let snapshot = Snapshot {
                number,
                checksum: stored.checksums.run,
            };
            let has_ended = stored.run.header.ended.is_some();
            Ok(Judged::Anew {
                run: stored.run,
                snapshot: has_ended.then_some(snapshot),
            })
        })
    }

    /// Keeps `analysis`, which this version of the `code` made of `snapshot`, in the store
    /// at `path`. It replaces the one that was kept before.
    ///
    /// Does not wait for a lock: an analysis can be made again.
    ///
    /// # Errors
    /// If the store cannot be written now. Only time is lost then.
    pub fn keep(path: &Path, snapshot: Snapshot, code: &str, analysis: &str) -> Result<(), Error> {
        let keep = || {
            let mut connection = super::open::connect_to_existing(path)?;
            connection.busy_timeout(Duration::ZERO)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT OR REPLACE INTO judgements (run, code, run_checksum, analysis, checksum)
                 SELECT number, ?2, ?3, ?4, ?5 FROM runs WHERE number = ?1",
                (
                    snapshot.number,
                    code,
                    snapshot.checksum.bytes(),
                    analysis,
                    Checksum::of(analysis.as_bytes()).bytes(),
                ),
            )?;
            Ok(transaction.commit()?)
        };
        keep().map_err(|fault: Fault| fault.at(path))
    }
}

/// The kept analysis of the run `number`, unless it is of other code, of another run, or damaged.
fn kept(connection: &Connection, number: u64, code: &str) -> OrFault<Option<String>> {
    let kept: Option<(String, [u8; 32])> = connection
        .query_row(
            "SELECT analysis, judgements.checksum FROM judgements JOIN runs ON number = run
             WHERE run = ?1 AND code = ?2 AND run_checksum = runs.checksum",
            (number, code),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()
        // A part that can be made again is no reason to refuse the run.
        .or_else(|error| {
            if is_damage(&error) {
                Ok(None)
            } else {
                Err(error)
            }
        })?;
    let is_intact = |text: &str, stored| Checksum::of(text.as_bytes()) == Checksum::from(stored);
    Ok(kept.and_then(|(text, stored)| is_intact(&text, stored).then_some(text)))
}
