use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use super::placement::CpuSet;
use super::process::die_with;
use crate::error::{Error, Result};

/// A copy of this process, on a separate CPU, that runs one function. It is killed when this
/// value is dropped, and when the thread that started it exits, so that it never outlives its
/// parent.
#[derive(Debug)]
pub struct Partner {
    pid: Pid,
}

impl Partner {
    /// Copies this process; the copy runs `body` on `cpu` and exits. Returns when the copy exists
    /// and is pinned.
    ///
    /// The body should run until it is killed or has no more work. It shares this process's
    /// standard output.
    ///
    /// # Errors
    /// If no process can be created, it cannot be pinned, or this process has several threads: a
    /// copy has only the calling thread, and locks held by other threads would never be released.
    pub fn start(cpu: usize, body: impl FnOnce()) -> Result<Self> {
        if threads().map_err(Error::os("count the threads of this process"))? != 1 {
            let what = "a partner of a process with several threads";
            return Err(Error::NotSupported(what));
        }
        let action = "start a partner process";
        let (mut reader, mut writer) = io::pipe().map_err(Error::os(action))?;
        let parent = getpid();
        // SAFETY: this process has one thread only, so the copy is as complete as the original.
        match unsafe { libc::fork() } {
            -1 => Err(Error::os(action)(io::Error::last_os_error())),
            0 => {
                drop(reader);
                let run = || {
                    let ready = die_with(parent).and_then(|()| CpuSet::new(&[cpu]).pin());
                    let errno = ready.err().and_then(|error| error.raw_os_error());
                    let written = writer.write_all(&errno.unwrap_or(0).to_le_bytes());
                    drop(writer);
                    if written.is_ok() && errno.is_none() {
                        body();
                    }
                };
                // The copy must not unwind the parent's stack frames.
                if catch_unwind(AssertUnwindSafe(run)).is_err() {
                    abort();
                }
                // SAFETY: it ends the copy without running any code of the parent.
                unsafe { libc::_exit(0) }
            }
            pid => {
                drop(writer);
                let partner = Self::of_child(pid);
                let mut errno = [0; 4];
                reader.read_exact(&mut errno).map_err(Error::os(action))?;
                match i32::from_le_bytes(errno) {
                    0 => Ok(partner),
                    errno => Err(Error::os(action)(io::Error::from_raw_os_error(errno))),
                }
            }
        }
    }

    /// The child that `fork` has just returned.
    pub(super) fn of_child(pid: libc::pid_t) -> Self {
        let pid = Pid::from_raw(pid).expect("the number of a process is positive");
        Self { pid }
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // It may have exited already. Then it remains a zombie until it is waited for, so the
        // process id is still its own.
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
    }
}

/// A copy of this process that only shares its memory: until one of them writes to a page, both
/// have the same page ([fork(2)](https://man7.org/linux/man-pages/man2/fork.2.html)). It exits when
/// this value is dropped, or with its parent.
// A forked child that sleeps until it is killed.
#[derive(Debug)]
pub struct Twin {
    _child: Partner,
}

impl Twin {
    /// Creates the copy.
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
            child => Ok(Self {
                _child: Partner::of_child(child),
            }),
        }
    }
}

fn threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

/// Two connected Unix stream sockets.
pub fn unix_socket_pair() -> Result<(File, File)> {
    let (one, other) = UnixStream::pair().map_err(Error::os("make a pair of sockets"))?;
    Ok((OwnedFd::from(one).into(), OwnedFd::from(other).into()))
}

/// A counter. A write adds the 8 bytes written to it. A read waits until the counter is not zero,
/// returns its 8 bytes and sets it to zero
/// ([eventfd(2)](https://man7.org/linux/man-pages/man2/eventfd.2.html)).
pub fn event_counter() -> Result<File> {
    let counter = eventfd(0, EventfdFlags::CLOEXEC).map_err(Error::os("make an eventfd"))?;
    Ok(counter.into())
}

/// Computes a value in a child process: one `pipe` and one `fork`; in the child `compute`, one
/// `write` of the value and `_exit`; in the parent one `read`, closing both ends, and `waitpid`.
///
/// The child has a copy of the calling thread only: `compute` should neither allocate nor take
/// locks, which another thread may have held. If it panics, the child exits and this call fails.
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
    // A message this short arrives whole.
    let read = retry_on_intr(|| rustix::io::read(&reader, &mut bytes));
    super::call::wait(child)?;
    match read {
        Ok(len) if len == bytes.len() => Ok(u64::from_ne_bytes(bytes)),
        Ok(_) => Err(Error::os("read what a child computed")(
            io::ErrorKind::UnexpectedEof,
        )),
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
    use super::*;

    #[test]
    fn a_process_with_several_threads_has_no_partner() {
        // The test harness has at least one more thread, which waits for this one.
        let error = Partner::start(0, || {}).unwrap_err();
        assert!(error.to_string().contains("several threads"), "{error}");
    }

    #[test]
    fn what_goes_in_at_one_end_comes_out_at_the_other() {
        let (mut one, mut other) = unix_socket_pair().unwrap();
        one.write_all(b"word").unwrap();
        let mut word = [0; 4];
        other.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"word");
        drop(other);
        assert_eq!(one.read(&mut word).unwrap(), 0);
    }

    #[test]
    fn a_counter_adds_up_and_starts_anew() {
        let mut counter = event_counter().unwrap();
        counter.write_all(&2_u64.to_ne_bytes()).unwrap();
        counter.write_all(&3_u64.to_ne_bytes()).unwrap();
        let mut sum = [0; 8];
        counter.read_exact(&mut sum).unwrap();
        assert_eq!(u64::from_ne_bytes(sum), 5);
        counter.write_all(&1_u64.to_ne_bytes()).unwrap();
        counter.read_exact(&mut sum).unwrap();
        assert_eq!(u64::from_ne_bytes(sum), 1);
    }

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
