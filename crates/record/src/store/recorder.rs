//! Records a run while it is measured.

use super::error::{Error, Fault, OrFault};
use super::open::Store;
use super::read;
use super::write::{WrittenRun, number_of};
use crate::run::{Run, now};
use crate::validation;
use instrument::limits::Used;
use instrument::runner::{Event, Observer, ObserverError};
use rusqlite::Connection;
use std::time::Duration;

/// Maximum time to wait for another writing process, such as one that imports a large run. It is
/// long, because giving up would lose a run of an hour.
const PATIENCE: Duration = Duration::from_mins(1);
/// Pages of the write-ahead log, of 4 KiB each, at which SQLite makes a checkpoint by itself.
const MAX_LOG_PAGES: u32 = 16_384;

/// Records a run in the store while it is measured.
///
/// Each event is a transaction. When [`Observer::observe`] returns, the event survives the death of
/// this process. A crash of the whole system may lose the events since the last pass began,
/// because waiting for the disk after each batch would disturb the next. Each transaction includes
/// the checksums, so an interrupted run is proven up to its last event.
#[derive(Debug)]
pub struct Recorder<'s> {
    store: &'s mut Store,
    run: WrittenRun,
    /// True if a write failed, so that `run` may be ahead of the store.
    is_ahead: bool,
    /// The resources that a continued run used before.
    used_before: Option<Used>,
}

impl Store {
    /// Starts to record `run`. It normally has no experiments yet; any that it has are stored too.
    ///
    /// # Errors
    /// Those of [`Store::insert`].
    pub fn begin(&mut self, run: &Run) -> Result<Recorder<'_>, Error> {
        run.validate()?;
        self.record(|connection| WrittenRun::insert(connection, run))
    }

    /// Continues to record the stopped `run`, exactly as it was read from this store, with a budget of
    /// `budget_ns` for the whole run. Points that failed stay closed; the others are open again.
    ///
    /// # Errors
    /// [`Error::Changed`] if the stored run differs from `run`,
    /// [`Error::UnderWay`] if another process measures it, and if the store cannot be written.
    pub fn resume(&mut self, run: &Run, budget_ns: f64) -> Result<Recorder<'_>, Error> {
        self.record(|connection| reopened(connection, run, budget_ns))
    }

    /// Records the run that `open` makes or finds.
    fn record(
        &mut self,
        open: impl FnOnce(&Connection) -> OrFault<WrittenRun>,
    ) -> Result<Recorder<'_>, Error> {
        let run = self.writing(|connection, claims| {
            connection.pragma_update(None, "wal_autocheckpoint", MAX_LOG_PAGES)?;
            connection.busy_timeout(PATIENCE)?;
            let run = open(connection)?;
            claims.claim(run.stored.number)?;
            Ok(run)
        })?;
        let limited = run.stored.run.header.limited.as_ref();
        Ok(Recorder {
            used_before: limited.and_then(|limited| limited.used),
            store: self,
            run,
            is_ahead: false,
        })
    }
}

/// Opens the stored run with the id of `run` again, with a budget of `budget_ns` for the whole of it:
/// removes its end, and that of every point that did not fail.
fn reopened(connection: &Connection, run: &Run, budget_ns: f64) -> OrFault<WrittenRun> {
    let changed = || Fault::from(Error::Changed(run.header.id.clone()));
    let number = number_of(connection, &run.header.id)?.ok_or_else(changed)?;
    let stored = read::run(connection, number)?.checked()?;
    if stored.run != *run {
        return Err(changed());
    }
    let mut reopened = WrittenRun::reopen(stored);
    for (experiment, record) in run.experiments.iter().enumerate() {
        for (point, record) in record.points.iter().enumerate() {
            if record.failed().is_none() {
                reopened.close_point(connection, [experiment, point], None)?;
            }
        }
        reopened.seal_experiment(connection, experiment)?;
    }
    let header = &mut reopened.stored.run.header;
    header.ended = None;
    header.interrupted = false;
    header.budget_ns = budget_ns;
    reopened.seal(connection)?;
    Ok(reopened)
}

impl Recorder<'_> {
    /// The run's number in the store.
    pub fn number(&self) -> u64 {
        self.run.stored.number
    }

    /// Records the resources that a run with limits has used since this recorder began, and returns
    /// those of the whole run. Records nothing for a run without limits.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn note_use(&mut self, used: Used) -> Result<Used, Error> {
        let used = self.used_before.map_or(used, |before| before.and(used));
        let note = |connection: &Connection, run: &mut WrittenRun| {
            let Some(limited) = &mut run.stored.run.header.limited else {
                return Ok(());
            };
            limited.used = Some(used);
            run.seal(connection)
        };
        self.write(note)?;
        Ok(used)
    }

    /// Sets the run's end time to now. `interrupted` is true if a user stopped the run early.
    ///
    /// # Errors
    /// If the store cannot be written; the run then stays unfinished.
    pub fn finish(mut self, interrupted: bool) -> Result<(), Error> {
        let end = |connection: &Connection, run: &mut WrittenRun| {
            let header = &mut run.stored.run.header;
            header.ended = Some(now());
            header.interrupted = interrupted;
            run.seal(connection)
        };
        self.write(end)?;
        self.checkpoint()
    }

    fn record(&mut self, event: &Event<'_>) -> Result<(), Error> {
        match *event {
            Event::Started { definition, points } | Event::Refined { definition, points } => {
                let is_new = matches!(event, Event::Started { .. });
                if is_new {
                    validation::definition(definition)?;
                }
                validation::points(&definition.id, points.iter())?;
                self.write(|connection, run| {
                    if is_new {
                        run.add_experiment(connection, definition, None)?;
                    }
                    let experiment = run.experiment(&definition.id)?;
                    run.add_points(connection, experiment, points)?;
                    run.seal_experiment(connection, experiment)?;
                    run.seal(connection)
                })
            }
            Event::Skipped { definition, reason } => {
                validation::definition(definition)?;
                self.write(|connection, run| {
                    run.add_experiment(connection, definition, Some(reason))?;
                    run.seal_experiment(connection, run.experiment(&definition.id)?)?;
                    run.seal(connection)
                })
            }
            Event::Visiting { .. } | Event::Scarce { .. } | Event::PassEnded => Ok(()),
            Event::Using { used } => self.note_use(used).map(drop),
            Event::Taken {
                definition,
                point,
                batch,
                ..
            } => {
                validation::batch(&definition.id, batch)?;
                self.write(|connection, run| {
                    let position = run.position(&definition.id, point)?;
                    run.add_batch(connection, position, batch)?;
                    run.seal_all_above(connection, position)
                })
            }
            Event::Closed {
                definition,
                point,
                closing,
            } => {
                validation::survives(&definition.id, closing)?;
                self.write(|connection, run| {
                    let position = run.position(&definition.id, point)?;
                    run.close_point(connection, position, Some(closing.clone()))?;
                    run.seal_all_above(connection, position)
                })
            }
            Event::Pass { .. } => self.checkpoint(),
        }
    }

    /// Calls `write` in a transaction, if the run is still in the store.
    fn write(
        &mut self,
        write: impl FnOnce(&Connection, &mut WrittenRun) -> OrFault<()>,
    ) -> Result<(), Error> {
        let Self {
            store,
            run,
            is_ahead,
            ..
        } = self;
        store.writing(|connection, _| {
            let is_there: bool = connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE number = ?1)")?
                .query_row([run.stored.number], |row| row.get(0))?;
            if !is_there {
                return Err(Error::Changed(run.stored.run.header.id.clone()).into());
            }
            if *is_ahead {
                let stored = read::run(connection, run.stored.number)?.checked()?;
                *run = WrittenRun::reopen(stored);
            }
            *is_ahead = true;
            write(connection, run)
        })?;
        *is_ahead = false;
        Ok(())
    }

    /// Writes the recorded events to the disk itself, as far as other processes do not prevent it.
    fn checkpoint(&self) -> Result<(), Error> {
        let Store {
            connection, path, ..
        } = &*self.store;
        connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|error| Fault::from(error).at(path))
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        Ok(self.record(event)?)
    }
}
