//! A thread's wait for the answer to its request.

use core::cell::Cell;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::io;

use super::driver::Driver;
use super::in_flight::Operation;
use super::sleep::sleep_or_cancelled;
#[cfg(target_os = "linux")]
use super::system::KernelDriver;
use super::system::{CANCELLED, InFlight, Request, was_cancelled};
#[cfg(target_os = "linux")]
use crate::preempt::no_preempt;
use crate::thread::{Cancelled, Wait, Woken};
use crate::worker::{Mode, Worker, leave_blocking};

/// Makes a request and blocks until the answer arrives, or until the request is cancelled, by a thread
/// or at the end of the limit.
///
/// # Safety
/// The buffer must stay valid until this returns.
pub(super) unsafe fn transfer(
    worker: &Worker,
    request: Request,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<u32> {
    let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
    loop {
        let at_once = matches!(worker.shared.config.mode, Mode::Deterministic { .. });
        // SAFETY: the caller's contract.
        let (woken, result) = unsafe {
            // A deterministic run must not depend on the time of the kernel's answer.
            if at_once {
                perform_at_once(worker, request, deadline_ns)
            } else {
                wait_for(worker, request, operation, deadline_ns)?
            }
        };
        if !was_cancelled(-result) {
            return u32::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
        }
        if woken == Woken::Cancelled {
            return Err(io::Error::other(Cancelled));
        }
        if deadline_ns.is_some_and(|end_ns| worker.shared.clock.now_ns() >= end_ns) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // Nobody here asked for it, and nothing has been transferred: a signal came, or Linux gave up
        // a request that waits for a worker of io_uring, since it could start none. Signals that come
        // while it tries have that effect.
    }
}

/// Makes the call on the worker itself. A request that can ask at once asks again after each slice.
///
/// # Safety
/// Same as [`transfer`].
unsafe fn perform_at_once(
    worker: &Worker,
    request: Request,
    deadline_ns: Option<u64>,
) -> (Woken, i32) {
    /// Time for the rest of the system while no thread is ready: virtual time does not wait for it.
    const MOMENT: Duration = Duration::from_micros(100);
    let Some(once) = request.without_waiting() else {
        // SAFETY: the caller's contract.
        return (Woken::Granted, unsafe { request.perform(None) });
    };
    let slice_ns = worker.shared.slice_ns().max(1);
    let mut woken = Woken::Granted;
    loop {
        let left_ns = deadline_ns.map_or(u64::MAX, |end_ns| end_ns.saturating_sub(worker.now_ns()));
        // SAFETY: the caller's contract.
        let result = unsafe { once.perform(None) };
        if result != -CANCELLED || left_ns == 0 || woken == Woken::Cancelled {
            return (woken, result);
        }
        if worker.scheduler.ready.is_empty() {
            std::thread::sleep(MOMENT);
        }
        woken = sleep_or_cancelled(Duration::from_nanos(slice_ns.min(left_ns)));
    }
}

/// # Safety
/// Same as [`transfer`].
unsafe fn wait_for(
    worker: &Worker,
    request: Request,
    name: &str,
    deadline_ns: Option<u64>,
) -> io::Result<(Woken, i32)> {
    worker.enter_blocking(name);
    let me = worker.current();
    let operation = Operation {
        thread: me,
        request,
        result: Cell::new(-CANCELLED),
        kernel: InFlight::new(),
    };
    let pushed = worker.with_driver(|driver| {
        // SAFETY: this function does not return before the operation has its answer.
        unsafe { driver.push(&operation) };
    });
    let answer = pushed.map(|()| {
        worker.shared.external.fetch_add(1, Ordering::Relaxed);
        worker.attention.set(true);
        let withdraw = || worker.withdraw_transfer(&operation);
        let woken = worker.block_until(Wait::Io, deadline_ns, withdraw);
        let result = operation.result.get();
        // The request was in the kernel, which has answered after all.
        let cancelled = was_cancelled(-result) && me.take_cancel();
        (if cancelled { Woken::Cancelled } else { woken }, result)
    });
    leave_blocking();
    answer
}

impl Worker {
    /// The driver, created at its first use.
    fn with_driver<R>(&self, work: impl FnOnce(&mut Driver) -> R) -> io::Result<R> {
        let mut driver = self.driver.borrow_mut();
        let driver = match &mut *driver {
            Some(driver) => driver,
            none => none.insert(self.watched_driver()?),
        };
        Ok(work(driver))
    }

    /// Works with the ring; `None` without one, and in a deterministic run, which does not wait for it.
    #[cfg(target_os = "linux")]
    pub(super) fn with_ring<R>(
        &self,
        work: impl FnOnce(&mut KernelDriver) -> R,
    ) -> io::Result<Option<R>> {
        if matches!(self.shared.config.mode, Mode::Deterministic { .. }) {
            return Ok(None);
        }
        let _guard = no_preempt();
        self.with_driver(|driver| match driver {
            Driver::Kernel(ring) => Some(work(ring)),
            Driver::Threads(_) => None,
        })
    }

    /// A driver whose finished requests make this worker tick. If nothing can watch it, ticks come while requests
    /// are in flight.
    fn watched_driver(&self) -> io::Result<Driver> {
        let mut driver = Driver::new(&self.shared, self.index)?;
        let _ = self.watch(&mut driver);
        Ok(driver)
    }

    /// Asks for the early end of a transfer; `true` if it has ended without an answer.
    fn withdraw_transfer(&self, operation: &Operation) -> bool {
        let mut driver = self.driver.borrow_mut();
        let ended = driver
            .as_mut()
            .is_some_and(|driver| driver.cancel(operation));
        if ended {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
        }
        ended
    }
}
