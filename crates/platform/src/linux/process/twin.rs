use std::io;

use crate::error::{Error, Result};

/// A copy of this process that only shares its memory: until one of them writes to a page, both
/// have the same page ([fork(2)](https://man7.org/linux/man-pages/man2/fork.2.html)). It exits when
/// this value is dropped, or with its parent.
// A forked child that sleeps until it is killed.
#[derive(Debug)]
pub struct Twin {
    child: libc::pid_t,
}

impl Twin {
    /// Creates the copy.
    ///
    /// # Errors
    /// If the system allows no more processes, or has too little memory.
    pub fn fork() -> Result<Self> {
        // SAFETY: the child makes system calls only, which is safe even if other threads held locks
        // during the fork.
        match unsafe { libc::fork() } {
            -1 => Err(Error::os("fork")(io::Error::last_os_error())),
            0 => loop {
                // SAFETY: neither call touches memory. The child exits if its parent dies.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    libc::pause();
                }
            },
            child => Ok(Self { child }),
        }
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: the child has not been waited for yet, so the process id is still its own.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
        }
    }
}
