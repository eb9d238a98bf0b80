use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::error::{Error, Result};
use crate::signal::Signal;

static FLAG: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicI32 = AtomicI32::new(0);

const CAUGHT: [Signal; 4] = [
    Signal::Interrupt,
    Signal::Terminate,
    Signal::HangUp,
    Signal::ClosedPipe,
];

/// Nothing but atomic stores: all that a handler may safely do.
extern "C" fn on_signal(number: libc::c_int) {
    NUMBER.store(number, Ordering::Relaxed);
    FLAG.store(true, Ordering::Release);
}

pub(crate) fn install() -> Result<()> {
    for signal in CAUGHT {
        catch(signal).map_err(Error::os("catch a signal"))?;
    }
    Ok(())
}

fn catch(signal: Signal) -> io::Result<()> {
    let number = signal.number();
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null action changes nothing, and `before` has room for what is written.
    check(unsafe { libc::sigaction(number, ptr::null(), before.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so all of it was written.
    if unsafe { before.assume_init_ref() }.sa_sigaction == libc::SIG_IGN {
        return Ok(());
    }
    // SAFETY: zeros are a valid `sigaction`: no flags and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    if signal != Signal::ClosedPipe {
        // The first delivery restores the default, so that a second one ends the process.
        action.sa_flags |= libc::SA_RESETHAND;
    }
    // SAFETY: the handler has the right type for an action without SA_SIGINFO, and only stores to
    // atomics.
    check(unsafe { libc::sigaction(number, &raw const action, ptr::null_mut()) })
}

fn check(outcome: libc::c_int) -> io::Result<()> {
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(crate) fn received() -> Option<Signal> {
    let number = NUMBER.load(Ordering::Relaxed);
    CAUGHT.into_iter().find(|signal| signal.number() == number)
}

pub(crate) fn flag() -> &'static AtomicBool {
    &FLAG
}

pub(crate) fn restore_default_sigpipe() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

pub(crate) fn ignore_sigpipe() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

pub(crate) fn ignore_sigxfsz() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
