//! Handles pages of mapped files that are gone when they are touched, because another program
//! truncated the file or its device failed. The kernel then sends SIGBUS, which would kill the
//! process. Here a handler maps zeros in place of the lost pages and marks the mapping, so that its
//! owner can report an error.

use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::mm::{self, MapFlags, ProtFlags};

use super::memory::base_page_bytes;
use super::signal::{action_of, set_action};
use crate::error::{Error, Result};

/// More mappings than a program that measures files has at once. A signal handler can only search
/// memory that never moves.
const SLOTS: usize = 256;

static WATCHED: [Slot; SLOTS] = [const { Slot::free() }; SLOTS];
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// A watched address range.
#[derive(Debug)]
struct Slot {
    is_taken: AtomicBool,
    /// 0 while the range is not valid.
    start: AtomicUsize,
    end: AtomicUsize,
    has_lost: AtomicBool,
}

impl Slot {
    const fn free() -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            has_lost: AtomicBool::new(false),
        }
    }

    fn holds(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != 0 && (start..self.end.load(Ordering::Relaxed)).contains(&address)
    }
}

/// Watches a mapping until this value is dropped.
#[derive(Debug)]
pub(super) struct Watch(&'static Slot);

impl Watch {
    /// Watches `len` bytes from the page that starts at `start`.
    pub(super) fn over(start: usize, len: usize) -> Result<Self> {
        install()?;
        let is_free = |slot: &&Slot| !slot.is_taken.swap(true, Ordering::AcqRel);
        let slot = WATCHED.iter().find(is_free).ok_or_else(|| {
            Error::os("map a file")(io::Error::other("too many files are mapped already"))
        })?;
        slot.has_lost.store(false, Ordering::Relaxed);
        let end = start + len.next_multiple_of(base_page_bytes());
        slot.end.store(end, Ordering::Relaxed);
        slot.start.store(start, Ordering::Release);
        Ok(Self(slot))
    }

    /// True if a touched page was gone.
    pub(super) fn has_lost(&self) -> bool {
        self.0.has_lost.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::Release);
        self.0.is_taken.store(false, Ordering::Release);
    }
}

/// Installs the handler, once per process.
fn install() -> Result<()> {
    static OUTCOME: OnceLock<std::result::Result<(), i32>> = OnceLock::new();
    OUTCOME
        .get_or_init(|| put_handler().map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL)))
        .map_err(|number| {
            Error::os("catch the signal of lost pages")(io::Error::from_raw_os_error(number))
        })
}

fn put_handler() -> io::Result<()> {
    let _ = PREVIOUS.set(action_of(libc::SIGBUS)?);
    let handler = on_bus_error as *const () as libc::sighandler_t;
    // SAFETY: the handler has the right type for an action with SA_SIGINFO; it calls only mmap(2)
    // and sigaction(2), and takes no lock.
    unsafe { set_action(libc::SIGBUS, handler, libc::SA_SIGINFO | libc::SA_ONSTACK) }
}

extern "C" fn on_bus_error(
    _signal: libc::c_int,
    info: *const libc::siginfo_t,
    _context: *const libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo to a handler with SA_SIGINFO; for a SIGBUS it
    // contains an address.
    let address = unsafe { (*info).si_addr() };
    let slot = WATCHED.iter().find(|slot| slot.holds(address.addr()));
    if let Some(slot) = slot
        && put_zeros(address, slot.end.load(Ordering::Relaxed))
    {
        slot.has_lost.store(true, Ordering::Release);
        return;
    }
    // Not a watched mapping. The fault repeats on return, and the previous handler gets it.
    if let Some(previous) = PREVIOUS.get() {
        // SAFETY: it is the previous action.
        unsafe { libc::sigaction(libc::SIGBUS, previous, ptr::null_mut()) };
    }
}

/// Maps zeros over all pages from that of `address` to the end of the mapping. If one page is
/// beyond the end of the file, all later pages are too.
fn put_zeros(address: *mut libc::c_void, end: usize) -> bool {
    let page = address.map_addr(|address| address / base_page_bytes() * base_page_bytes());
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the range belongs to a mapping that is in use and therefore alive. Its slices stay
    // valid: the bytes change to zeros, as they may in any shared mapping.
    unsafe { mm::mmap_anonymous(page, end - page.addr(), access, flags) }.is_ok()
}
