//! Requests that wait for their answers.

use core::cell::Cell;

use super::system::{InFlight, Request};
use crate::thread::Control;

/// A request in flight, on the stack of the thread that waits for it.
pub(crate) struct Operation {
    pub(super) thread: *const Control,
    pub(super) request: Request,
    pub(super) result: Cell<i32>,
    /// The kernel's part of it.
    #[cfg_attr(
        target_os = "linux",
        expect(dead_code, reason = "the ring keeps nothing")
    )]
    pub(super) kernel: InFlight,
}
