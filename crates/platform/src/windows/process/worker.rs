use std::io::{self, Read, Write};
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::System::JobObjects::{
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
};
use windows_sys::Win32::System::Threading::{INFINITE, WaitForSingleObject};

use super::Job;
use crate::process::{
    Exit, Finished, Limit, LineBuffer, Tail, WorkerError, WorkerLimits, WorkerOptions,
};
use crate::windows::usage;

/// Interval for checks of the caller's flag. Long enough not to disturb a measurement.
const POLL_INTERVAL_NS: u64 = 100_000_000;
/// Longest wait for the rest of the output after the exit of the whole job.
const LAST_WORDS: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct RawWorker {
    child: Child,
    job: Job,
    /// `None` once its standard input is closed.
    input: Option<Sender<Vec<u8>>>,
    events: Receiver<Event>,
    output_ended: bool,
    /// True while it has not taken all that was sent.
    is_sending: bool,
    /// True once it takes nothing more.
    has_refused: bool,
    pub(crate) lines: LineBuffer,
    pub(crate) tail: Tail,
    pub(crate) finished: Option<Finished>,
}

impl RawWorker {
    pub(crate) fn spawn(
        mut command: Command,
        options: &WorkerOptions<'_>,
    ) -> Result<Self, WorkerError> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let job = Job::new().map_err(WorkerError::Spawn)?;
        job.limit(&limits(options.limits))
            .map_err(WorkerError::Spawn)?;
        let mut child = job
            .start(&mut command, options.pin_cpu)
            .map_err(WorkerError::Spawn)?;
        let (input, events) = connect(&mut child).map_err(WorkerError::Spawn)?;
        Ok(Self {
            child,
            job,
            input: Some(input),
            events,
            output_ended: false,
            is_sending: false,
            has_refused: false,
            lines: LineBuffer::default(),
            tail: Tail::default(),
            finished: None,
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.output_ended
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn send(&mut self, bytes: &[u8], limit: Limit<'_>) -> Result<bool, WorkerError> {
        self.is_sending = match &self.input {
            Some(input) => input.send(bytes.to_vec()).is_ok(),
            None => false,
        };
        self.has_refused |= !self.is_sending;
        while self.is_sending {
            self.wait_for_output(limit)?;
        }
        // It may have taken all, answered and exited before this process saw any of that.
        Ok(!self.has_refused)
    }

    pub(crate) fn wait_for_output(&mut self, limit: Limit<'_>) -> Result<(), WorkerError> {
        let interval = Duration::from_nanos(limit.left_ns()?.min(POLL_INTERVAL_NS));
        match self.events.recv_timeout(interval) {
            Ok(Event::Exit) => self.reap().map(drop),
            Ok(event) => {
                self.note(event);
                Ok(())
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
            // One of the threads reports the exit before it ends.
            Err(RecvTimeoutError::Disconnected) => {
                Err(WorkerError::Io(io::ErrorKind::BrokenPipe.into()))
            }
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Output(bytes) => self.lines.push(&bytes),
            Event::OutputEnd => self.output_ended = true,
            Event::Error(bytes) => self.tail.push(&bytes),
            Event::Input(taken) => {
                self.is_sending = false;
                if taken.is_err() {
                    self.has_refused = true;
                    self.input = None;
                }
            }
            Event::Exit => {}
        }
    }

    /// Also reads the rest of its output.
    pub(crate) fn reap(&mut self) -> Result<Finished, WorkerError> {
        self.job.kill();
        let status = self.child.wait().map_err(WorkerError::Io)?;
        let (usage, _) = usage::of_exited(self.child.as_handle(), self.job.usage())
            .map_err(|error| WorkerError::Io(error.into()))?;
        let finished = Finished {
            exit: Exit::Code(status.code().unwrap_or(-1)),
            usage,
        };
        self.finished = Some(finished);
        self.input = None;
        while let Ok(event) = self.events.recv_timeout(LAST_WORDS) {
            self.note(event);
        }
        self.output_ended = true;
        self.is_sending = false;
        Ok(finished)
    }
}

/// The limits of a job, which ends with its last handle: at the latest when this process ends.
fn limits(limits: WorkerLimits) -> JOBOBJECT_EXTENDED_LIMIT_INFORMATION {
    let mut information = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let basic = &mut information.BasicLimitInformation;
    basic.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if let Some(bytes) = limits.address_space_bytes {
        basic.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_MEMORY;
        information.ProcessMemoryLimit = bytes as usize;
    }
    information
}

/// Starts the threads for those of its standard streams that are pipes, and for its exit.
pub(super) fn connect(child: &mut Child) -> io::Result<(Sender<Vec<u8>>, Receiver<Event>)> {
    let (input, bytes) = channel();
    let (sender, events) = sync_channel(WAITING_PIECES);
    if let Some(stdout) = child.stdout.take() {
        let end = Some(Event::OutputEnd);
        listen(stdout, sender.clone(), Event::Output, end)?;
    }
    if let Some(stderr) = child.stderr.take() {
        listen(stderr, sender.clone(), Event::Error, None)?;
    }
    if let Some(stdin) = child.stdin.take() {
        write(stdin, bytes, sender.clone())?;
    }
    watch(child.as_handle().try_clone_to_owned()?, sender)?;
    Ok((input, events))
}

// Threads that wait for the pipes and the exit of a process, since no call waits for both.

/// Pieces that may wait for the receiver. Beyond that, the process waits for it.
const WAITING_PIECES: usize = 64;
/// Stack of each of these threads, in bytes. They call little.
const STACK_BYTES: usize = 128 << 10;

#[derive(Debug)]
pub(super) enum Event {
    /// It wrote this to its standard output.
    Output(Vec<u8>),
    /// Its standard output is closed.
    OutputEnd,
    /// It wrote this to its standard error.
    Error(Vec<u8>),
    /// It took what was sent to its standard input, or takes nothing more.
    Input(io::Result<()>),
    /// It has exited.
    Exit,
}

/// Passes on what comes out of a pipe, and at its end `end`.
fn listen(
    mut pipe: impl Read + Send + 'static,
    events: SyncSender<Event>,
    event: fn(Vec<u8>) -> Event,
    end: Option<Event>,
) -> io::Result<()> {
    start(move || {
        let mut piece = [0; 16 << 10];
        while let Ok(len @ 1..) = pipe.read(&mut piece) {
            if events.send(event(piece[..len].to_vec())).is_err() {
                return;
            }
        }
        if let Some(end) = end {
            // Without a receiver, nobody wants to know.
            let _ = events.send(end);
        }
    })
}

/// Writes what comes in to a pipe, and closes it at the end.
fn write(
    mut pipe: impl Write + Send + 'static,
    input: Receiver<Vec<u8>>,
    events: SyncSender<Event>,
) -> io::Result<()> {
    start(move || {
        for bytes in input {
            if events.send(Event::Input(pipe.write_all(&bytes))).is_err() {
                return;
            }
        }
    })
}

/// Waits for the exit of a process.
fn watch(process: OwnedHandle, events: SyncSender<Event>) -> io::Result<()> {
    start(move || {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(process.as_raw_handle(), INFINITE) };
        // Without a receiver, nobody wants to know.
        let _ = events.send(Event::Exit);
    })
}

fn start(body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(body).map(drop)
}
