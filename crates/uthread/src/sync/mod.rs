//! Locks, conditions and other ways for threads to wait for each other.
//!
//! An object belongs to the runtime whose threads use it first, for as long as that runs; in a
//! runtime of one worker its operations then need no locked instruction. Use by a thread of another
//! runtime, or outside of one, is a panic.

mod barrier;
mod channel;
mod condvar;
mod guard;
mod lock;
mod protocol;
mod raw_lock;
mod semaphore;
mod spin_lock;

pub use barrier::{Barrier, BarrierWaitResult};
pub use channel::{Receiver, RecvError, SendError, Sender, TryRecvError, bounded, unbounded};
pub use condvar::Condvar;
pub use guard::{LockGuard, LockResult, TryLockResult};
pub use lock::Lock;
pub use protocol::Protocol;
pub(crate) use protocol::reprioritize;
pub(crate) use raw_lock::RawLock;
pub use semaphore::Semaphore;
pub use spin_lock::{SpinGuard, SpinLock};
