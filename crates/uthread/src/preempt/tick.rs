//! The handler of the timer's signal.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;
use std::sync::OnceLock;

use super::text_range;
use crate::context::{program_counter, stack_pointer};
use crate::worker::{Worker, current_worker, depth};

/// The signal of the timer. Its default action is to be ignored, so that one that arrives late does
/// no harm, and debuggers pass it on.
pub(super) const TICK_SIGNAL: c_int = libc::SIGURG;

/// What the handler's own frames may take of a thread's stack, in bytes.
pub(super) const HANDLER_BYTES: usize = 2048;

static TEXT_START: AtomicUsize = AtomicUsize::new(0);
static TEXT_END: AtomicUsize = AtomicUsize::new(0);

/// The largest frame that the kernel may put on a stack for a signal, in bytes. It grows with the
/// vector registers of the processor (getauxval(3), `AT_MINSIGSTKSZ`).
pub(crate) fn minimum_signal_stack() -> usize {
    // SAFETY: a query without arguments in memory.
    let bytes = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    bytes.max(libc::MINSIGSTKSZ)
}

/// The signal unblocked for this kernel thread, and the mask from before put back at the end.
pub(crate) struct TickSignal(libc::sigset_t);

impl TickSignal {
    /// Installs the handler, once for the process, and lets the signal through.
    pub(crate) fn receive() -> io::Result<Self> {
        static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
        INSTALLED
            .get_or_init(install)
            .map_err(io::Error::from_raw_os_error)?;
        // SAFETY: plain data, for which zeros are valid; all pointers are to locals.
        unsafe {
            let mut tick: libc::sigset_t = mem::zeroed();
            let mut before: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&raw mut tick);
            libc::sigaddset(&raw mut tick, TICK_SIGNAL);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const tick, &raw mut before);
            Ok(Self(before))
        }
    }
}

impl Drop for TickSignal {
    fn drop(&mut self) {
        // SAFETY: the mask saved by `receive` on this kernel thread.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

fn install() -> Result<(), i32> {
    let text: Range<usize> = text_range().ok_or(libc::ENOEXEC)?;
    TEXT_START.store(text.start, Ordering::Relaxed);
    TEXT_END.store(text.end, Ordering::Relaxed);
    // SAFETY: plain data, for which zeros are valid. `SA_NODEFER` leaves the signal mask alone, so
    // that a switch inside the handler carries none along; `SA_ONSTACK` is not set, for the frame
    // has to stay on the thread's own stack while others run.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_tick as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_RESTART;
        if libc::sigaction(TICK_SIGNAL, &raw const action, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EINVAL));
        }
    }
    Ok(())
}

unsafe extern "C" fn on_tick(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(worker) = current_worker() else {
        return;
    };
    // SAFETY: given by the kernel for the time of the handler.
    let (info, context) = unsafe { (&*info, &*context.cast::<libc::ucontext_t>()) };
    if info.si_code != libc::SI_TIMER {
        return;
    }
    // SAFETY: the address of this kernel thread's errno is valid; other threads that run on it
    // before this one goes on will change it.
    let errno = unsafe { *libc::__errno_location() };
    tick(worker, context);
    // SAFETY: as above; started threads stay on their kernel thread.
    unsafe { *libc::__errno_location() = errno };
}

fn tick(worker: &Worker, context: &libc::ucontext_t) {
    // The counter comes first: while it is up, nothing else of the worker may be looked at.
    if depth() > 0 {
        worker.tick(false);
        return;
    }
    let text = TEXT_START.load(Ordering::Relaxed)..TEXT_END.load(Ordering::Relaxed);
    let inside = text.contains(&program_counter(context));
    let room = stack_pointer(context).saturating_sub(worker.current().stack_bottom());
    // The kernel has already put its frame below the interrupted stack pointer.
    let roomy = room > minimum_signal_stack() + HANDLER_BYTES;
    let safe = inside && roomy && !std::thread::panicking();
    worker.tick(safe);
    if !safe {
        worker.retry_tick();
    }
}
