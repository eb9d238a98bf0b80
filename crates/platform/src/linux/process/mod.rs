mod program;
mod starter;
mod worker;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{io, ptr};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, getppid, kill_process,
    set_child_subreaper, set_parent_process_death_signal, waitid,
};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

use super::parse;
use super::usage::from_rusage;
use crate::process::{Exit, Finished};

pub use program::Starter;
pub(crate) use worker::RawWorker;

/// The name of a signal, as the standard library shows it: "signal: 9 (SIGKILL)".
pub(crate) fn signal_name(signal: i32) -> Option<String> {
    let shown = ExitStatus::from_raw(signal).to_string();
    let (_, name) = shown.split_once(" (")?;
    Some(name.split_once(')')?.0.to_owned())
}

/// No exit shows that an event of the console also reached this process.
pub(crate) fn is_console_event(_exit: Exit) -> bool {
    false
}

// The terminal of this process, which it lends to programs as a shell does.

/// The terminal, while it is lent or about to be.
struct Terminal {
    file: File,
    modes: Termios,
}

impl Terminal {
    /// The terminal and its modes; `None` if there is none, or if this process is in its background.
    fn of_foreground() -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let file = file.ok()?;
        let modes = tcgetattr(&file).ok()?;
        let terminal = Self { file, modes };
        terminal.is_of(getpgrp()).then_some(terminal)
    }

    /// True if this group is in the foreground.
    fn is_of(&self, group: Pid) -> bool {
        tcgetpgrp(&self.file) == Ok(group)
    }

    /// Puts this process into the foreground, and restores the modes.
    fn take_back(self) {
        put_in_foreground(&self, getpgrp());
        without_sigttou(|| {
            let _ = tcsetattr(&self, OptionalActions::Drain, &self.modes);
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
fn put_in_foreground(terminal: impl AsFd, group: Pid) {
    without_sigttou(|| {
        let _ = tcsetpgrp(terminal, group);
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

/// From now on, the kernel kills this process when `parent` dies. Allocates nothing and takes no locks.
pub(super) fn die_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before that call, and no signal would come.
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(Errno::SRCH.into())
    }
}

/// Hands the available bytes of a non-blocking pipe to `sink`, in at most `pieces` pieces, and closes
/// the pipe at its end.
fn take(pipe: &mut Option<OwnedFd>, pieces: usize, mut sink: impl FnMut(&[u8])) -> io::Result<()> {
    let mut piece = [0; 16 << 10];
    for _ in 0..pieces {
        let Some(open) = pipe else { break };
        match rustix::io::read(open.as_fd(), &mut piece) {
            Ok(0) => *pipe = None,
            Ok(len) => sink(&piece[..len]),
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Waits for the exit of a child. The second result is what the kernel counted of it and of those that it waited for.
fn wait4(pid: Pid) -> io::Result<(Finished, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: both results have room.
        let outcome = unsafe {
            libc::wait4(
                pid.as_raw_nonzero().get(),
                &raw mut status,
                0,
                usage.as_mut_ptr(),
            )
        };
        if outcome != -1 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let exit = if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    };
    // SAFETY: the call succeeded, so all of it was written.
    let usage = unsafe { usage.assume_init() };
    let finished = Finished {
        exit,
        usage: from_rusage(&usage),
    };
    Ok((finished, usage))
}

// Processes that programs leave behind. They become children of this process.

/// Time after which processes that SIGTERM did not end get SIGKILL.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time for all of them. The kernel may hold a process that was killed.
const MOST_PATIENCE: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Debug)]
struct Leftovers {
    /// A child of this process that is none of them.
    helper: Option<Pid>,
    kept: RefCell<HashSet<Pid>>,
}

impl Leftovers {
    fn new(helper: Option<Pid>) -> Self {
        // Before Linux 3.4, they become children of init, and are not found.
        let _ = set_child_subreaper(Some(getpid()));
        Self {
            helper,
            kept: RefCell::default(),
        }
    }

    /// Those that have not exited; reaps the others. Empty if the system does not list children.
    fn running(&self) -> impl Iterator<Item = Pid> {
        // The first thread adopts them.
        let own = getpid();
        let list = parse::text(format!("/proc/self/task/{own}/children")).unwrap_or_default();
        let children: Vec<Pid> = list
            .split(' ')
            .filter_map(|id| Pid::from_raw(id.parse().ok()?))
            .collect();
        let helper = self.helper;
        let others = children.into_iter().filter(move |it| Some(*it) != helper);
        others.filter(|child| !has_exited(*child))
    }
}

/// True if the child has exited; it is no zombie after this.
fn has_exited(child: Pid) -> bool {
    let now = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    match waitid(WaitId::Pid(child), now) {
        Ok(status) => status.is_some(),
        Err(errno) => errno != Errno::INTR,
    }
}

/// Ends the processes that `find` returns until there are none. Returns their number.
fn end(find: impl Fn() -> Vec<Pid>) -> usize {
    let mut asked = HashSet::new();
    let begin = Instant::now();
    loop {
        let left = find();
        if left.is_empty() || begin.elapsed() > MOST_PATIENCE {
            return asked.len();
        }
        for child in left {
            // The child has not been reaped yet, so this ID is still its own.
            if asked.insert(child) {
                let _ = kill_process(child, Signal::TERM);
                // A stopped process notices a signal only then.
                let _ = kill_process(child, Signal::CONT);
            } else if begin.elapsed() > PATIENCE {
                let _ = kill_process(child, Signal::KILL);
            }
        }
        sleep(POLL_INTERVAL);
    }
}
