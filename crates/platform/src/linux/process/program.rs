use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::wait::wait4;
use crate::linux::clock::{now_ns, timespec};
use crate::process::buffer::Tail;
use crate::program::Ran;

/// Interval for checks of the caller's flag. Long enough not to disturb a measurement.
const GLANCE_NS: u64 = 100_000_000;
/// The interval if the kernel cannot report the exit: before Linux 5.3, or where pidfds are
/// forbidden.
const BLIND_GLANCE_NS: u64 = 200_000;

pub(crate) fn run(command: &mut Command, interrupted: &AtomicBool) -> io::Result<Option<Ran>> {
    command.process_group(0);
    let start_ns = now_ns();
    let child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let mut program = Program::new(child)?;
    let has_ended = program.wait(pid, interrupted);
    let wall_ns = now_ns() - start_ns;
    if !matches!(has_ended, Ok(true)) {
        // It fails only if the group is empty.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let (finished, peak_bytes) = wait4(pid)?;
    if !has_ended? {
        return Ok(None);
    }
    program.drain()?;
    Ok(Some(Ran {
        wall_ns,
        finished,
        peak_bytes,
        stderr: program.tail.text(),
    }))
}

/// A running program and its output.
struct Program {
    /// Readable after its exit.
    life: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    tail: Tail,
}

impl Program {
    fn new(child: Child) -> io::Result<Self> {
        let life = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
        let stdout = child.stdout.map(OwnedFd::from);
        let stderr = child.stderr.map(OwnedFd::from);
        for pipe in stdout.iter().chain(&stderr) {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            life,
            stdout,
            stderr,
            tail: Tail::default(),
        })
    }

    /// Waits for its exit and drains its pipes; false if the caller's flag was set first.
    fn wait(&mut self, pid: Pid, interrupted: &AtomicBool) -> io::Result<bool> {
        loop {
            if interrupted.load(Ordering::Acquire) {
                return Ok(false);
            }
            let all = [&self.life, &self.stdout, &self.stderr];
            let mut fds: Vec<PollFd<'_>> = all
                .into_iter()
                .flatten()
                .map(|fd| PollFd::new(fd, PollFlags::IN))
                .collect();
            let glance_ns = self.life.as_ref().map_or(BLIND_GLANCE_NS, |_| GLANCE_NS);
            match poll(&mut fds, Some(&timespec(glance_ns))) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let has_ended = match &self.life {
                Some(_) => !fds[0].revents().is_empty(),
                None => has_ended(pid)?,
            };
            if has_ended {
                return Ok(true);
            }
            self.drain()?;
        }
    }

    /// Reads what its pipes hold now.
    fn drain(&mut self) -> io::Result<()> {
        let Self {
            stdout,
            stderr,
            tail,
            ..
        } = self;
        take(stdout, |_| ())?;
        take(stderr, |bytes| tail.push(bytes))
    }
}

/// True if the process has exited; it stays a zombie.
fn has_ended(pid: Pid) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid), look) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Hands the available bytes of a non-blocking pipe to `sink`, and closes the pipe at its end.
fn take(pipe: &mut Option<OwnedFd>, mut sink: impl FnMut(&[u8])) -> io::Result<()> {
    let mut piece = [0; 16 << 10];
    while let Some(open) = pipe {
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

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    use crate::process::Exit;
    use crate::program::{Ran, run};

    fn shell(text: &str) -> Ran {
        let mut command = Command::new("sh");
        command
            .args(["-c", text])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ran = run(&mut command, &AtomicBool::new(false)).unwrap();
        ran.expect("nobody interrupted it")
    }

    #[test]
    fn a_program_runs_to_its_end() {
        let begin = Instant::now();
        let ran = shell("sleep 0.05; echo gone wrong >&2; exit 3");
        let outside_ns = begin.elapsed().as_nanos() as u64;
        assert_eq!(ran.finished.exit, Exit::Code(3));
        assert_eq!(ran.stderr, "gone wrong\n");
        assert!((1..=outside_ns).contains(&ran.wall_ns), "{ran:?}");
        assert!(ran.peak_bytes > 0, "{ran:?}");
        let killed = shell("kill -TERM $$");
        assert_eq!(killed.finished.exit, Exit::Signal(15));
    }

    #[test]
    fn more_output_than_a_pipe_holds_is_taken() {
        let ran = shell("head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2; echo end >&2");
        assert!(ran.finished.exit.is_success());
        assert!(ran.stderr.ends_with("end\n"));
    }

    #[test]
    fn a_child_that_keeps_the_pipe_does_not_delay_the_end() {
        // The child lives as long as this directory, which goes when the program has ended.
        let lease = tempfile::tempdir().unwrap();
        let path = lease.path().display().to_string();
        let program = std::thread::spawn(move || {
            shell(&format!(
                "while [ -d '{path}' ]; do sleep 0.05; done & echo started"
            ))
        });
        let ran = testing::joined("the end of the program before its child's", program);
        assert!(ran.finished.exit.is_success());
    }

    #[test]
    fn an_interrupted_program_is_killed() {
        let mut command = Command::new("sleep");
        command.arg("60").stdin(Stdio::null());
        let interrupted = AtomicBool::new(true);
        assert_eq!(run(&mut command, &interrupted).unwrap(), None);
        let missing = run(&mut Command::new("/dev/null/none"), &interrupted);
        missing.unwrap_err();
    }
}
