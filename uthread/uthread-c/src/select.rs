//! Waiting for the first of several channels and descriptors.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::os::fd::BorrowedFd;
use std::slice;

use uthread::Select;

use crate::call::caught;
use crate::error::{Errno, limit};
use crate::synchronization::Channel;
use crate::transfer::{borrow, errno, interest_of};

/// `uthread_choice_t`.
#[repr(C)]
pub struct Choice {
    pub(crate) receive: *const Channel,
    pub(crate) send: *const Channel,
    pub(crate) fd: c_int,
    pub(crate) events: c_int,
}

/// # Safety
/// The pointer must be to this number of choices, with channels that live and descriptors that are open until this
/// returns.
unsafe fn select(choices: *const Choice, count: usize, limit: Option<Duration>) -> c_int {
    /// Those that are ready take turns over all calls.
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    caught(|| {
        if choices.is_null() || count == 0 || c_int::try_from(count).is_err() {
            return Err(libc::EINVAL);
        }
        // SAFETY: the caller's contract.
        let choices = unsafe { slice::from_raw_parts(choices, count) };
        // SAFETY: as above.
        let descriptor = |choice: &Choice| unsafe { borrow(choice.fd) };
        // Those of channels are not used.
        let descriptors: Vec<Result<BorrowedFd<'_>, Errno>> =
            choices.iter().map(descriptor).collect();
        let mut select = Select::new();
        for (choice, descriptor) in choices.iter().zip(&descriptors) {
            // SAFETY: as above.
            let (receive, send) = unsafe { (choice.receive.as_ref(), choice.send.as_ref()) };
            match (receive, send, descriptor) {
                (Some(channel), None, _) => select.recv(&channel.receiver),
                (None, Some(channel), _) => select.send(&channel.sender),
                (None, None, Ok(fd)) => select.poll(fd, interest_of(choice.events)?),
                (None, None, Err(errno)) => return Err(*errno),
                (Some(_), Some(_), _) => return Err(libc::EINVAL),
            };
        }
        select.begin_at(FIRST.fetch_add(1, Ordering::Relaxed));
        let found = match limit {
            None => select.wait(),
            Some(limit) => select.wait_timeout(limit),
        };
        c_int::try_from(found.map_err(errno)?).map_err(|_| libc::EINVAL)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_select(choices: *const Choice, count: usize) -> c_int {
    // SAFETY: as the header asks.
    unsafe { select(choices, count, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_select_timed(
    choices: *const Choice,
    count: usize,
    microseconds: c_uint,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { select(choices, count, Some(limit(microseconds))) }
}
