//! Keeps the analysis of a run with it, so that it is judged once.

use super::error::{Error, Fault, Result, is_damage};
use super::open::Store;
use super::read::{self, checked};
use super::seal::seal;
use super::selector::{RunSelector, resolve};
use crate::run::Run;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// A stored run, with all that an analysis needs of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// A run whose analysis is kept, and whose rows are those that were analysed.
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
        /// The rows to which a new analysis belongs; `None` for a run without an end, whose rows
        /// change.
        seal: Option<Seal>,
    },
}

/// The rows of a stored run at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    number: u64,
    hash: [u8; 32],
}

impl Store {
    /// The run that `selector` names, with its analysis if that of this version of the `code` is
    /// kept and belongs to the run as it now lies in the store.
    ///
    /// A change of any row of the run, by damage or otherwise, makes this read the whole run and
    /// compare it with its checksums.
    ///
    /// # Errors
    /// Those of [`Store::run`].
    pub fn judged(&self, selector: &RunSelector, code: &str) -> std::result::Result<Judged, Error> {
        let read = || {
            let transaction = self.connection.unchecked_transaction()?;
            let number = resolve(&transaction, selector)?;
            let hash = seal(&transaction, number)?;
            if let Some(analysis) = kept(&transaction, number, code, hash)? {
                let outline = read::outline(&transaction, number)?;
                return Ok(Judged::Kept { outline, analysis });
            }
            let (run, _) = checked(&transaction, number)?;
            let has_ended = run.header.ended.is_some();
            let seal = has_ended.then_some(Seal { number, hash });
            Ok(Judged::Anew { run, seal })
        };
        read().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Keeps `analysis`, which this version of the `code` made of the rows of `seal`, in the store
    /// at `path`. It replaces the one that was kept before.
    ///
    /// Does not wait for a lock: an analysis can be made again.
    ///
    /// # Errors
    /// If the store cannot be written now. Only time is lost then.
    pub fn keep(
        path: &Path,
        seal: Seal,
        code: &str,
        analysis: &str,
    ) -> std::result::Result<(), Error> {
        let keep = || {
            let mut connection = super::open::connect_to_existing(path)?;
            connection.busy_timeout(Duration::ZERO)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT OR REPLACE INTO judgements (run, code, seal, analysis, checksum)
                 SELECT number, ?2, ?3, ?4, ?5 FROM runs WHERE number = ?1",
                (
                    seal.number,
                    code,
                    seal.hash,
                    analysis,
                    *checksum(analysis).as_bytes(),
                ),
            )?;
            Ok(transaction.commit()?)
        };
        keep().map_err(|fault: Fault| fault.at(path))
    }
}

/// The kept analysis of the run `number`, unless it is of other code, of other rows, or damaged.
fn kept(
    connection: &Connection,
    number: u64,
    code: &str,
    seal: [u8; 32],
) -> Result<Option<String>> {
    let kept: Option<(String, [u8; 32])> = connection
        .query_row(
            "SELECT analysis, checksum FROM judgements WHERE run = ?1 AND code = ?2 AND seal = ?3",
            (number, code, seal),
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
    Ok(kept.and_then(|(text, stored)| (*checksum(&text).as_bytes() == stored).then_some(text)))
}

fn checksum(analysis: &str) -> blake3::Hash {
    blake3::hash(analysis.as_bytes())
}
