//! The part of a worker that the tick handler reads.

use core::cell::Cell;
use core::sync::atomic::AtomicU64;

use crate::thread::Control;

/// State that the tick handler reads before it uses any stack.
#[repr(C)]
pub(crate) struct Running {
    pub(crate) current: Cell<*const Control>,
    /// Counts ticks that found too little stack for the handler.
    pub(crate) deferred: *const AtomicU64,
}
