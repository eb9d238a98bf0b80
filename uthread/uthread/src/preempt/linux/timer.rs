//! The timer of one worker.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::io;

use crate::worker::Running;

/// The timer signal. Its default action is to ignore it, so a late signal does no harm, and
/// debuggers pass it on.
pub(super) const TICK_SIGNAL: c_int = libc::SIGURG;

/// A POSIX timer whose signal goes to the kernel thread that created it (`SIGEV_THREAD_ID`,
/// `timer_create(2)`). By default it counts the time that passes: timers of CPU time tick no faster than the kernel's own
/// clock.
///
/// The child of a fork has no timers: there it is made again when it is first set.
#[derive(Debug)]
pub(crate) struct Ticker {
    /// The kernel's timer, or [`UNMADE`].
    timer: AtomicPtr<c_void>,
    /// The kernel thread that gets the signals.
    thread: AtomicI32,
    running: *const Running,
    slice_ns: u64,
    /// It counts the CPU time of the kernel thread.
    cpu_time: bool,
}

// SAFETY: the kernel's timers belong to the process, and any thread may set them. Only the signal handler uses
// `running`.
unsafe impl Send for Ticker {}
// SAFETY: as above.
unsafe impl Sync for Ticker {}

/// No timer has this number.
const UNMADE: *mut c_void = ptr::without_provenance_mut(usize::MAX);

impl Ticker {
    /// A timer for the calling kernel thread, not armed.
    ///
    /// # Safety
    /// `running` must belong to this kernel thread, and stay in place while the timer lives.
    pub(crate) unsafe fn new(
        running: *const Running,
        slice_ns: u64,
        cpu_time: bool,
    ) -> io::Result<Self> {
        let ticker = Self {
            timer: AtomicPtr::new(UNMADE),
            // SAFETY: the call takes no pointers.
            thread: AtomicI32::new(unsafe { libc::gettid() }),
            running,
            slice_ns,
            cpu_time,
        };
        ticker.make()?;
        Ok(ticker)
    }

    /// The timer. Others may make it at the same time: one is kept.
    #[cold]
    fn make(&self) -> io::Result<libc::timer_t> {
        let mut timer = ptr::null_mut();
        let thread = self.thread.load(Ordering::Relaxed);
        let clock = if self.cpu_time {
            cpu_clock(thread)
        } else {
            libc::CLOCK_MONOTONIC
        };
        // SAFETY: plain data, for which zeros are valid; all pointers are to locals.
        let result = unsafe {
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = TICK_SIGNAL;
            event.sigev_value.sival_ptr = self.running.cast_mut().cast();
            event.sigev_notify_thread_id = thread;
            libc::timer_create(clock, &raw mut event, &raw mut timer)
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let order = Ordering::Relaxed;
        if let Err(kept) = self.timer.compare_exchange(UNMADE, timer, order, order) {
            // SAFETY: created above, and known to nobody else.
            unsafe { libc::timer_delete(timer) };
            return Ok(kept);
        }
        Ok(timer)
    }

    /// Leaves the timer to the parent, in the child of a fork that runs on this kernel thread.
    pub(crate) fn leave_to_parent(&self) {
        self.timer.store(UNMADE, Ordering::Relaxed);
        // SAFETY: the call takes no pointers.
        let thread = unsafe { libc::gettid() };
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// Removes the timer. Nobody may set it afterwards.
    pub(crate) fn remove(&self) {
        let timer = self.timer.swap(UNMADE, Ordering::Relaxed);
        if timer != UNMADE {
            // The kernel delivers a pending tick before this call returns, at the latest.
            // SAFETY: `make` created it in this process, and it is deleted once.
            unsafe { libc::timer_delete(timer) };
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
        if self.timer.load(Ordering::Relaxed) != UNMADE {
            self.set(0, 0);
        }
    }

    fn set(&self, first_ns: u64, every_ns: u64) {
        let spec = libc::itimerspec {
            it_value: timespec(first_ns),
            it_interval: timespec(every_ns),
        };
        let mut timer = self.timer.load(Ordering::Relaxed);
        if timer == UNMADE {
            // Without one there are no ticks, as in a cooperative runtime.
            let Ok(made) = self.make() else { return };
            timer = made;
        }
        // SAFETY: the timer is alive and `spec` is a local. Both values are normalized, so the call
        // cannot fail.
        unsafe { libc::timer_settime(timer, 0, &raw const spec, ptr::null_mut()) };
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The clock of a kernel thread's CPU time, as `pthread_getcpuclockid(3)` returns it: its number, the kind of clock (2),
/// and a mark that it is a thread (4).
fn cpu_clock(thread: libc::pid_t) -> libc::clockid_t {
    (!thread << 3) | 2 | 4
}

fn timespec(ns: u64) -> libc::timespec {
    const SECOND_NS: u64 = 1_000_000_000;
    libc::timespec {
        tv_sec: (ns / SECOND_NS).cast_signed(),
        tv_nsec: (ns % SECOND_NS).cast_signed(),
    }
}
