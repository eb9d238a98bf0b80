//! The terminal of this process, which it lends to programs as a shell does.

use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr;

use rustix::process::{Pid, getpgrp};

/// The terminal, while it is lent or about to be.
pub(super) struct Terminal {
    file: File,
    modes: libc::termios,
}

impl Terminal {
    /// The terminal and its modes; `None` if there is none, or if this process is in its background.
    pub(super) fn of_foreground() -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let file = file.ok()?;
        let mut modes = MaybeUninit::uninit();
        // SAFETY: the file is open, and `modes` has room for the result.
        let outcome = unsafe { libc::tcgetattr(file.as_raw_fd(), modes.as_mut_ptr()) };
        // SAFETY: if the call succeeded, all of it was written.
        let modes = (outcome == 0).then(|| unsafe { modes.assume_init() })?;
        let terminal = Self { file, modes };
        terminal.is_of(getpgrp()).then_some(terminal)
    }

    /// True if this group is in the foreground.
    pub(super) fn is_of(&self, group: Pid) -> bool {
        // SAFETY: the file is open.
        unsafe { libc::tcgetpgrp(self.file.as_raw_fd()) == group.as_raw_nonzero().get() }
    }

    /// Puts the group of `leader` into the foreground.
    pub(super) fn lend_to(&self, leader: Pid) {
        put_in_foreground(self.file.as_raw_fd(), leader);
    }

    /// Puts this process into the foreground, and restores the modes.
    pub(super) fn take_back(self) {
        let terminal = self.file.as_raw_fd();
        put_in_foreground(terminal, getpgrp());
        // SAFETY: the file is open, and the modes are those that the system gave.
        without_sigttou(|| unsafe {
            libc::tcsetattr(terminal, libc::TCSADRAIN, &raw const self.modes);
        });
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Puts a group into the foreground of a terminal. If the terminal is gone, the program finds that out
/// by itself. Allocates nothing and takes no locks.
pub(super) fn put_in_foreground(terminal: RawFd, group: Pid) {
    // SAFETY: a descriptor that is not a terminal is refused.
    without_sigttou(|| unsafe {
        libc::tcsetpgrp(terminal, group.as_raw_nonzero().get());
    });
}

/// Calls `change` with SIGTTOU blocked, which otherwise stops a process in the background that changes
/// the terminal.
fn without_sigttou(change: impl FnOnce()) {
    // SAFETY: both sets are written before they are read, and have the right type.
    unsafe {
        let mut signals = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), before.as_mut_ptr());
        change();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
    }
}
