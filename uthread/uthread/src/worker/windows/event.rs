//! An event of one worker, and a timer for waits with a limit.

use core::ptr;
use core::time::Duration;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    CREATE_EVENT_MANUAL_RESET, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateEventExW,
    CreateWaitableTimerExW, EVENT_ALL_ACCESS, INFINITE, ResetEvent, SetEvent, SetWaitableTimer,
    TIMER_ALL_ACCESS, WaitForMultipleObjectsEx, WaitForSingleObjectEx,
};

/// Timers count in this unit.
const TICK_NS: u128 = 100;

pub(crate) struct Event {
    event: OwnedHandle,
    /// Of high resolution, as Windows has since 10, version 1803: the limit of a wait itself counts in
    /// intervals of the system's clock, of up to 16 ms.
    timer: OwnedHandle,
}

impl Event {
    pub(crate) fn new() -> io::Result<Self> {
        let (own, unnamed) = (ptr::null(), ptr::null());
        let (reset, high) = (
            CREATE_EVENT_MANUAL_RESET,
            CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
        );
        // SAFETY: no pointer is given.
        unsafe {
            Ok(Self {
                event: owned(CreateEventExW(own, unnamed, reset, EVENT_ALL_ACCESS))?,
                timer: owned(CreateWaitableTimerExW(own, unnamed, high, TIMER_ALL_ACCESS))?,
            })
        }
    }

    pub(crate) fn set(&self) {
        // SAFETY: the handle is open.
        unsafe { SetEvent(self.event.as_raw_handle()) };
    }

    pub(crate) fn clear(&self) {
        // SAFETY: the handle is open.
        unsafe { ResetEvent(self.event.as_raw_handle()) };
    }

    /// Waits until the event is set or the timeout expires. If the system refuses the timer, it does not
    /// wait: the caller checks everything after each wake-up.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        self.wait_as(timeout, false);
    }

    /// As [`wait`](Self::wait), or until completion routines of this kernel thread have run.
    pub(crate) fn wait_for_routines_too(&self, timeout: Option<Duration>) {
        self.wait_as(timeout, true);
    }

    fn wait_as(&self, timeout: Option<Duration>, alertable: bool) {
        let event = self.event.as_raw_handle();
        let Some(timeout) = timeout else {
            // SAFETY: the handle is open.
            unsafe { WaitForSingleObjectEx(event, INFINITE, alertable.into()) };
            return;
        };
        let timer = self.timer.as_raw_handle();
        let ticks = i64::try_from(timeout.as_nanos().div_ceil(TICK_NS)).unwrap_or(i64::MAX);
        // Negative times count from now on.
        let due = -ticks;
        let either = [event, timer];
        // SAFETY: both handles are open; the time is only read, and there is no function to call.
        unsafe {
            if SetWaitableTimer(timer, &raw const due, 0, None, ptr::null(), 0) != 0 {
                WaitForMultipleObjectsEx(2, either.as_ptr(), 0, INFINITE, alertable.into());
            }
        }
    }
}

/// # Safety
/// Nothing else may own the handle.
unsafe fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's contract.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}
