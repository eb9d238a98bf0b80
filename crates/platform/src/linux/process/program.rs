use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, kill_process,
    kill_process_group, pidfd_open, waitid,
};

use super::starter::{Helper, Started};
use super::{Leftovers, Terminal, die_with, end, put_in_foreground, take, wait4};
use crate::linux::clock::{now_ns, timespec};
use crate::linux::stop::{Starting, pauses, stop_here};
use crate::linux::usage::{moved_bytes, peak_bytes};
use crate::process::{Exit, Tail};
use crate::program::{Output, Program, ProgramError, Ran};
use crate::usage::Consumption;

/// Interval for checks of the caller's flag. Long enough not to disturb a measurement.
const POLL_INTERVAL_NS: u64 = 100_000_000;
/// The interval if the kernel cannot report the exit: before Linux 5.3, or where pidfds are
/// forbidden.
const BLIND_POLL_INTERVAL_NS: u64 = 200_000;
/// Time after which a program that something stopped counts as stopped for good.
const LONGEST_STOP_NS: u64 = 1_000_000_000;
/// [`Starter::floor_bytes`] holds for programs with at most this many bytes of environment variables.
const LARGEST_VARIABLES: usize = 8 << 10;
/// A program that is stopped more often than this for using the terminal, although it was lent, is given up.
const MOST_LOANS: usize = 20;
/// The kernel sums the memory of a process over its processors, and lags behind by about as much.
const KERNEL_ERROR_BYTES: u64 = 2 << 20;

/// Starts programs, one at a time.
///
/// Each program has the environment and the working directory of this process, unless the request has others.
/// It has a separate process group, so that Ctrl-C on a terminal reaches only this process.
/// On Linux:
///
/// - It is killed when the thread that made the starter exits: keep that thread.
/// - If it is stopped because it uses the terminal, it becomes the foreground group of this process's
///   terminal, and so does each later program, from its start. The terminal and its modes are restored
///   after each. If Ctrl-C or Ctrl-\ ends such a program, this process gets the same signal.
/// - Processes that it leaves behind become children of this process, also those in other sessions.
///   Dropping the starter ends them.
#[derive(Debug)]
pub struct Starter {
    /// `None` where the system does not allow it: this process starts programs itself then.
    helper: Option<Helper>,
    /// Peak memory of the helper.
    helper_bytes: u64,
    leftovers: Leftovers,
    /// True once a program has used the terminal.
    lends_terminal: Cell<bool>,
    null: File,
}

impl Starter {
    /// Prepares to start programs.
    pub fn new() -> io::Result<Self> {
        Self::with(Helper::start().ok())
    }

    fn with(helper: Option<Helper>) -> io::Result<Self> {
        let mut starter = Self {
            leftovers: Leftovers::new(helper.as_ref().map(Helper::pid)),
            helper,
            helper_bytes: 0,
            lends_terminal: Cell::new(false),
            null: OpenOptions::new()
                .read(true)
                .write(true)
                .open("/dev/null")?,
        };
        // The helper is as large as it gets after its first request. A directory cannot be executed.
        let request = Program {
            words: &["/".into()],
            environment: &[("OSCOPE_LARGEST", "x".repeat(LARGEST_VARIABLES))],
            ..Program::default()
        };
        let _ = starter.run(&request, &AtomicBool::new(false));
        let helper = starter.helper.as_ref();
        starter.helper_bytes = helper.and_then(Helper::peak_bytes).unwrap_or(0);
        Ok(starter)
    }

    /// Peak memory that each program has at least, in bytes: a process begins as a copy of the one
    /// that starts it. This is that of a process of a few pages, or, if the system does not
    /// allow one, of this process. 0 on Windows, where it does not count.
    pub fn floor_bytes(&self) -> u64 {
        match (&self.helper, Consumption::read()) {
            (Some(_), _) => self.helper_bytes,
            (None, Ok(own)) => own.own_peak_bytes + KERNEL_ERROR_BYTES,
            (None, Err(_)) => u64::MAX,
        }
    }

    /// Lets processes that programs have left behind so far run until the starter is dropped.
    pub fn keep_leftovers(&self) {
        let running = self.leftovers.running();
        self.leftovers.kept.borrow_mut().extend(running);
    }

    /// Ends the other processes that programs have left behind: by SIGTERM, and soon after by
    /// SIGKILL. Returns their number. 0 on Windows, where they are left alone.
    pub fn end_leftovers(&self) -> usize {
        let kept = self.leftovers.kept.borrow();
        end(|| {
            let running = self.leftovers.running();
            running.filter(|child| !kept.contains(child)).collect()
        })
    }

    /// As [`Starter::end_leftovers`], also for those that were kept.
    pub fn end_all_leftovers(&self) -> usize {
        end(|| self.leftovers.running().collect())
    }

    /// Runs a program to its end. `None` if `interrupted` became true: the program and the rest of
    /// its group were killed.
    pub fn run(
        &self,
        program: &Program<'_>,
        interrupted: &AtomicBool,
    ) -> Result<Option<Ran>, ProgramError> {
        let pauses_before = pauses();
        let stdout = Pipe::for_output(program.stdout)?;
        let stderr = Pipe::for_output(program.stderr)?;
        let files = [
            program.stdin.map_or(self.null.as_fd(), AsFd::as_fd),
            self.file(program.stdout, stdout.as_ref(), rustix::stdio::stdout()),
            self.file(program.stderr, stderr.as_ref(), rustix::stdio::stderr()),
        ];
        let lends_terminal = self.lends_terminal.get();
        let terminal = lends_terminal.then(Terminal::of_foreground).flatten();
        let lent = terminal.as_ref().map(AsFd::as_fd);
        let starting = Starting::begin();
        let started = match &self.helper {
            Some(helper) => helper.run(program, files, lent),
            None => start_here(program, files, lent),
        };
        let started = started.map_err(ProgramError::Start)?;
        let follower = starting.follow(started.pid);
        let mut running = Running {
            pid: started.pid,
            pidfd: pidfd_open(started.pid, PidfdFlags::empty()).ok(),
            stdout: stdout.map(|pipe| pipe.reader),
            stderr: stderr.map(|pipe| pipe.reader),
            tail: Tail::default(),
            terminal,
            was_stopped: false,
            loans: 0,
            stopped_since_ns: None,
            deadline_ns: (program.limit)
                .map(|limit| started.start_ns.saturating_add(limit.as_nanos() as u64)),
            pauses_before,
        };
        let has_ended = running.wait(interrupted);
        let wall_ns = now_ns().saturating_sub(started.start_ns);
        if !matches!(has_ended, Ok(true)) {
            // The program itself may not be in its group yet, and the group may then be empty.
            let _ = kill_process_group(started.pid, Signal::KILL);
            let _ = kill_process(started.pid, Signal::KILL);
        }
        drop(follower);
        let (finished, usage) = wait4(started.pid)?;
        let terminal = running.terminal.take();
        let had_terminal = terminal.is_some();
        if let Some(terminal) = terminal {
            terminal.take_back();
            self.lends_terminal.set(true);
        }
        let helper = self.helper.as_ref();
        if let Some(failure) = helper.and_then(|helper| helper.failure(started)) {
            return Err(ProgramError::Start(failure));
        }
        if !has_ended? {
            return Ok(None);
        }
        if had_terminal && let Some(signal) = from_keyboard(finished.exit) {
            // The terminal sent it to the program alone.
            kill_process(getpid(), signal).map_err(io::Error::from)?;
            return Ok(None);
        }
        running.drain()?;
        Ok(Some(Ran {
            wall_ns,
            finished,
            peak_bytes: peak_bytes(&usage),
            moved_bytes: moved_bytes(&usage),
            stderr: running.tail.text(),
            was_stopped: running.was_stopped || pauses() != pauses_before,
        }))
    }

    fn file<'a>(
        &'a self,
        output: Output<'a>,
        pipe: Option<&'a Pipe>,
        own: BorrowedFd<'a>,
    ) -> BorrowedFd<'a> {
        match (output, pipe) {
            (Output::File(file), _) => file.as_fd(),
            (Output::Inherit, _) => own,
            (Output::Errors, _) => rustix::stdio::stderr(),
            (_, Some(pipe)) => pipe.writer.as_fd(),
            (_, None) => self.null.as_fd(),
        }
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.end_all_leftovers();
    }
}

/// A pipe from a program.
struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Pipe {
    fn for_output(output: Output<'_>) -> io::Result<Option<Self>> {
        let Output::Pipe = output else {
            return Ok(None);
        };
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        Ok(Some(Self { reader, writer }))
    }
}

/// Starts a program as a child of this process in the usual way.
fn start_here(
    program: &Program<'_>,
    files: [BorrowedFd<'_>; 3],
    terminal: Option<BorrowedFd<'_>>,
) -> io::Result<Started> {
    let [stdin, stdout, stderr] = files.map(|file| file.try_clone_to_owned().map(Stdio::from));
    let mut command = program.command()?;
    command
        .stdin(stdin?)
        .stdout(stdout?)
        .stderr(stderr?)
        .process_group(0);
    let parent = getpid();
    let terminal = terminal.map(|terminal| terminal.try_clone_to_owned());
    let terminal = terminal.transpose()?;
    // SAFETY: the closure makes system calls only; it neither allocates nor locks.
    unsafe {
        command.pre_exec(move || {
            die_with(parent)?;
            if let Some(terminal) = &terminal {
                put_in_foreground(terminal, getpid());
            }
            Ok(())
        });
    }
    let start_ns = now_ns();
    let child = command.spawn()?;
    Ok(Started {
        pid: Pid::from_child(&child),
        start_ns,
        failure: None,
    })
}

/// The signal by which the terminal has ended a program, as far as its exit shows: shells have an exit
/// code for it.
fn from_keyboard(exit: Exit) -> Option<Signal> {
    const SHELL: i32 = 128;
    [Signal::INT, Signal::QUIT].into_iter().find(|signal| {
        let number = signal.as_raw();
        exit == Exit::Signal(number) || exit == Exit::Code(SHELL + number)
    })
}

/// A running program and its output.
struct Running {
    pid: Pid,
    /// Readable after its exit.
    pidfd: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    tail: Tail,
    /// The terminal, while it is lent to the program.
    terminal: Option<Terminal>,
    was_stopped: bool,
    /// Number of times that the terminal was lent while it ran.
    loans: usize,
    stopped_since_ns: Option<u64>,
    /// The time at which it reaches its limit.
    deadline_ns: Option<u64>,
    /// Number of pauses of this process before it began.
    pauses_before: u64,
}

impl Running {
    /// Waits for its exit and drains its pipes; false if the caller's flag was set first.
    fn wait(&mut self, interrupted: &AtomicBool) -> Result<bool, ProgramError> {
        loop {
            if interrupted.load(Ordering::Acquire) {
                return Ok(false);
            }
            let all = [&self.pidfd, &self.stdout, &self.stderr];
            let mut fds: Vec<PollFd<'_>> = all
                .into_iter()
                .flatten()
                .map(|fd| PollFd::new(fd, PollFlags::IN))
                .collect();
            let interval_ns = self
                .pidfd
                .as_ref()
                .map_or(BLIND_POLL_INTERVAL_NS, |_| POLL_INTERVAL_NS);
            let rest_ns = self.deadline_ns.map(|at_ns| at_ns.saturating_sub(now_ns()));
            let interval_ns = rest_ns.map_or(interval_ns, |rest_ns| interval_ns.min(rest_ns));
            match poll(&mut fds, Some(&timespec(interval_ns))) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(io::Error::from(errno).into()),
            }
            let has_ended = match &self.pidfd {
                Some(_) => !fds[0].revents().is_empty(),
                None => look(self.pid)?.is_some_and(|status| !status.stopped()),
            };
            if has_ended {
                return Ok(true);
            }
            if rest_ns == Some(0) {
                if pauses() == self.pauses_before {
                    return Err(ProgramError::Limit);
                }
                // Its time means nothing, and it is repeated.
                self.deadline_ns = None;
            }
            self.drain()?;
            match look(self.pid)?.and_then(|status| status.stopping_signal()) {
                Some(signal) => self.handle_stop(signal)?,
                None => self.stopped_since_ns = None,
            }
        }
    }

    /// Continues a program that `signal` has stopped, if that is for this process to do.
    fn handle_stop(&mut self, signal: i32) -> Result<(), ProgramError> {
        match signal {
            libc::SIGTTIN | libc::SIGTTOU => {
                self.loans += 1;
                if self.loans > MOST_LOANS {
                    return Err(ProgramError::Stopped(signal));
                }
                let is_lent = self.terminal.as_ref().is_some_and(|it| it.is_of(self.pid));
                if !is_lent {
                    self.terminal = Terminal::of_foreground();
                    let terminal = self.terminal.as_ref().ok_or(ProgramError::NoTerminal)?;
                    put_in_foreground(terminal, self.pid);
                }
                self.resume();
            }
            libc::SIGTSTP if self.terminal.is_some() => {
                // The terminal sent it to the program alone.
                if let Some(terminal) = self.terminal.take() {
                    terminal.take_back();
                }
                stop_here();
                self.terminal = Terminal::of_foreground();
                if let Some(terminal) = &self.terminal {
                    put_in_foreground(terminal, self.pid);
                }
                self.resume();
            }
            _ => {
                let since_ns = *self.stopped_since_ns.get_or_insert_with(now_ns);
                if now_ns() - since_ns > LONGEST_STOP_NS {
                    return Err(ProgramError::Stopped(signal));
                }
            }
        }
        Ok(())
    }

    fn resume(&mut self) {
        self.was_stopped = true;
        // It fails only if the group is empty.
        let _ = kill_process_group(self.pid, Signal::CONT);
    }

    /// Reads what its pipes hold now.
    fn drain(&mut self) -> io::Result<()> {
        let Self {
            stdout,
            stderr,
            tail,
            ..
        } = self;
        take(stdout, usize::MAX, |_| ())?;
        take(stderr, usize::MAX, |bytes| tail.push(bytes))
    }
}

/// The state of a child that has exited or is stopped. It stays as it is: one that has exited is a
/// zombie.
fn look(pid: Pid) -> io::Result<Option<WaitIdStatus>> {
    // Without EXITED, the call fails if the child is a zombie.
    let wanted = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
    let now = WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid), wanted | now) {
        Ok(status) => Ok(status),
        Err(Errno::INTR) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests;
