//! Threads: starting, joining, and operations of a thread on itself.

mod builder;
mod control;
mod current;
mod entry;
mod gone;
mod handle;
mod id;
mod local;
mod locals;
mod orphan;
mod parked;
mod release;
mod unwind;
mod wait;
mod waiting;

pub(crate) use builder::start_main;
pub use builder::{Builder, SpawnError, spawn};
#[cfg(target_os = "linux")]
pub(crate) use control::Places;
pub(crate) use control::{Control, DETACHED, FINISHED, State};
pub use current::{
    Exited, current, current_key, exit, is_user_thread, may_wait, suspend, suspend_timeout,
    take_cancel, yield_now, yield_quickly,
};
pub use gone::Gone;
pub use handle::{JoinHandle, Thread};
pub use id::ThreadId;
pub use local::{LocalKey, own_value, set_own_value};
#[cfg(target_os = "linux")]
pub(crate) use orphan::leave_orphans_to_parent;
pub(crate) use orphan::{add_orphan, reap_orphans};
pub(crate) use parked::Parked;
pub use unwind::catch_unwind;
pub use wait::Wait;
pub use waiting::Cancelled;
pub(crate) use waiting::{Waiting, Woken, unwind_cancelled};

#[cfg(test)]
mod tests;
