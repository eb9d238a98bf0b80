//! Taking and freeing a lock that nobody else wants.

use super::protocol::Protocol;
use super::raw_lock::{RawLock, address};
use crate::worker::Section;

impl RawLock {
    /// Takes the lock if it is free and belongs to this runtime, which has one worker. Neither panics nor switches: the
    /// caller leaves the section.
    #[expect(clippy::inline_always, reason = "a call would cost as much as it does")]
    #[inline(always)]
    fn take_alone(&self) -> Option<Section> {
        let (section, worker) = Section::begin_if(|worker| self.quick.is_of_lone(worker))?;
        let me = worker.current();
        if self.owner.try_own_alone(address(me)) {
            me.locks.take();
            return Some(section);
        }
        section.leave_without_tick();
        None
    }

    /// Frees the lock if the running thread owns it, nobody waits, and the runtime has one worker. As
    /// [`RawLock::take_alone`].
    #[expect(clippy::inline_always, reason = "a call would cost as much as it does")]
    #[inline(always)]
    fn free_alone(&self) -> Option<Section> {
        let (section, worker) = Section::begin_if(|worker| self.quick.is_of_lone(worker))?;
        let me = worker.current();
        if self.owner.try_free_alone(address(me)) {
            me.locks.release();
            return Some(section);
        }
        section.leave_without_tick();
        None
    }

    /// The same with several workers, and before threads that wait.
    #[inline]
    fn take_among_others(&self) -> Option<Section> {
        let (section, worker) = Section::begin()?;
        let is_simple = !matches!(self.protocol, Protocol::Ceiling(_));
        if is_simple
            && self.home.is_known(&worker.shared)
            && self.own_if_free(worker, worker.current())
        {
            return Some(section);
        }
        section.leave_without_tick();
        None
    }

    /// The same with several workers, and if a thread that waits is about to come.
    #[inline]
    fn free_among_others(&self) -> Option<Section> {
        let (section, worker) = Section::begin()?;
        let me = worker.current();
        let is_simple = !matches!(self.protocol, Protocol::Ceiling(_));
        if is_simple
            && (self.owner.try_free(worker.several, address(me)) || self.let_heir_come(worker, me))
        {
            me.locks.release();
            return Some(section);
        }
        section.leave_without_tick();
        None
    }

    /// Takes the lock if it is free and belongs to this runtime. Neither panics nor switches, also not for a deferred tick.
    #[inline]
    pub(super) fn take_quickly(&self) -> bool {
        let taken = self.take_alone().map(Section::leave_without_tick);
        taken.is_some() || self.take_elsewhere()
    }

    #[inline(never)]
    fn take_elsewhere(&self) -> bool {
        let taken = self.take_among_others();
        taken.map(Section::leave_without_tick).is_some()
    }

    /// Frees the lock if the running thread owns it and need not hand it over. Otherwise as [`RawLock::take_quickly`].
    #[inline]
    pub(super) fn free_quickly(&self) -> bool {
        let freed = self.free_alone().map(Section::leave_without_tick);
        freed.is_some() || self.free_elsewhere()
    }

    #[inline(never)]
    fn free_elsewhere(&self) -> bool {
        let freed = self.free_among_others();
        freed.map(Section::leave_without_tick).is_some()
    }

    #[inline]
    pub(super) fn lock(&self) {
        match self.take_alone() {
            Some(section) => section.leave(),
            None => self.lock_slowly(),
        }
    }

    #[inline(never)]
    fn lock_slowly(&self) {
        match self.take_among_others() {
            Some(section) => section.leave(),
            None => {
                self.lock_within("Lock::lock", None);
            }
        }
    }

    #[inline]
    pub(super) fn unlock(&self) {
        match self.free_alone() {
            Some(section) => section.leave(),
            None => self.unlock_slowly(),
        }
    }

    #[inline(never)]
    fn unlock_slowly(&self) {
        match self.free_among_others() {
            Some(section) => section.leave(),
            None => self.unlock_within(),
        }
    }
}
