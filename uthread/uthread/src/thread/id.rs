//! The numbers of threads.

use core::fmt;

/// The number of a thread, unique within a run.
///
/// ```
/// uthread::run(|| {
///     let thread = uthread::spawn(|| uthread::current().id());
///     let id: uthread::ThreadId = thread.thread().id();
///     assert_eq!(thread.join().unwrap(), id);
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(u64);

impl ThreadId {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, from 1 on; each thread of a runtime has its own.
    ///
    /// ```
    /// assert_eq!(uthread::run(|| uthread::current().id().number()), 1);
    /// ```
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
