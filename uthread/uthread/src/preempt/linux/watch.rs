//! Events that make workers tick: a kernel thread waits for them.

use core::ffi::c_void;
use core::mem;
use core::ptr;
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::timer::Ticker;
use crate::worker::Event;

/// The descriptor of the events, made with the thread that waits for them, or [`NONE`].
static EVENTS: AtomicI32 = AtomicI32::new(NONE);

const NONE: RawFd = -1;

/// The timers of the watched events, by number.
static WATCHED: Mutex<Vec<(u64, Arc<Ticker>)>> = Mutex::new(Vec::new());

fn watched() -> MutexGuard<'static, Vec<(u64, Arc<Ticker>)>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves all that is watched to the parent, in the child of a fork: the thread that waits is not there.
///
/// # Safety
/// Same as [`renew`](crate::renew::renew).
pub(super) unsafe fn leave_to_parent() {
    let events = EVENTS.swap(NONE, Ordering::Relaxed);
    // SAFETY: the caller's contract; the descriptor belongs to this file, and only the parent's thread uses it.
    unsafe {
        if events != NONE {
            libc::close(events);
        }
        crate::renew::renew(&WATCHED, Mutex::new(Vec::new()));
    }
}

/// Starts the thread that waits for events, if this process does not have it.
pub(super) fn start() -> io::Result<()> {
    let _one_at_a_time = watched();
    if EVENTS.load(Ordering::Relaxed) != NONE {
        return Ok(());
    }
    // SAFETY: the call takes no pointers.
    let events = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if events < 0 {
        return Err(io::Error::last_os_error());
    }
    EVENTS.store(events, Ordering::Release);
    start_a_thread_that_stays().map_err(|error| {
        EVENTS.store(NONE, Ordering::Relaxed);
        // SAFETY: the descriptor was made above, and has no other user.
        unsafe { libc::close(events) };
        io::Error::from_raw_os_error(error)
    })
}

/// The thread gets no signals, allocates nothing, and waits for events.
fn start_a_thread_that_stays() -> Result<(), i32> {
    const STACK_BYTES: usize = 64 << 10;
    // SAFETY: plain data, for which zeros are valid; all pointers are to locals, and the attributes are destroyed
    // once.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (mem::zeroed(), mem::zeroed());
        let mut attributes: libc::pthread_attr_t = mem::zeroed();
        let error = libc::pthread_attr_init(&raw mut attributes);
        if error != 0 {
            return Err(error);
        }
        libc::pthread_attr_setstacksize(&raw mut attributes, STACK_BYTES);
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let mut thread = mem::zeroed();
        let error = libc::pthread_create(
            &raw mut thread,
            &raw const attributes,
            stay,
            ptr::null_mut(),
        );
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        libc::pthread_attr_destroy(&raw mut attributes);
        if error == 0 { Ok(()) } else { Err(error) }
    }
}

extern "C" fn stay(_: *mut c_void) -> *mut c_void {
    // SAFETY: the name is a string.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"uthread-stays".as_ptr()) };
    wait_for_ever();
}

/// Makes the worker of each event tick. It allocates nothing.
fn wait_for_ever() -> ! {
    loop {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: room for one event.
        let found = unsafe { libc::epoll_wait(fd(), &raw mut event, 1, -1) };
        if found == 1 {
            let number = event.u64;
            let watched = watched();
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
        start()?;
        let watch = Self {
            event: event.fd(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        watched().push((watch.number, Arc::clone(ticker)));
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
        // SAFETY: removing needs no event.
        unsafe { libc::epoll_ctl(fd(), libc::EPOLL_CTL_DEL, self.event, ptr::null_mut()) };
        watched().retain(|(number, _)| *number != self.number);
    }
}

fn fd() -> RawFd {
    EVENTS.load(Ordering::Acquire)
}
