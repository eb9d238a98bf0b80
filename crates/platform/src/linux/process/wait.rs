use std::io;
use std::mem::MaybeUninit;

use rustix::process::Pid;

use crate::linux::rusage::from_rusage;
use crate::process::{Exit, Finished};

const KIB: u64 = 1024;

/// Waits for the exit of a child. The second result is its peak resident memory in bytes, or that of
/// a process that it waited for.
pub(super) fn wait4(pid: Pid) -> io::Result<(Finished, u64)> {
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
    let usage = unsafe { usage.assume_init_ref() };
    let finished = Finished {
        exit,
        usage: from_rusage(usage),
    };
    Ok((finished, usage.ru_maxrss as u64 * KIB))
}
