//! Stops and continuations of this process (Ctrl-Z and `fg` on a terminal), shared with the process
//! groups of its children.

use std::io;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use rustix::process::Pid;

use super::signal::{action_of, set_action};

/// Number of times that this process was stopped or continued.
static PAUSES: AtomicU64 = AtomicU64::new(0);

/// Process groups that stop with this process; 0 marks a free place. There are more places than
/// groups that ever run at once.
static GROUPS: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];

/// Number of times that this process was stopped or continued so far (on a terminal by Ctrl-Z and
/// `fg`), since its first program or worker started; 0 on Windows. Workers and programs stop and
/// continue with it. A time across such a pause means nothing.
pub fn pauses() -> u64 {
    PAUSES.load(Ordering::SeqCst)
}

/// Number of process groups that are being started: they cannot be stopped yet.
static STARTING: AtomicUsize = AtomicUsize::new(0);

/// True if this process was asked to stop during such a start.
static IS_DUE: AtomicBool = AtomicBool::new(false);

/// The start of a process group. Until this value is dropped, SIGTSTP waits, so that it stops the group
/// as well.
#[derive(Debug)]
pub(super) struct Starting;

impl Starting {
    pub(super) fn begin() -> Self {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            // Without handlers, children do not stop, as if this were never called.
            let _ = catch(libc::SIGTSTP, on_stop).and(catch(libc::SIGCONT, on_continue));
        });
        STARTING.fetch_add(1, Ordering::SeqCst);
        Self
    }

    /// From now on, the group of `leader` stops and continues with this process.
    pub(super) fn follow(self, leader: Pid) -> Follower {
        let group = leader.as_raw_nonzero().get();
        let is_taken = |place: &&AtomicI32| {
            place
                .compare_exchange(0, group, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        };
        let follower = Follower(GROUPS.iter().find(is_taken));
        // A stop that waits for this reaches the group.
        drop(self);
        follower
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.fetch_sub(1, Ordering::SeqCst);
        if !is_put_off() && IS_DUE.swap(false, Ordering::SeqCst) {
            stop_all();
        }
    }
}

fn is_put_off() -> bool {
    STARTING.load(Ordering::SeqCst) > 0
}

/// A process group that stops and continues with this process, until this value is dropped. Drop it
/// before the process that leads the group is waited for: its number may be another's after that.
#[derive(Debug)]
pub(super) struct Follower(Option<&'static AtomicI32>);

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::SeqCst);
        }
    }
}

/// Stops this process as SIGTSTP does if nobody catches it, until it is continued. The kernel does not
/// stop a process that no shell could continue.
pub(super) fn stop_here() {
    PAUSES.fetch_add(1, Ordering::SeqCst);
    let Ok(before) = action_of(libc::SIGTSTP) else {
        return;
    };
    // SAFETY: all of these may be called at any moment. The signal has its default action here, which
    // stops the process in `raise`.
    unsafe {
        if set_action(libc::SIGTSTP, libc::SIG_DFL, 0).is_ok() {
            libc::raise(libc::SIGTSTP);
            libc::sigaction(libc::SIGTSTP, &raw const before, ptr::null_mut());
        }
    }
}

/// Uses only atomics and calls that are safe in a signal handler.
extern "C" fn on_stop(_: libc::c_int) {
    if is_put_off() {
        IS_DUE.store(true, Ordering::SeqCst);
        // The last start may have ended before the store, in another thread.
        if is_put_off() || !IS_DUE.swap(false, Ordering::SeqCst) {
            return;
        }
    }
    stop_all();
}

/// Stops this process and the groups that follow it, until this process is continued.
fn stop_all() {
    send_to_groups(libc::SIGSTOP);
    stop_here();
    send_to_groups(libc::SIGCONT);
}

extern "C" fn on_continue(_: libc::c_int) {
    PAUSES.fetch_add(1, Ordering::SeqCst);
}

/// Leaves `errno` to the code that a signal interrupted.
fn send_to_groups(signal: libc::c_int) {
    // SAFETY: the address of `errno` is good in this thread, and signal-safety(7) lists `kill`.
    unsafe {
        let errno = *libc::__errno_location();
        let groups = GROUPS.iter().map(|group| group.load(Ordering::SeqCst));
        for group in groups.filter(|group| *group != 0) {
            libc::kill(-group, signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// Catches a signal that has its default action; one that is ignored stays ignored.
fn catch(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) -> io::Result<()> {
    if action_of(signal)?.sa_sigaction != libc::SIG_DFL {
        return Ok(());
    }
    let handler = handler as *const () as libc::sighandler_t;
    // The handler raises its own signal.
    let flags = libc::SA_RESTART | libc::SA_NODEFER;
    // SAFETY: the handler has the right type for an action without SA_SIGINFO, and only makes calls
    // that are safe in a handler.
    unsafe { set_action(signal, handler, flags) }
}
