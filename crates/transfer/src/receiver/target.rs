//! Files while they arrive, each with one file on disk, over one connection or several.

use super::destination::{Complete, Destination};
use super::new_file::{NewFile, taken};
use super::{Failure, Options, entry};
use crate::error::{Error, Result};
use crate::protocol::{Kind, Part, Partial};
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
use std::time::Duration;

/// A mapped file grows in steps of its own size within these bounds: few steps, but not much more
/// space than arrives.
const LEAST_GROWTH: u64 = 64 << 10;
const MOST_GROWTH: u64 = 8 << 20;
/// Interval at which waiting threads check the stop flag.
const TICK: Duration = Duration::from_millis(20);

/// Maximum number of incomplete divided files per transfer. Connections that are ahead wait for the
/// others.
const MOST_DIVIDED: usize = 32;

/// A result, or the reason why the file is not kept.
type Outcome<T> = std::result::Result<T, Failure>;

/// All arriving files, shared by the connections of a transfer.
pub(super) struct Shelf {
    destination: Option<Arc<Destination>>,
    sessions: Mutex<HashMap<[u8; 16], Session>>,
    /// Notified when a divided file is closed.
    is_closed: Condvar,
    /// Held while hashing, so that only one file is hashed at a time.
    hashing: Mutex<()>,
    /// Number of measured files so far.
    pub(super) measured: AtomicU64,
}

/// A transfer over several connections.
#[derive(Default)]
struct Session {
    connections: usize,
    /// True if one of its connections was lost, with its parts of files.
    is_lost: bool,
    /// Number of divided files that were closed so far.
    closed: u64,
    /// Number of connections that have waited for a divided file to be closed since the last one was.
    waiting: usize,
    divided: HashMap<u64, Divided>,
}

/// A file that arrives in parts, over several connections.
struct Divided {
    target: Outcome<Arc<Target>>,
    /// Number of parts that have not ended yet, successfully or not.
    parts_left: u16,
}

/// A file while it arrives.
pub(super) struct Target {
    /// `None` if the file is discarded, or must not be replaced.
    new_file: Option<NewFile>,
    /// The file of an earlier attempt that may be the same.
    complete: Option<Complete>,
    parts: u16,
    kind: Kind,
    state: Mutex<State>,
}

struct State {
    parts_left: u16,
    /// Set if the file will not be complete.
    spoiled: Option<Spoiled>,
    is_published: bool,
    /// True if the sender's file is the same as the complete one.
    is_same: bool,
    /// Number of bytes from the start that arrived in order. A file in parts counts those that follow
    /// each other, whichever connection they come over.
    in_order: u64,
    is_in_order: bool,
    /// End of the range allocated for a mapping.
    allocated: u64,
}

/// The end of a file that will not be complete.
struct Spoiled {
    reason: Failure,
    /// True if nothing of the file may be kept for resuming.
    is_worthless: bool,
}

impl Shelf {
    pub(super) fn new(directory: Option<Directory>) -> Self {
        Self {
            destination: directory.map(|directory| Arc::new(Destination::new(directory))),
            sessions: Mutex::default(),
            is_closed: Condvar::new(),
            hashing: Mutex::new(()),
            measured: AtomicU64::new(0),
        }
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, name: &str) {
        if let Some(destination) = &self.destination {
            // If removal fails now, the directory takes the file with it later.
            let _ = destination.directory.remove(name.as_ref());
        }
    }

    /// Free space for a file in bytes, if the system reports it.
    pub(super) fn room(&self) -> Option<u64> {
        self.destination.as_ref()?.directory.free_bytes()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<[u8; 16], Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a new connection of a transfer.
    pub(super) fn enter(&self, session: [u8; 16]) {
        self.sessions().entry(session).or_default().connections += 1;
    }

    /// Counts the end of a connection of a transfer.
    pub(super) fn leave(&self, id: [u8; 16], is_lost: bool) {
        let mut sessions = self.sessions();
        let Some(session) = sessions.get_mut(&id) else {
            return;
        };
        session.connections -= 1;
        session.is_lost |= is_lost;
        if is_lost || session.connections == 0 {
            let files = session.divided.drain();
            for target in files.filter_map(|(_, file)| file.target.ok()) {
                if is_lost {
                    target.abandon("another connection of its transfer was lost");
                } else {
                    target.spoil("its transfer ended without all of its parts");
                }
            }
        }
        if session.connections == 0 {
            sessions.remove(&id);
        }
    }

    /// The target of this file, or the reason for refusing it.
    pub(super) fn target(
        &self,
        part: &Part,
        id: [u8; 16],
        options: &Options,
    ) -> Outcome<Arc<Target>> {
        if part.parts == 1 {
            return self.make(part, options).map(Arc::new);
        }
        let mut sessions = self.sessions();
        let mut waits_since = None;
        loop {
            let session = sessions.entry(id).or_default();
            if session.is_lost {
                return Err("another connection of its transfer was lost".into());
            }
            let has_room = session.divided.len() < MOST_DIVIDED;
            match session.divided.entry(part.id) {
                Entry::Occupied(file) => return file.get().target.clone(),
                Entry::Vacant(entry) if has_room => {
                    let target = self.make(part, options).map(Arc::new);
                    let divided = entry.insert(Divided {
                        target,
                        parts_left: part.parts,
                    });
                    return divided.target.clone();
                }
                Entry::Vacant(_) => {}
            }
            // The others may take as long as they need, but one of them must be at work.
            if waits_since != Some(session.closed) {
                waits_since = Some(session.closed);
                session.waiting += 1;
            }
            let is_stuck = session.waiting >= session.connections;
            if is_stuck || options.limits.stop.load(Ordering::Acquire) {
                session.waiting -= 1;
                return Err("its transfer has too many incomplete files".into());
            }
            let waited = self.is_closed.wait_timeout(sessions, TICK);
            sessions = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Lets go of a divided file that failed: its room is free before the sender hears of it.
    pub(super) fn release(&self, id: u64, session: [u8; 16], reason: &Failure) {
        if let Some(session) = self.sessions().get_mut(&session)
            && let Some(file) = session.divided.get_mut(&id)
        {
            file.target = Err(reason.clone());
        }
    }

    /// Counts the end of a part of a divided file, successful or not. The last part closes the
    /// file.
    pub(super) fn part_is_over(&self, id: u64, session: [u8; 16]) {
        let mut sessions = self.sessions();
        let Some(session) = sessions.get_mut(&session) else {
            return;
        };
        if let Entry::Occupied(mut file) = session.divided.entry(id) {
            file.get_mut().parts_left -= 1;
            if file.get().parts_left == 0 {
                file.remove();
                session.closed += 1;
                session.waiting = 0;
                self.is_closed.notify_all();
            }
        }
    }

    /// Describes the existing bytes of a file from an earlier attempt.
    pub(super) fn present(&self, target: &Target, stop: &AtomicBool) -> Result<Partial> {
        let complete = target.complete.as_ref();
        let Some(file) = complete.map(|complete| &complete.file).or(target.file()) else {
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
            // Unreadable bytes count as missing.
            there => Ok(Partial {
                is_complete: complete.is_some(),
                ..there.unwrap_or_default()
            }),
        }
    }

    fn make(&self, part: &Part, options: &Options) -> Outcome<Target> {
        let destination = self.destination.as_ref();
        let complete = destination.and_then(|it| it.complete(part));
        let new_file = match destination {
            Some(destination) if part.kind != Kind::File => {
                entry::make(destination, part, options)?;
                None
            }
            Some(destination) if complete.is_none() || options.force => {
                Some(NewFile::make(destination, part, options)?)
            }
            _ => None,
        };
        // The beginning of a replacement is of more use.
        let has_partial = || new_file.as_ref().is_some_and(NewFile::has_bytes);
        Ok(Target {
            complete: complete.filter(|_| !has_partial()),
            new_file,
            parts: part.parts,
            kind: part.kind.clone(),
            state: Mutex::new(State {
                parts_left: part.parts,
                spoiled: None,
                is_published: false,
                is_same: false,
                in_order: 0,
                is_in_order: true,
                allocated: 0,
            }),
        })
    }
}

impl Target {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, unless it is discarded.
    pub(super) fn file(&self) -> Option<&File> {
        self.new_file.as_ref().map(NewFile::file)
    }

    /// True if the file arrives in parts, over several connections.
    pub(super) fn has_parts(&self) -> bool {
        self.parts > 1
    }

    /// Marks the file as one that will not be complete, and of which nothing is kept.
    pub(super) fn spoil(&self, reason: impl Into<Failure>) {
        self.end(reason, true);
    }

    /// Marks the file as one that will not be complete. Its beginning is kept for resuming.
    pub(super) fn abandon(&self, reason: impl Into<Failure>) {
        self.end(reason, false);
    }

    fn end(&self, reason: impl Into<Failure>, is_worthless: bool) {
        let mut state = self.state();
        let spoiled = state.spoiled.get_or_insert_with(|| Spoiled {
            reason: reason.into(),
            is_worthless,
        });
        spoiled.is_worthless |= is_worthless;
    }

    /// The reason why the file will not be complete.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.state()
            .spoiled
            .as_ref()
            .map(|spoiled| spoiled.reason.clone())
    }

    /// Truncates the existing file to `len` bytes. A complete file is the same if all of it is kept.
    pub(super) fn keep_only(&self, len: u64) -> Outcome<()> {
        if let Some(complete) = &self.complete {
            if complete.len == len {
                self.state().is_same = true;
                return Ok(());
            }
            if self.new_file.is_none() {
                return Err(taken());
            }
        }
        if let Some(file) = self.file() {
            file.set_len(len)?;
        }
        self.state().in_order = len;
        Ok(())
    }

    /// Records that bytes were written.
    pub(super) fn wrote(&self, offset: u64, len: u64) {
        let mut state = self.state();
        if self.has_parts() {
            if offset == state.in_order {
                state.in_order += len;
            }
            return;
        }
        state.is_in_order &= offset >= state.in_order;
        state.in_order = offset + len;
    }

    /// Writes bytes at their offset.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if let Some(file) = self.file() {
            write_at(file, bytes, offset)?;
        }
        Ok(())
    }

    /// Grows the file to at least `end` bytes and allocates space from `offset`, so that writing to a
    /// mapping cannot fail.
    pub(super) fn grow(&self, offset: u64, end: u64) -> Outcome<()> {
        let Some(file) = self.file() else {
            return Ok(());
        };
        let mut state = self.state();
        // Each part has its own range, which `allocated` does not count.
        if !self.has_parts() && offset < state.allocated && end <= state.allocated {
            return Ok(());
        }
        let step = end.next_power_of_two().clamp(LEAST_GROWTH, MOST_GROWTH);
        let grown = if self.has_parts() {
            end
        } else {
            end.next_multiple_of(step)
        };
        match allocate_range(file, offset, grown - offset) {
            Ok(()) => {}
            // Writing zeros allocates the space as well.
            Err(error) if error.is_not_supported() => {
                let zeros = vec![0; (grown - offset) as usize];
                write_at(file, &zeros, offset)?;
            }
            Err(error) => return Err(error.into()),
        }
        state.allocated = state.allocated.max(grown);
        Ok(())
    }

    /// Number of bytes that stay for the next attempt; `None` if the file is deleted.
    pub(super) fn kept(&self) -> Option<u64> {
        let state = self.state();
        // The file comes last because its check lists a directory.
        let is_kept = !state.is_published
            && state
                .spoiled
                .as_ref()
                .is_none_or(|spoiled| !spoiled.is_worthless)
            && state.is_in_order
            && state.in_order > 0
            && self.new_file.as_ref().is_some_and(NewFile::can_be_kept);
        is_kept.then_some(state.in_order)
    }

    /// Records that a part is complete and verified; the last one publishes the file. Returns true
    /// if this was the last part of a file whose end is reported, which that of a directory is not.
    pub(super) fn complete_part(&self, size: u64, options: &Options) -> Outcome<bool> {
        let mut state = self.state();
        if let Some(Spoiled { reason, .. }) = &state.spoiled {
            return Err(reason.clone());
        }
        if self.kind != Kind::File && (size > 0 || state.in_order > 0) {
            return Err("it has contents, and is no file".into());
        }
        state.parts_left = state.parts_left.saturating_sub(1);
        if state.parts_left > 0 {
            return Ok(false);
        }
        if state.is_same {
            if self
                .complete
                .as_ref()
                .is_none_or(|complete| complete.len != size)
            {
                return Err(taken());
            }
            if let Some(new_file) = &self.new_file {
                new_file.give_up();
            }
        } else if let Some(new_file) = &self.new_file {
            let ends_there = state.is_in_order && state.in_order == size && state.allocated == 0;
            if !ends_there {
                new_file.cut(size)?;
            }
            new_file.publish(options)?;
        }
        state.is_published = true;
        Ok(!matches!(
            self.kind,
            Kind::Directory | Kind::CompleteDirectory
        ))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let kept = self.kept();
        let is_published = self.state().is_published;
        let Some(new_file) = self.new_file.as_ref().filter(|_| !is_published) else {
            return;
        };
        let is_cut = kept.is_some_and(|kept| new_file.file().set_len(kept).is_ok());
        if !is_cut {
            new_file.give_up();
        }
    }
}
