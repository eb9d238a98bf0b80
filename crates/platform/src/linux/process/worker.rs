use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getpid, getrlimit,
    kill_process_group, pidfd_open, setrlimit, waitid,
};

use super::{die_with, take, wait4};
use crate::linux::clock::timespec;
use crate::linux::confinement::MemoryGroup;
use crate::linux::placement::CpuSet;
use crate::linux::stop::{Follower, Starting};
use crate::process::{Finished, Limit, LineBuffer, Tail, WorkerError, WorkerLimits, WorkerOptions};

/// Interval for checks of the caller's flag and of the worker's exit. Long enough not to disturb a
/// measurement.
const POLL_INTERVAL_NS: u64 = 100_000_000;
/// The interval after the worker has closed its output and is about to exit, if the kernel cannot
/// report the exit.
const LAST_POLL_INTERVAL_NS: u64 = 1_000_000;

/// A worker and its pipes.
#[derive(Debug)]
pub(crate) struct RawWorker {
    pid: Pid,
    /// Readable after the worker has exited; `None` before Linux 5.3 and where pidfds are
    /// forbidden.
    pidfd: Option<OwnedFd>,
    /// A socket, not a pipe: a socket can be written to without SIGPIPE, whose action belongs to
    /// the whole program.
    stdin: Option<UnixStream>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    pub(crate) lines: LineBuffer,
    pub(crate) tail: Tail,
    pub(crate) finished: Option<Finished>,
    /// Until it has exited.
    follower: Option<Follower>,
}

impl RawWorker {
    pub(crate) fn spawn(
        mut command: Command,
        options: &WorkerOptions<'_>,
    ) -> Result<Self, WorkerError> {
        let (stdin, workers_end) = UnixStream::pair().map_err(WorkerError::Spawn)?;
        command
            .stdin(OwnedFd::from(workers_end))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let parent = getpid();
        let cpus = options.pin_cpu.map(|cpu| CpuSet::new(&[cpu]));
        let entrance = options
            .memory_group
            .map(MemoryGroup::entrance)
            .transpose()
            .map_err(WorkerError::Spawn)?;
        let limits = options.limits;
        // SAFETY: the closure makes system calls only; it neither allocates nor locks.
        unsafe {
            command.pre_exec(move || prepare(parent, cpus.as_ref(), entrance.as_ref(), limits));
        }
        let starting = Starting::begin();
        let mut child = command.spawn().map_err(WorkerError::Spawn)?;
        // The command holds this process's copy of the worker's end of the socket.
        drop(command);

        let pid = Pid::from_child(&child);
        let worker = Self {
            pid,
            pidfd: pidfd_open(pid, PidfdFlags::empty()).ok(),
            stdin: Some(stdin),
            stdout: child.stdout.take().map(OwnedFd::from),
            stderr: child.stderr.take().map(OwnedFd::from),
            lines: LineBuffer::default(),
            tail: Tail::default(),
            finished: None,
            follower: Some(starting.follow(pid)),
        };
        for pipe in [&worker.stdout, &worker.stderr].into_iter().flatten() {
            fcntl_getfl(pipe)
                .and_then(|flags| fcntl_setfl(pipe, flags | OFlags::NONBLOCK))
                .map_err(|errno| WorkerError::Spawn(errno.into()))?;
        }
        Ok(worker)
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn has_output(&self) -> bool {
        self.stdout.is_some()
    }

    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn send(&mut self, bytes: &[u8], limit: Limit<'_>) -> Result<bool, WorkerError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.stdin.is_none() {
                return Ok(false);
            }
            let sent = self.exchange(rest, POLL_INTERVAL_NS, limit)?;
            rest = &rest[sent..];
        }
        Ok(true)
    }

    pub(crate) fn wait_for_output(&mut self, limit: Limit<'_>) -> Result<(), WorkerError> {
        if self.stdout.is_none() {
            self.reap_if_ended()?;
            if self.finished.is_some() {
                return Ok(());
            }
        }
        let is_seen = self.stdout.is_some() || self.pidfd.is_some();
        let interval_ns = if is_seen {
            POLL_INTERVAL_NS
        } else {
            LAST_POLL_INTERVAL_NS
        };
        self.exchange(&[], interval_ns, limit).map(drop)
    }

    /// Waits for at most `interval_ns` until one of these events:
    ///
    /// - the worker writes output,
    /// - its input has room, if there is data to send,
    /// - it exits, if its output is closed and there is no data to send.
    ///
    /// Then reads its output, sends data, and returns the number of bytes sent.
    fn exchange(
        &mut self,
        outgoing: &[u8],
        interval_ns: u64,
        limit: Limit<'_>,
    ) -> Result<usize, WorkerError> {
        let timeout = timespec(limit.left_ns()?.min(interval_ns));
        let stdin = self.stdin.as_ref().filter(|_| !outgoing.is_empty());
        let stdout = self.stdout.as_ref().filter(|_| self.lines.has_room());
        let stderr = self.stderr.as_ref();
        let is_done = self.stdout.is_none() && outgoing.is_empty();
        let pidfd = self.pidfd.as_ref().filter(|_| is_done);
        let mut fds: Vec<PollFd<'_>> = [
            stdin.map(|fd| PollFd::new(fd, PollFlags::OUT)),
            stdout.map(|fd| PollFd::new(fd, PollFlags::IN)),
            stderr.map(|fd| PollFd::new(fd, PollFlags::IN)),
            pidfd.map(|fd| PollFd::new(fd, PollFlags::IN)),
        ]
        .into_iter()
        .flatten()
        .collect();
        match poll(&mut fds, Some(&timeout)) {
            // A child of the worker may hold its pipes open.
            Ok(0) => {
                self.reap_if_ended()?;
                return Ok(0);
            }
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(0),
            Err(errno) => return Err(WorkerError::Io(errno.into())),
        }
        // None of these calls blocks, so there is no need to check which is ready.
        self.take(1)?;
        self.write(outgoing)
    }

    /// Reads at most `pieces` pieces from each of its outputs.
    fn take(&mut self, pieces: usize) -> Result<(), WorkerError> {
        if self.lines.has_room() {
            take(&mut self.stdout, pieces, |bytes| self.lines.push(bytes))
                .map_err(WorkerError::Io)?;
        }
        take(&mut self.stderr, pieces, |bytes| self.tail.push(bytes)).map_err(WorkerError::Io)
    }

    /// Sends as much as its input accepts now.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, WorkerError> {
        let Some(stdin) = self.stdin.as_ref().filter(|_| !bytes.is_empty()) else {
            return Ok(0);
        };
        match send(stdin, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(Errno::PIPE | Errno::CONNRESET) => {
                self.stdin = None;
                Ok(0)
            }
            Err(errno) => Err(WorkerError::Io(errno.into())),
        }
    }

    fn reap_if_ended(&mut self) -> Result<(), WorkerError> {
        if self.finished.is_some() {
            return Ok(());
        }
        // It remains a zombie, so that its process id still names its group in `reap`.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), look) {
            Ok(Some(_)) => self.reap().map(drop),
            Ok(None) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(WorkerError::Io(errno.into())),
        }
    }

    pub(crate) fn reap(&mut self) -> Result<Finished, WorkerError> {
        // It fails only if the group is empty.
        let _ = kill_process_group(self.pid, Signal::KILL);
        self.follower = None;
        let (finished, _) = wait4(self.pid).map_err(WorkerError::Io)?;
        self.finished = Some(finished);
        self.take(usize::MAX)?;
        self.stdin = None;
        self.stdout = None;
        self.stderr = None;
        Ok(finished)
    }
}

/// Steps of the child before it becomes the worker.
fn prepare(
    parent: Pid,
    cpus: Option<&CpuSet>,
    group: Option<&OwnedFd>,
    limits: WorkerLimits,
) -> io::Result<()> {
    die_with(parent)?;
    if let Some(group) = group {
        // 0 means the writing process.
        rustix::io::write(group, b"0")?;
    }
    cpus.map_or(Ok(()), CpuSet::pin)?;
    lower(Resource::As, limits.address_space_bytes)?;
    lower(Resource::Fsize, limits.file_bytes)
}

/// Lowers a limit to `most`, unless it is lower already.
fn lower(resource: Resource, most: Option<u64>) -> io::Result<()> {
    let Some(most) = most else {
        return Ok(());
    };
    let found = getrlimit(resource);
    let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    setrlimit(
        resource,
        Rlimit {
            current: least(found.current),
            maximum: least(found.maximum),
        },
    )?;
    Ok(())
}
