//! Priorities, and the effective priority of a thread as the maximum of its three sources.

use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

/// The number of priorities.
pub(crate) const LEVELS: usize = 3;

/// A thread's priority. A ready thread of higher priority always runs before one of lower priority.
///
/// ```
/// use uthread::Priority;
/// assert!(Priority::Red > Priority::Orange && Priority::Orange > Priority::Green);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// The lowest: long computations end up here.
    Green = 0,
    /// The middle, and the default.
    #[default]
    Orange = 1,
    /// The highest.
    Red = 2,
}

impl Priority {
    pub(crate) const ALL: [Self; LEVELS] = [Self::Green, Self::Orange, Self::Red];

    /// The next lower priority; GREEN stays.
    #[inline]
    pub(crate) const fn lower(self) -> Self {
        match self {
            Self::Red => Self::Orange,
            Self::Orange | Self::Green => Self::Green,
        }
    }

    /// The priority of a level, without a table, which would have to be loaded at each switch.
    #[inline]
    pub(super) const fn from_level(level: u8) -> Self {
        match level {
            0 => Self::Green,
            1 => Self::Orange,
            _ => Self::Red,
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Red => "RED",
            Self::Orange => "ORANGE",
            Self::Green => "GREEN",
        })
    }
}

/// A count for each priority; the highest priority with a nonzero count applies.
#[derive(Debug, Default)]
pub(crate) struct Tally([Cell<u32>; LEVELS]);

impl Tally {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self([const { Cell::new(0) }; LEVELS])
    }

    #[inline]
    pub(crate) fn add(&self, priority: Priority) {
        let count = &self.0[priority as usize];
        count.set(count.get() + 1);
    }

    #[inline]
    pub(crate) fn remove(&self, priority: Priority) {
        let count = &self.0[priority as usize];
        debug_assert!(count.get() > 0, "nothing was counted at {priority}");
        count.set(count.get() - 1);
    }

    /// Removes all of `other` from this tally (the inverse of `add`).
    #[inline]
    pub(crate) fn remove_all(&self, other: &Self) {
        for (mine, theirs) in self.0.iter().zip(&other.0) {
            mine.set(mine.get() - theirs.get());
        }
    }

    #[inline]
    pub(crate) fn add_all(&self, other: &Self) {
        for (mine, theirs) in self.0.iter().zip(&other.0) {
            mine.set(mine.get() + theirs.get());
        }
    }

    /// Removes all of `other` from this tally, as far as it is there.
    pub(crate) fn take_back(&self, other: &Self) {
        for (mine, theirs) in self.0.iter().zip(&other.0) {
            mine.set(mine.get().saturating_sub(theirs.get()));
        }
    }

    /// The highest priority with a nonzero count, or GREEN.
    #[inline]
    pub(crate) fn highest(&self) -> Priority {
        let highest = Priority::ALL
            .into_iter()
            .rev()
            .find(|p| self.0[*p as usize].get() > 0);
        highest.unwrap_or(Priority::Green)
    }
}

/// The sources of a thread's priority. The effective priority is always computed from all of them.
/// It is never saved and restored, so locks may be released in any order.
#[derive(Debug)]
pub(crate) struct Rank {
    assigned: AtomicU8,
    base: AtomicU8,
    ceiling: AtomicU8,
    inherited: AtomicU8,
}

impl Rank {
    pub(crate) const fn new(assigned: Priority) -> Self {
        Self {
            assigned: AtomicU8::new(assigned as u8),
            base: AtomicU8::new(assigned as u8),
            ceiling: AtomicU8::new(0),
            inherited: AtomicU8::new(0),
        }
    }

    /// The priority that the program gave.
    #[inline]
    pub(crate) fn assigned(&self) -> Priority {
        Priority::from_level(self.assigned.load(Ordering::Relaxed))
    }

    /// The program's priority, lowered by the slices used up.
    #[inline]
    pub(crate) fn base(&self) -> Priority {
        Priority::from_level(self.base.load(Ordering::Relaxed))
    }

    /// True if used-up slices have lowered it.
    #[inline]
    pub(crate) fn has_fallen(&self) -> bool {
        self.base.load(Ordering::Relaxed) != self.assigned.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn effective(&self) -> Priority {
        let base = self.base.load(Ordering::Relaxed);
        let ceiling = self.ceiling.load(Ordering::Relaxed);
        Priority::from_level(
            base.max(ceiling)
                .max(self.inherited.load(Ordering::Relaxed)),
        )
    }

    pub(crate) fn assign(&self, priority: Priority) {
        self.assigned.store(priority as u8, Ordering::Relaxed);
        self.base.store(priority as u8, Ordering::Relaxed);
    }

    pub(crate) fn set_base(&self, priority: Priority) {
        self.base.store(priority as u8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn set_ceiling(&self, priority: Priority) {
        self.ceiling.store(priority as u8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn set_inherited(&self, priority: Priority) {
        self.inherited.store(priority as u8, Ordering::Relaxed);
    }
}
