//! Files that are coming in, each to one place, over one connection or several.

use super::Options;
use super::place::{Failure, Place};
use crate::error::{Error, Result};
use crate::protocol::{Part, Partial};
use crate::ranges::Hashing;
use platform::block_io::write_at;
use platform::directory::Directory;
use platform::file::allocate_range;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// A file that is mapped grows by steps of its own size within these bounds: not in many steps, and
/// not by much more than what comes.
const LEAST_GROWTH: u64 = 64 << 10;
const MOST_GROWTH: u64 = 8 << 20;
/// Whoever waits looks so often whether to stop.
const TICK: Duration = Duration::from_millis(20);

/// So many files of a transfer may be divided and not complete at a time: connections that are ahead
/// wait for the others.
const MOST_DIVIDED: usize = 32;

/// What is told of a file, or why it is not kept.
type Outcome<T> = std::result::Result<T, Failure>;

/// The files that are coming in, so that the connections of one transfer find them.
pub(super) struct Shelf {
    directory: Option<Arc<Directory>>,
    sessions: Mutex<HashMap<[u8; 16], Session>>,
    /// Somebody may wait for a divided file to be complete.
    is_complete: Condvar,
    /// One file is hashed at a time.
    hashing: Mutex<()>,
    /// How many files were measured.
    measured: AtomicU64,
}

/// A transfer over several connections.
#[derive(Default)]
struct Session {
    connections: usize,
    /// Whether one of them was lost, and its parts with it.
    is_lost: bool,
    /// Whether one of them has waited for a divided file to be complete, and none was.
    is_stuck: bool,
    divided: HashMap<u64, Divided>,
}

/// A file that comes in parts, over several connections.
struct Divided {
    target: Outcome<Arc<Target>>,
    /// How many of its parts are still to come to their end, good or bad.
    parts_left: u16,
}

/// A file that is coming in.
pub(super) struct Target {
    /// `None` if it is thrown away.
    place: Option<Place>,
    parts: u16,
    state: Mutex<State>,
}

struct State {
    parts_left: u16,
    /// Why it will not be complete.
    spoiled: Option<Failure>,
    is_published: bool,
    /// Up to here everything came, one after the other.
    in_order: u64,
    is_in_order: bool,
    /// Up to here there is room on the device for a mapping.
    allocated: u64,
}

impl Shelf {
    pub(super) fn new(directory: Option<Directory>) -> Self {
        Self {
            directory: directory.map(Arc::new),
            sessions: Mutex::default(),
            is_complete: Condvar::new(),
            hashing: Mutex::new(()),
            measured: AtomicU64::new(0),
        }
    }

    /// A name for a file that is measured, which no other has.
    pub(super) fn name_to_measure(&self) -> String {
        format!("measured-{}", self.measured.fetch_add(1, Ordering::Relaxed))
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &str) {
        if let Some(directory) = &self.directory {
            // If it cannot be removed now, it goes with its directory.
            let _ = directory.remove(name.as_ref());
        }
    }

    /// The largest file there is room for, in bytes, as far as the system tells.
    pub(super) fn room(&self) -> Option<u64> {
        self.directory.as_ref()?.free_bytes()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<[u8; 16], Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection of a transfer is there.
    pub(super) fn enter(&self, session: [u8; 16]) {
        self.sessions().entry(session).or_default().connections += 1;
    }

    /// A connection of a transfer is over.
    pub(super) fn leave(&self, id: [u8; 16], is_lost: bool) {
        let mut sessions = self.sessions();
        let Some(session) = sessions.get_mut(&id) else {
            return;
        };
        session.connections -= 1;
        if is_lost {
            session.is_lost = true;
            for target in session
                .divided
                .drain()
                .filter_map(|(_, file)| file.target.ok())
            {
                target.spoil("another connection of its transfer was lost");
            }
        }
        if session.connections == 0 {
            sessions.remove(&id);
        }
    }

    /// Where this file goes, or why it goes nowhere.
    pub(super) fn target(
        &self,
        part: &Part<'_>,
        session: [u8; 16],
        options: &Options,
    ) -> Outcome<Arc<Target>> {
        if part.parts == 1 {
            return self.make(part, options).map(Arc::new);
        }
        let deadline = Instant::now() + options.limits.patience;
        let mut sessions = self.sessions();
        loop {
            let session = sessions.entry(session).or_default();
            if session.is_lost {
                return Err("another connection of its transfer was lost".into());
            }
            let has_room = session.divided.len() < MOST_DIVIDED;
            match session.divided.entry(part.id) {
                Entry::Occupied(file) => return file.get().target.clone(),
                Entry::Vacant(place) if has_room => {
                    let target = self.make(part, options).map(Arc::new);
                    let divided = place.insert(Divided {
                        target,
                        parts_left: part.parts,
                    });
                    return divided.target.clone();
                }
                Entry::Vacant(_) => {}
            }
            // Whoever announces many files is not waited for as often.
            session.is_stuck |= Instant::now() >= deadline;
            if session.is_stuck || options.limits.stop.load(Ordering::Acquire) {
                return Err("too many files of its transfer are not complete".into());
            }
            let waited = self.is_complete.wait_timeout(sessions, TICK);
            sessions = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A part of a divided file has come to its end, good or bad. With the last one the file is closed.
    pub(super) fn part_is_over(&self, id: u64, session: [u8; 16]) {
        let mut sessions = self.sessions();
        let Some(session) = sessions.get_mut(&session) else {
            return;
        };
        if let Entry::Occupied(mut file) = session.divided.entry(id) {
            file.get_mut().parts_left -= 1;
            if file.get().parts_left == 0 {
                file.remove();
                session.is_stuck = false;
                self.is_complete.notify_all();
            }
        }
    }

    /// What there is of a file from before.
    ///
    /// # Errors
    /// If somebody asks to stop.
    pub(super) fn present(&self, target: &Target, stop: &AtomicBool) -> Result<Partial> {
        let Some(file) = target.file() else {
            return Ok(Partial::default());
        };
        let _one_at_a_time = loop {
            match self.hashing.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
                Err(TryLockError::WouldBlock) if stop.load(Ordering::Acquire) => {
                    return Err(Error::Interrupted);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(TICK),
            }
        };
        let len = file.metadata().map(|metadata| metadata.len());
        let there = len
            .map_err(Error::system("ask for a file's size"))
            .and_then(|len| Hashing::new(file, stop)?.of_start(len));
        match there {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // What cannot be read is not there.
            there => Ok(there.unwrap_or_default()),
        }
    }

    fn make(&self, part: &Part<'_>, options: &Options) -> Outcome<Target> {
        let place = match &self.directory {
            Some(directory) => Some(Place::make(directory, part, options)?),
            None => None,
        };
        Ok(Target {
            place,
            parts: part.parts,
            state: Mutex::new(State {
                parts_left: part.parts,
                spoiled: None,
                is_published: false,
                in_order: 0,
                is_in_order: true,
                allocated: 0,
            }),
        })
    }
}

impl State {
    /// Whether the file is so long without being cut or stretched.
    fn ends_at(&self, size: u64) -> bool {
        self.is_in_order && self.in_order == size && self.allocated == 0
    }
}

impl Target {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, if it is not thrown away.
    pub(super) fn file(&self) -> Option<&File> {
        self.place.as_ref().map(Place::file)
    }

    /// Whether it comes in parts, over several connections.
    pub(super) fn has_parts(&self) -> bool {
        self.parts > 1
    }

    /// It will not be complete.
    pub(super) fn spoil(&self, reason: &str) {
        self.state()
            .spoiled
            .get_or_insert_with(|| reason.to_owned());
    }

    /// Why it will not be complete.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.state().spoiled.clone()
    }

    /// Keeps the first `len` bytes of what is there.
    pub(super) fn keep_only(&self, len: u64) -> Outcome<()> {
        if let Some(file) = self.file() {
            file.set_len(len).map_err(|error| error.to_string())?;
        }
        self.state().in_order = len;
        Ok(())
    }

    /// Bytes were written.
    pub(super) fn wrote(&self, offset: u64, len: u64) {
        let mut state = self.state();
        state.is_in_order &= offset >= state.in_order;
        state.in_order = offset + len;
    }

    /// Writes bytes where they go.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if let Some(file) = self.file() {
            write_at(file, bytes, offset)?;
        }
        Ok(())
    }

    /// Makes the file at least `end` bytes long, with room on the device from `start`, so that a
    /// mapping of it can be written to.
    pub(super) fn grow(&self, start: u64, end: u64) -> Outcome<()> {
        let Some(file) = self.file() else {
            return Ok(());
        };
        let mut state = self.state();
        if start < state.allocated && end <= state.allocated {
            return Ok(());
        }
        let step = end.next_power_of_two().clamp(LEAST_GROWTH, MOST_GROWTH);
        let grown = end.next_multiple_of(step);
        match allocate_range(file, start, grown - start) {
            Ok(()) => {}
            // Zeros that are written make sure of the room as well.
            Err(error) if error.is_not_supported() => {
                let zeros = vec![0; (grown - start) as usize];
                write_at(file, &zeros, start).map_err(|error| error.to_string())?;
            }
            Err(error) => return Err(error.to_string()),
        }
        state.allocated = grown;
        Ok(())
    }

    /// How much of it stays behind for the next attempt; `None` if nothing does.
    pub(super) fn kept(&self) -> Option<u64> {
        let state = self.state();
        // The place is asked last, since it looks through a directory for that.
        let is_kept = !state.is_published
            && !self.has_parts()
            && state.spoiled.is_none()
            && state.is_in_order
            && state.in_order > 0
            && self.place.as_ref().is_some_and(Place::can_be_kept);
        is_kept.then_some(state.in_order)
    }

    /// A part of it is complete and verified; with the last one it gets its name. Tells whether this
    /// was the last.
    pub(super) fn complete_part(&self, size: u64, options: &Options) -> Outcome<bool> {
        let mut state = self.state();
        if let Some(reason) = &state.spoiled {
            return Err(reason.clone());
        }
        state.parts_left = state.parts_left.saturating_sub(1);
        if state.parts_left > 0 {
            return Ok(false);
        }
        if let Some(place) = &self.place {
            if !state.ends_at(size) {
                place.cut(size)?;
            }
            place.publish(options)?;
        }
        state.is_published = true;
        Ok(true)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let kept = self.kept();
        let is_published = self.state().is_published;
        let Some(place) = self.place.as_ref().filter(|_| !is_published) else {
            return;
        };
        let is_cut = kept.is_some_and(|kept| place.file().set_len(kept).is_ok());
        if !is_cut {
            place.give_up();
        }
    }
}
