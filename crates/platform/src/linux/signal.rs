use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use super::check;
use crate::clock::now_ns;
use crate::error::{Error, Result};
pub use crate::linux::stop::pauses;
use crate::signal::{Signal, asks_again};

static FLAG: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicI32 = AtomicI32::new(0);
/// When each signal came first, by its number; 0 before.
static FIRST_NS: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
/// Time from the first signal until it has its default effect, in µs; 0 means without end.
static PATIENCE_US: AtomicI64 = AtomicI64::new(0);
/// The signal that has its default effect then.
static IMPATIENT: AtomicI32 = AtomicI32::new(0);

const CAUGHT: [Signal; 5] = [
    Signal::Interrupt,
    Signal::Quit,
    Signal::Terminate,
    Signal::HangUp,
    Signal::ClosedPipe,
];

/// Uses only atomics and calls that are safe in a signal handler.
extern "C" fn on_signal(number: libc::c_int) {
    let is_request = number != Signal::ClosedPipe.number();
    if is_request {
        let now_ns = now_ns();
        let first = &FIRST_NS[number as usize];
        match first.compare_exchange(0, now_ns, Ordering::Relaxed, Ordering::Relaxed) {
            Err(first_ns) if asks_again(first_ns, now_ns) => return end_by(number),
            Err(_) => return,
            Ok(_) => {}
        }
    }
    NUMBER.store(number, Ordering::Relaxed);
    FLAG.store(true, Ordering::Release);
    let patience_us = PATIENCE_US.load(Ordering::Relaxed);
    if is_request && patience_us > 0 {
        IMPATIENT.store(number, Ordering::Relaxed);
        // SAFETY: zeros are a valid `itimerval`.
        let mut once: libc::itimerval = unsafe { std::mem::zeroed() };
        once.it_value.tv_sec = patience_us / 1_000_000;
        once.it_value.tv_usec = patience_us % 1_000_000;
        // SAFETY: it is a system call and nothing else, and `once` lives through it.
        unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const once, ptr::null_mut()) };
    }
}

extern "C" fn on_alarm(_: libc::c_int) {
    end_by(IMPATIENT.load(Ordering::Relaxed));
}

/// Gives a signal its default effect, which ends the process, and raises it.
fn end_by(number: libc::c_int) {
    // SAFETY: signal-safety(7) lists both calls.
    unsafe {
        libc::signal(number, libc::SIG_DFL);
        libc::raise(number);
    }
}

pub(crate) fn lose_patience_after(patience: Duration) -> Result<()> {
    handle(libc::SIGALRM, on_alarm).map_err(Error::os("catch a signal"))?;
    PATIENCE_US.store((patience.as_micros() as i64).max(1), Ordering::Relaxed);
    Ok(())
}

pub(crate) fn install() -> Result<()> {
    for signal in CAUGHT {
        catch(signal).map_err(Error::os("catch a signal"))?;
    }
    Ok(())
}

fn catch(signal: Signal) -> io::Result<()> {
    let number = signal.number();
    if action_of(number)?.sa_sigaction == libc::SIG_IGN {
        return Ok(());
    }
    handle(number, on_signal)
}

fn handle(number: libc::c_int, handler: extern "C" fn(libc::c_int)) -> io::Result<()> {
    let handler = handler as *const () as libc::sighandler_t;
    // SAFETY: the handler has the right type for an action without SA_SIGINFO, and only makes calls
    // that are safe in a handler.
    unsafe { set_action(number, handler, libc::SA_RESTART) }
}

/// The current action of a signal.
pub(super) fn action_of(signal: libc::c_int) -> io::Result<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: a null action changes nothing, and there is room for the current one.
    check(unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so all of it was written.
    Ok(unsafe { action.assume_init() })
}

/// Sets the action of a signal, which blocks no other signals.
///
/// # Safety
/// The handler must have the type that the flags ask for, and be safe at any moment.
pub(super) unsafe fn set_action(
    signal: libc::c_int,
    handler: libc::sighandler_t,
    flags: libc::c_int,
) -> io::Result<()> {
    // SAFETY: zeros are a valid `sigaction`: no flags and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: the caller's contract.
    check(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })
}

pub(crate) fn received() -> Option<Signal> {
    let number = NUMBER.load(Ordering::Relaxed);
    CAUGHT.into_iter().find(|signal| signal.number() == number)
}

pub(crate) fn flag() -> &'static AtomicBool {
    &FLAG
}

/// Restores the default effect of SIGPIPE: a write to a closed pipe ends this process silently, as
/// in other programs, instead of failing. Example: `oscope list | head -1`.
pub fn restore_default_sigpipe() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Makes a write to a connection or pipe without a reader fail with
/// [`BrokenPipe`](std::io::ErrorKind::BrokenPipe) instead of ending this process. `sendfile` and
/// `splice` have no flag for this on a single call.
pub fn ignore_sigpipe() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Makes a write beyond the file-size limit (`ulimit -f`) fail with
/// [`FileTooLarge`](std::io::ErrorKind::FileTooLarge) instead of ending this process.
pub fn ignore_sigxfsz() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use crate::child;
    use crate::signal::Interrupt;

    /// True if a process that ignores the flag still runs long after a signal.
    fn outlives_a_signal(install: fn() -> crate::Result<Interrupt>) -> bool {
        let goes_on = child::value(|| {
            let interrupt = install().unwrap();
            // SAFETY: the handler is safe at any moment.
            unsafe { libc::raise(libc::SIGTERM) };
            for _ in 0..200 {
                sleep(Duration::from_millis(10));
            }
            u64::from(interrupt.is_set())
        });
        goes_on.is_ok_and(|was_asked| was_asked == 1)
    }

    #[test]
    fn a_signal_twice_at_once_is_one_request() {
        let goes_on = child::value(|| {
            let interrupt = Interrupt::install().unwrap();
            for _ in 0..3 {
                // SAFETY: the handler is safe at any moment.
                unsafe { libc::raise(libc::SIGINT) };
            }
            u64::from(interrupt.is_set())
        });
        assert!(goes_on.is_ok_and(|was_asked| was_asked == 1));
    }

    #[test]
    fn a_signal_ends_what_does_not_end_by_itself_once_patience_is_lost() {
        assert!(outlives_a_signal(Interrupt::install));
        assert!(!outlives_a_signal(|| Interrupt::install_for(
            Duration::from_millis(50)
        )));
    }
}
