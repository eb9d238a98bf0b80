//! Events that make workers tick: a kernel thread waits for them.

use core::ptr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::timer::Ticker;
use crate::worker::Event;

/// The descriptor of the events, made with the thread that waits for them.
static EVENTS: OnceLock<OwnedFd> = OnceLock::new();

/// The timers of the watched events, by number.
static WATCHED: Mutex<Vec<(u64, Arc<Ticker>)>> = Mutex::new(Vec::new());

/// True in the child of a fork: there the thread that waits is gone, and what is watched is the parent's.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Leaves all that is watched to the parent, in the child of a fork.
pub(super) fn leave_to_parent() {
    IN_CHILD.store(true, Ordering::Relaxed);
}

/// Makes what [`wait_for_ever`] needs.
pub(super) fn prepare() -> io::Result<()> {
    if EVENTS.get().is_none() {
        // SAFETY: the call takes no pointers.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that has no other owner.
        let _ = EVENTS.set(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    Ok(())
}

/// Makes the worker of each event tick. It allocates nothing.
pub(super) fn wait_for_ever() -> ! {
    loop {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: room for one event.
        let found = unsafe { libc::epoll_wait(fd(), &raw mut event, 1, -1) };
        if found == 1 {
            let number = event.u64;
            let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
            for (_, ticker) in watched.iter().filter(|(other, _)| *other == number) {
                ticker.tick_now();
            }
        }
    }
}

/// While it exists, the timer ticks at once whenever the event is set.
#[derive(Debug)]
pub(crate) struct Watch {
    event: RawFd,
    number: u64,
}

impl Watch {
    /// The event must stay open until this is dropped.
    pub(crate) fn new(event: &Event, ticker: &Arc<Ticker>) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if IN_CHILD.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let watch = Self {
            event: event.fd(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.push((watch.number, Arc::clone(ticker)));
        drop(watched);
        let mut condition = libc::epoll_event {
            // Each time it is set: nobody need clear it.
            events: (libc::EPOLLIN | libc::EPOLLET) as u32,
            u64: watch.number,
        };
        // SAFETY: the pointer is to a local.
        match unsafe { libc::epoll_ctl(fd(), libc::EPOLL_CTL_ADD, watch.event, &raw mut condition) }
        {
            0 => Ok(watch),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if IN_CHILD.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: removing needs no event.
        unsafe { libc::epoll_ctl(fd(), libc::EPOLL_CTL_DEL, self.event, ptr::null_mut()) };
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|(number, _)| *number != self.number);
    }
}

fn fd() -> RawFd {
    EVENTS.get().map_or(-1, AsRawFd::as_raw_fd)
}
