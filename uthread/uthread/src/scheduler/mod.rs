//! The scheduler: run queues and rules as pure data structures, without a clock, a switch or a
//! system call, so that tests can use virtual time. The worker carries out its decisions.

mod clock;
mod lock_count;
mod policy;
mod priority;
mod queue;
mod ready;
mod waiters;

pub(crate) use clock::{Clock, Monotonic, Virtual};
pub(crate) use lock_count::LockCount;
pub(crate) use policy::{Policy, Scheduler, Verdict};
pub use priority::Priority;
pub(crate) use priority::{LEVELS, Rank, Tally};
pub(crate) use queue::{Linked, Links, Queue};
pub(crate) use ready::{Ready, Schedulable};
pub(crate) use waiters::{Waiters, Waits};

#[cfg(test)]
mod tests;
