//! The shared state of all connections of a transfer.

use super::job::{Job, Plan, Source, Summary};
use super::session::{Settled, State as FileState};
use crate::error::Error;
use crate::{Outcome, Timing};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The shared state of all connections of a transfer.
pub(super) struct Gathering<'g> {
    pub(super) plan: Plan,
    pub(super) jobs: &'g [Job],
    observer: &'g (dyn Fn(&Outcome) + Sync),
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    summary: Summary,
    /// Files of which some but not all parts have ended: the number of ended parts, and the
    /// combined outcome so far.
    pending: BTreeMap<u64, (u16, Outcome)>,
    /// Files that are being sent in parts: the state that all parts must find the file in.
    divided: BTreeMap<u64, FileState>,
    /// Files that failed because there was no room at the receiver while others arrived there.
    again: BTreeMap<u64, Outcome>,
    /// Number of connections that have sent their share.
    ended: u16,
    /// Directories that failed.
    failed_directories: BTreeSet<u64>,
}

impl<'g> Gathering<'g> {
    pub(super) fn new(
        plan: Plan,
        jobs: &'g [Job],
        observer: &'g (dyn Fn(&Outcome) + Sync),
        started: Instant,
    ) -> Self {
        Self {
            plan,
            jobs,
            observer,
            started,
            state: Mutex::default(),
        }
    }

    /// The numbers of all files.
    pub(super) fn ids(&self) -> Range<u64> {
        0..self.jobs.len() as u64
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the failure of a file that was not sent at all.
    pub(super) fn fail(&self, id: u64, reason: String) {
        let outcome = Outcome {
            name: self.jobs[id as usize].name.clone(),
            failure: Some(reason),
            ..Outcome::default()
        };
        self.settle((id, 1, outcome));
    }

    /// True for a directory that failed.
    pub(super) fn has_failed(&self, id: u64) -> bool {
        self.state().failed_directories.contains(&id)
    }

    /// Counts the end of a connection's share. The last one gets the files to send again.
    pub(super) fn end_share(&self) -> Option<Vec<u64>> {
        let mut state = self.state();
        state.ended += 1;
        let is_last = state.ended == self.plan.streams;
        is_last.then(|| std::mem::take(&mut state.again).into_keys().collect())
    }

    /// The summary. Files without an outcome get one: `error` if it ended the transfer.
    pub(super) fn finish(self, error: Option<&Error>) -> Summary {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut summary = state.summary;
        let pending = state.pending.into_values().map(|(_, outcome)| outcome);
        for mut outcome in pending.chain(state.again.into_values()) {
            outcome.failure.get_or_insert_with(|| match error {
                Some(error) => error.to_string(),
                // The file shrank: a connection that found it too small to divide left its part to
                // the others.
                None => "it changed while it was sent".to_owned(),
            });
            summary.failed += 1;
            (self.observer)(&outcome);
        }
        summary
    }

    /// Records the outcome of a part of a file.
    pub(super) fn settle(&self, (id, parts, outcome): Settled) {
        let elapsed = self.started.elapsed();
        let mut state = self.state();
        let (settled, so_far) = match state.pending.remove(&id) {
            None => (1, outcome),
            Some((settled, mut so_far)) => {
                so_far.size += outcome.size;
                so_far.timing.received = so_far.timing.received.max(outcome.timing.received);
                so_far.timing.stored = so_far.timing.stored.max(outcome.timing.stored);
                so_far.failure = so_far.failure.or(outcome.failure);
                so_far.needs_room |= outcome.needs_room;
                so_far.is_kept |= outcome.is_kept;
                (settled + 1, so_far)
            }
        };
        if settled < parts {
            state.pending.insert(id, (settled, so_far));
            return;
        }
        state.divided.remove(&id);
        let source = &self.jobs[id as usize].source;
        let is_with_others = self.plan.streams > 1 && state.ended < self.plan.streams;
        if so_far.needs_room && is_with_others && source.can_be_read_again() {
            state.again.insert(id, so_far);
            return;
        }
        if matches!(source, Source::Directory(_)) {
            if so_far.failure.is_none() {
                return;
            }
            state.failed_directories.insert(id);
        }
        let summary = &mut state.summary;
        if so_far.failure.is_some() {
            summary.failed += 1;
        } else {
            summary.files += 1;
            summary.bytes += so_far.size;
        }
        // The receiver's timing of the last file shows how long storing took.
        let storing = so_far.timing.stored.saturating_sub(so_far.timing.received);
        summary.timing = Timing {
            received: elapsed.saturating_sub(storing),
            stored: elapsed,
        };
        (self.observer)(&so_far);
    }

    /// The state in which the first connection found a file that this one finds in `state` and
    /// divides into `parts`. A divided file must not change in between.
    pub(super) fn first_state(&self, id: u64, parts: u16, state: FileState) -> FileState {
        let mut gathered = self.state();
        if parts == 1 {
            return gathered.divided.get(&id).copied().unwrap_or(state);
        }
        *gathered.divided.entry(id).or_insert(state)
    }
}
