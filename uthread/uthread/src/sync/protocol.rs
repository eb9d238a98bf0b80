//! Protocols of a lock against priority inversion.

use crate::scheduler::Priority;

/// A lock's effect on the priority of its owner.
///
/// Both remedies are from Sha, Rajkumar and Lehoczky, *Priority Inheritance Protocols* (IEEE
/// Transactions on Computers 39, 1990). The ceiling is the immediate priority ceiling,
/// `PTHREAD_PRIO_PROTECT` in POSIX.
///
/// ```
/// use uthread::{Lock, Protocol};
///
/// let lock = Lock::with_protocol(0, Protocol::Inheritance);
/// assert_eq!(lock.protocol(), Protocol::Inheritance);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// No protocol: a thread of middle priority can delay a thread of high priority that waits for
    /// a lock held by a thread of low priority.
    #[default]
    None,
    /// The owner has at least the priority of every thread that waits for it, also through a chain
    /// of locks.
    Inheritance,
    /// The owner has at least this priority. Locking by a thread of higher priority is a panic.
    Ceiling(Priority),
}
