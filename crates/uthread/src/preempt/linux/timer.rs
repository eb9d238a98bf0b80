//! The timer of one worker.

use core::ffi::c_int;
use core::mem;
use core::ptr;
use std::io;

use crate::worker::Running;

/// The timer signal. Its default action is to ignore it, so a late signal does no harm, and
/// debuggers pass it on.
pub(super) const TICK_SIGNAL: c_int = libc::SIGURG;

/// A POSIX timer whose signal goes to the kernel thread that created it (`SIGEV_THREAD_ID`,
/// `timer_create(2)`). `ITIMER_VIRTUAL` would tick no faster than the kernel's own clock.
#[derive(Debug)]
pub(crate) struct Ticker {
    timer: libc::timer_t,
    slice_ns: u64,
}

// SAFETY: the kernel's timers belong to the process, and any thread may set them.
unsafe impl Send for Ticker {}
// SAFETY: as above.
unsafe impl Sync for Ticker {}

impl Ticker {
    /// A timer for the calling kernel thread, not armed.
    ///
    /// # Safety
    /// `running` must belong to this kernel thread, and stay in place while the timer lives.
    pub(crate) unsafe fn new(running: *const Running, slice_ns: u64) -> io::Result<Self> {
        let mut timer = ptr::null_mut();
        // SAFETY: plain data, for which zeros are valid; all pointers are to locals.
        let result = unsafe {
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = TICK_SIGNAL;
            event.sigev_value.sival_ptr = running.cast_mut().cast();
            event.sigev_notify_thread_id = libc::gettid();
            libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer)
        };
        if result == 0 {
            Ok(Self { timer, slice_ns })
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Ticks after each slice from now on.
    pub(crate) fn arm(&self) {
        self.arm_first(self.slice_ns);
    }

    /// Ticks after `first_ns` and then after each slice.
    pub(crate) fn arm_first(&self, first_ns: u64) {
        // A first interval of zero would disarm the timer.
        self.set(first_ns.max(1), self.slice_ns);
    }

    /// Ticks at once and then after each slice.
    pub(crate) fn tick_now(&self) {
        self.arm_first(1);
    }

    pub(crate) fn disarm(&self) {
        self.set(0, 0);
    }

    fn set(&self, first_ns: u64, every_ns: u64) {
        let spec = libc::itimerspec {
            it_value: timespec(first_ns),
            it_interval: timespec(every_ns),
        };
        // SAFETY: the timer is alive and `spec` is a local. Both values are normalized, so the call
        // cannot fail.
        unsafe { libc::timer_settime(self.timer, 0, &raw const spec, ptr::null_mut()) };
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The kernel delivers a pending tick before this call returns, at the latest.
        // SAFETY: `new` created it, and it is deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}

fn timespec(ns: u64) -> libc::timespec {
    const SECOND_NS: u64 = 1_000_000_000;
    libc::timespec {
        tv_sec: (ns / SECOND_NS).cast_signed(),
        tv_nsec: (ns % SECOND_NS).cast_signed(),
    }
}
