use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_parent_process_death_signal,
    waitpid,
};

use super::placement::CpuSet;
use crate::error::{Error, Result};

/// A copy of this process, on a CPU of its own, that runs one function. It is killed when this
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
            return Err(Error::NotSupported { what });
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
                    let ready = prepare(parent, cpu);
                    let errno = ready.err().and_then(|error| error.raw_os_error());
                    let told = writer.write_all(&errno.unwrap_or(0).to_le_bytes());
                    drop(writer);
                    if told.is_ok() && errno.is_none() {
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
                let partner = Self {
                    pid: Pid::from_raw(pid).expect("the number of a process is positive"),
                };
                let mut errno = [0; 4];
                reader.read_exact(&mut errno).map_err(Error::os(action))?;
                match i32::from_le_bytes(errno) {
                    0 => Ok(partner),
                    errno => Err(Error::os(action)(io::Error::from_raw_os_error(errno))),
                }
            }
        }
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // It may have exited already. Then it remains a zombie until it is waited for, so the
        // process id is still its own.
        let _ = kill_process(self.pid, Signal::KILL);
        while matches!(
            waitpid(Some(self.pid), WaitOptions::empty()),
            Err(rustix::io::Errno::INTR)
        ) {}
    }
}

fn threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

/// Steps of the copy before it counts as started.
fn prepare(parent: Pid, cpu: usize) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before that call, and no signal would come.
    if getppid() != Some(parent) {
        return Err(rustix::io::Errno::SRCH.into());
    }
    CpuSet::new(&[cpu]).pin()
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
}
