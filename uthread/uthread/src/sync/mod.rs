//! Locks, condition variables and other synchronization objects.
//!
//! An object belongs to the runtime whose threads use it first, until that runtime ends. In a
//! runtime with one worker, its operations then need no locked instruction. Use by a thread of
//! another runtime, or outside a runtime, is a panic.

mod barging;
mod barrier;
mod channel;
mod condvar;
mod guard;
mod homed;
mod inheritance;
mod lock;
mod mapped;
mod once;
mod owner;
mod protocol;
mod quick;
mod raw_lock;
mod raw_rw_lock;
mod recursive_lock;
mod rw_lock;
mod semaphore;
mod spin_lock;

pub use barrier::{Barrier, BarrierWaitResult};
pub(crate) use channel::{End, Notice};
pub use channel::{
    Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError,
    TrySendError, bounded, unbounded,
};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use guard::LockGuard;
pub(crate) use inheritance::reprioritize;
pub use lock::{Lock, LockResult, TryLockResult};
pub use mapped::MappedLockGuard;
pub use once::Once;
pub use protocol::Protocol;
pub(crate) use raw_lock::RawLock;
pub use recursive_lock::{RecursiveLock, RecursiveLockGuard};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::Semaphore;
pub use spin_lock::{SpinGuard, SpinLock};
