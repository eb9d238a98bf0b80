//! `file.group_commit`: several threads that commit to one log, and what they gain by waiting together.

use super::sync::{self, BLOCK_BYTES, FILE_BYTES, device_behind};
use super::{By, like};
use crate::estimates::{by_ratio, ratio};
use crate::figures::{curves, logarithmic};
use crate::prelude::*;
use crate::together::{Slot, start_together};
use platform::block_io::write_at;
use platform::placement::{parent_cpus, pin_to};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, PoisonError};

pub(crate) struct GroupCommit;

pub(super) const WAIT: AxisOf<Wait> = AxisOf::new("wait", "wait for the device");
pub(super) const WRITERS: AxisOf<Count> = AxisOf::new("writers", "writers");
pub(super) const RATE: Metric = Metric::rate("rate", "commits");

/// The wait after a write.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Each writer waits for itself.
    Own,
    /// One writer waits for all that have written.
    Shared,
}

/// Runs are so long that starting the threads is a small part of them.
const LEAST_RUN_NS: u64 = 20_000_000;
/// The numbers of writers.
const SEVERAL: [u64; 2] = [4, 16];

pub(super) const DESIGN: Design = Design {
    id: "file.group_commit",
    title: "Commits of several threads",
    question: "How many commits a second do several threads reach in one log, and what do they gain \
               by sharing each fdatasync?",
    method: formatcp!(
        "Kernel threads on all processors commit to one file of {} MiB whose blocks are on the device. \
         A commit is a write of {} KiB to the next block and the wait until it is safe. Own: the thread \
         calls fdatasync itself. Shared: threads that have written queue up; the first calls fdatasync \
         for all of them. Those that come while it runs form the next group. The rate is the number of \
         commits of all threads over the time of a run of at least {} ms, start of the threads included.",
        FILE_BYTES >> 20,
        BLOCK_BYTES >> 10,
        LEAST_RUN_NS / 1_000_000
    ),
    source: "common practice in databases (group commit)",
    axes: &[WAIT.axis(), WRITERS.axis()],
    metrics: &[RATE],
};

impl Experiment for GroupCommit {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(FILE_BYTES))]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        let alone = Point::new().at(WAIT, Wait::Own).at(WRITERS, Count(1));
        let several = [Point::new()].by(WAIT, Wait::ALL);
        let several = several.by(WRITERS, SEVERAL.map(Count));
        [alone].into_iter().chain(several).collect()
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(like(point, By::WAITING))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        device_behind(sampler.scratch())?;
        pin_to(&parent_cpus()?)?;
        let (wait, Count(writers)) = (point.level(WAIT)?, point.level(WRITERS)?);
        let log = Log::make(&sampler.scratch().join(self.id()), wait)?;
        sampler.long_runs(RATE, writers as f64, LEAST_RUN_NS, |commits| {
            let commit = |_| (0..commits).for_each(|_| log.commit());
            start_together(writers as usize, || (), commit)
                .map_err(MeasureError::system("start a thread"))?;
            log.failure.outcome()
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        gain(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = Wait::ALL.iter().map(|wait| {
            let label = format!("{wait} wait");
            results.series(&label, RATE, WRITERS, &[WAIT.at(*wait)])
        });
        let axes = (WRITERS, logarithmic("commits", Unit::OperationsPerSecond));
        let title = "Commits of all threads to one log";
        vec![curves(RATE, title, axes, series.collect())]
    }
}

/// A log that several threads commit to.
struct Log {
    file: File,
    wait: Wait,
    block: Vec<u8>,
    /// The number of blocks that were begun.
    begun: AtomicU64,
    state: Slot<State>,
    changed: Condvar,
    failure: Slot<Option<MeasureError>>,
}

/// The progress of a log whose writers wait together.
#[derive(Default)]
struct State {
    written: u64,
    /// The number of written blocks that are safe.
    safe: u64,
    is_waiting: bool,
}

impl Log {
    fn make(path: &Path, wait: Wait) -> Result<Self, MeasureError> {
        Ok(Self {
            file: sync::make(path, FILE_BYTES / BLOCK_BYTES)?,
            wait,
            block: sync::block(),
            begun: AtomicU64::new(0),
            state: Slot::default(),
            changed: Condvar::new(),
            failure: Slot::default(),
        })
    }

    /// Writes the next block and waits until it is safe. A failure is kept.
    fn commit(&self) {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let offset = number * BLOCK_BYTES % FILE_BYTES;
        let written = write_at(&self.file, &self.block, offset);
        let written = written.map_err(MeasureError::system("write the scratch file"));
        let done = written.and_then(|()| {
            let waited = match self.wait {
                Wait::Own => self.file.sync_data(),
                Wait::Shared => self.wait_together(),
            };
            waited.map_err(MeasureError::system("wait for the device"))
        });
        if let Err(error) = done {
            self.failure.set(Some(error));
        }
    }

    /// Waits until the block that the caller has just written is safe, by its own call or another's.
    fn wait_together(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.written += 1;
        let own = state.written;
        while state.safe < own {
            if state.is_waiting {
                let changed = self.changed.wait(state);
                state = changed.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_waiting = true;
            // Only these were written before the call began.
            let covered = state.written;
            drop(state);
            let outcome = self.file.sync_data();
            state = self.state.lock();
            state.is_waiting = false;
            self.changed.notify_all();
            outcome?;
            state.safe = covered;
        }
        Ok(())
    }
}

/// The rates of the largest number of writers that was measured both ways: apart and together.
pub(super) fn rates<'r>(results: &'r Results) -> Option<(Count, [&'r Estimate; 2])> {
    let rate = |wait: Wait, writers| results.sound(RATE, &[WAIT.at(wait), WRITERS.at(writers)]);
    let both = |writers| {
        Some((
            writers,
            [rate(Wait::Own, writers)?, rate(Wait::Shared, writers)?],
        ))
    };
    SEVERAL.map(Count).into_iter().rev().find_map(both)
}

fn gain(results: &Results) -> Option<Finding> {
    let (writers, [apart, together]) = rates(results)?;
    let gain = ratio(together, apart)?;
    let said = if gain.value > 1.0 {
        sentence!(
            "{writers} threads that share each fdatasync of one log commit {together}, {gain} as many \
             as with an fdatasync for each commit."
        )
    } else {
        sentence!(
            "{writers} threads commit {apart} to one log with an fdatasync for each commit; if they \
             share each, {gain} of that."
        )
    };
    Some(by_ratio("gain", said, &gain).weighing(0.65))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;

    #[test]
    fn a_shared_wait_ends_when_the_block_is_safe() {
        let scratch = scratch();
        let log = Log::make(&scratch.path().join("log"), Wait::Shared).expect("there is room");
        start_together(8, || (), |_| (0..20).for_each(|_| log.commit())).expect("threads");
        log.failure.outcome().expect("there is room");
        let state = log.state.lock();
        assert_eq!((state.written, state.safe), (160, 160));
        assert!(!state.is_waiting);
    }
}
