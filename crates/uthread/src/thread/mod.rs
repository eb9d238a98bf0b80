//! Threads: starting, joining, and operations of a thread on itself.

mod builder;
mod control;
mod current;
mod entry;
mod handle;
mod local;
mod unwind;

pub use builder::{Builder, SpawnError, spawn};
pub use control::Wait;
pub(crate) use control::{Control, State};
pub use current::{Exited, current, exit, is_user_thread, suspend, yield_now};
pub(crate) use entry::{finish, reap_orphans, start_main};
pub use handle::{JoinHandle, Thread, ThreadId};
pub use local::LocalKey;
pub use unwind::catch_unwind;
