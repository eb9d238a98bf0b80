use std::io;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::{Error, Result};

/// Computes a value in a child process: one `pipe` and one `fork`; in the child `compute`, one
/// `write` of the value and `_exit`; in the parent one `read`, closing both ends, and `waitpid`.
///
/// The child has a copy of the calling thread only: `compute` should neither allocate nor take
/// locks, which another thread may have held. If it panics, the child exits and this call fails.
///
/// # Errors
/// If no pipe or process can be created, or the child does not send its value.
pub fn value(compute: impl FnOnce() -> u64) -> Result<u64> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::os("make a pipe"))?;
    // SAFETY: the child runs `compute` and then calls only `write` and `_exit`; it never returns
    // into the parent's code, not even by unwinding.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(Error::os("fork")(io::Error::last_os_error())),
        0 => {
            let _unwinding_ends_here = End(1);
            let value = compute();
            let written = rustix::io::write(&writer, &value.to_ne_bytes());
            End(i32::from(written != Ok(size_of::<u64>()))).now()
        }
        child => child,
    };
    // With a writer open here, the read would never end if the child dies.
    drop(writer);
    let mut bytes = [0; size_of::<u64>()];
    let read = loop {
        match rustix::io::read(&reader, &mut bytes) {
            Err(Errno::INTR) => {}
            // A message this short arrives whole.
            other => break other,
        }
    };
    super::call::wait(child)?;
    match read {
        Ok(len) if len == bytes.len() => Ok(u64::from_ne_bytes(bytes)),
        Ok(_) => Err(Error::os("read what a child computed")(io::Error::from(
            io::ErrorKind::UnexpectedEof,
        ))),
        Err(errno) => Err(Error::os("read what a child computed")(errno)),
    }
}

/// Exits this process when it goes out of scope.
struct End(i32);

impl End {
    fn now(self) -> ! {
        // SAFETY: it ends the process without running any code of the parent.
        unsafe { libc::_exit(self.0) }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        Self(self.0).now()
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn a_child_gives_its_value() {
        let base = 40;
        assert_eq!(value(|| base + 2).unwrap(), 42);
        assert_eq!(value(|| u64::MAX).unwrap(), u64::MAX);
    }

    #[test]
    fn a_child_that_panics_is_an_error_here() {
        value(|| panic!("in the child")).unwrap_err();
    }
}
