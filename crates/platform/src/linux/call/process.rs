use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, ptr};

use rustix::process::getpid;
use rustix::thread::gettid;

use super::{check, check_errno, failed};
use crate::error::{Error, Result};
use crate::linux::signal::{action_of, set_action};

/// Asks the kernel for the process id. On Linux that is the cheapest system call; it goes through
/// `syscall(2)`, so that no library can return a cached value. On Windows it is
/// `NtQueryInformationProcess`, which reports five other facts as well.
#[inline]
pub fn getpid_syscall() -> Result<u32> {
    // SAFETY: it takes no arguments and cannot fail.
    Ok(unsafe { libc::syscall(libc::SYS_getpid) } as u32)
}

/// Creates a process that exits at once, and waits for it: one `fork`, `_exit` in the child,
/// `waitpid` in the parent. Forks are serial: the next one starts after this child is gone. The
/// cost of a fork grows with the memory that the parent has mapped and touched.
#[inline]
pub fn fork_exit_wait() -> Result<()> {
    // SAFETY: the child calls only `_exit`, which is safe even if other threads held locks during
    // the fork.
    let child = unsafe { libc::fork() };
    match child {
        -1 => failed("fork"),
        // SAFETY: it ends the child without running any code of the parent.
        0 => unsafe { libc::_exit(0) },
        child => wait(child),
    }
}

/// A stack for a child that shares this process's memory.
#[repr(align(64))]
struct Stack(UnsafeCell<[u8; Stack::BYTES]>);

impl Stack {
    const BYTES: usize = 16 << 10;

    /// Its upper end: stacks grow downwards.
    fn top(&self) -> *mut c_void {
        self.0.get().wrapping_add(1).cast()
    }
}

thread_local! {
    // Each thread waits for its own child, so two children never use the same stack at once.
    static CHILD_STACK: Stack = const { Stack(UnsafeCell::new([0; Stack::BYTES])) };
}

/// As [`fork_exit_wait`], but the child shares the memory of its parent, which sleeps until the
/// child exits, as with `vfork`.
#[inline]
pub fn vfork_exit_wait() -> Result<()> {
    /// The child exits when this function returns.
    extern "C" fn end_at_once(_: *mut c_void) -> c_int {
        0
    }
    const FLAGS: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let child = CHILD_STACK.with(|stack| {
        // SAFETY: the child has its own stack, which outlives it: this thread sleeps until the
        // child has exited (CLONE_VFORK). The child touches nothing else.
        unsafe { libc::clone(end_at_once, stack.top(), FLAGS, ptr::null_mut()) }
    });
    match child {
        -1 => failed("vfork"),
        child => wait(child),
    }
}

/// Starts a program without arguments and environment, and waits for its exit: one `fork`, `execve`
/// in the child, `waitpid` in the parent. The time includes the run time of the program itself.
#[inline]
pub fn fork_exec_wait(program: &CStr) -> Result<()> {
    let arguments = [program.as_ptr(), ptr::null()];
    // SAFETY: the child calls only `execve` and `_exit`, which are safe even if other threads held
    // locks during the fork.
    let child = unsafe { libc::fork() };
    match child {
        -1 => failed("fork"),
        0 => {
            // SAFETY: all strings end with a zero byte, the lists with a null pointer.
            unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), EMPTY.as_ptr().cast()) };
            // SAFETY: it ends the child without running any code of the parent.
            unsafe { libc::_exit(127) }
        }
        child => wait(child),
    }
}

/// The program that does nothing, for [`fork_exec_wait`] and [`spawn_wait`]: `true`. On Windows a
/// command line: the command interpreter, which ends at once.
pub fn program_that_does_nothing() -> Result<CString> {
    const PLACES: [&CStr; 2] = [c"/bin/true", c"/usr/bin/true"];
    let is_there = |name: &&CStr| name.to_str().is_ok_and(|name| Path::new(name).exists());
    let found = PLACES.into_iter().find(is_there);
    found.map(CStr::to_owned).ok_or(Error::NotSupported(
        "a program that does nothing (neither /bin/true nor /usr/bin/true)",
    ))
}

/// An environment without variables.
const EMPTY: [usize; 1] = [0];

/// As [`fork_exec_wait`] through `posix_spawn`, which need not copy the parent's address space. On
/// Windows one `CreateProcess` with this process's environment, and a wait for its end.
#[inline]
pub fn spawn_wait(program: &CStr) -> Result<()> {
    let arguments: [*mut c_char; 2] = [program.as_ptr().cast_mut(), ptr::null_mut()];
    let mut child = MaybeUninit::uninit();
    // SAFETY: all strings end with a zero byte, the lists with a null pointer, and none is written
    // to; `child` has room for the process id.
    let errno = unsafe {
        libc::posix_spawn(
            child.as_mut_ptr(),
            program.as_ptr(),
            ptr::null(),
            ptr::null(),
            arguments.as_ptr(),
            EMPTY.as_ptr().cast(),
        )
    };
    check_errno(errno, "spawn a program")?;
    // SAFETY: the call succeeded, so it wrote the process id.
    wait(unsafe { child.assume_init() })
}

/// Waits for a child, which must exit with status 0.
#[inline]
pub(in crate::linux) fn wait(child: libc::pid_t) -> Result<()> {
    let mut status = 0;
    loop {
        // SAFETY: `status` has room for the result.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
            break;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return failed("wait for a child");
        }
    }
    if status == 0 {
        Ok(())
    } else {
        Err(Error::os("run a child process")(io::Error::other(format!(
            "its wait status is {status:#x}"
        ))))
    }
}

/// No other part of this program uses this signal.
const SIGNAL: libc::c_int = libc::SIGUSR1;

static DELIVERED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: libc::c_int) {
    DELIVERED.fetch_add(1, Ordering::Relaxed);
}

/// A handler of a signal (SIGUSR1) that only counts, and the thread that installed it. The handler
/// stays until this value is dropped.
pub struct SignalProbe {
    action: libc::sigaction,
    before: libc::sigaction,
    process: libc::pid_t,
    thread: libc::pid_t,
    /// Signals go to the thread that created the probe.
    not_send: PhantomData<*const ()>,
}

impl SignalProbe {
    /// Installs the handler.
    pub fn new() -> Result<Self> {
        let install = || -> io::Result<_> {
            let before = action_of(SIGNAL)?;
            let handler = count as *const () as libc::sighandler_t;
            // SAFETY: the handler has the right type for an action without SA_SIGINFO and only adds to
            // an atomic.
            unsafe { set_action(SIGNAL, handler, libc::SA_RESTART) }?;
            Ok([before, action_of(SIGNAL)?])
        };
        let [before, action] = install().map_err(Error::os("install a handler of a signal"))?;
        Ok(Self {
            action,
            before,
            process: getpid().as_raw_nonzero().get(),
            thread: gettid().as_raw_nonzero().get(),
            not_send: PhantomData,
        })
    }

    /// Installs the same handler again: one `sigaction`.
    #[inline]
    pub fn install(&self) -> Result<()> {
        // SAFETY: as in `new`.
        let outcome = unsafe { libc::sigaction(SIGNAL, &raw const self.action, ptr::null_mut()) };
        check(outcome, "install a handler of a signal")
    }

    /// Sends the signal to this thread, which handles it before this call returns: one `tgkill`,
    /// the handler, and the return from it.
    #[inline]
    pub fn deliver(&self) -> Result<()> {
        // SAFETY: the handler is installed. The signal goes to the thread that created the probe,
        // which is this one: the type is not `Send`.
        let outcome = unsafe { libc::syscall(libc::SYS_tgkill, self.process, self.thread, SIGNAL) };
        check(outcome, "send a signal")
    }
}

impl Drop for SignalProbe {
    fn drop(&mut self) {
        // SAFETY: it restores the previous action.
        unsafe { libc::sigaction(SIGNAL, &raw const self.before, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_can_be_made_again_and_again() {
        for _ in 0..100 {
            fork_exit_wait().unwrap();
            vfork_exit_wait().unwrap();
        }
    }

    #[test]
    fn a_program_that_is_not_there_or_fails_is_an_error() {
        for run in [fork_exec_wait, spawn_wait] {
            run(c"/bin/true").unwrap();
            run(c"/bin/false").unwrap_err();
            run(c"/nothing/is/there").unwrap_err();
        }
    }

    #[test]
    fn each_signal_is_delivered_before_the_call_returns() {
        let probe = SignalProbe::new().unwrap();
        for number in 1..=100 {
            probe.install().unwrap();
            let before = DELIVERED.load(Ordering::Relaxed);
            probe.deliver().unwrap();
            let delivered = DELIVERED.load(Ordering::Relaxed) - before;
            assert_eq!(delivered, 1, "signal {number}");
        }
    }
}
