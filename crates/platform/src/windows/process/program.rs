use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::job::{Job, is_console_event};
use super::listen::{Event, WAITING_PIECES, listen, watch};
use crate::process::buffer::Tail;
use crate::process::{Exit, Finished};
use crate::program::{Output, Program, ProgramError, Ran};
use crate::windows::clock::now_ns;
use crate::windows::usage;

/// Interval for checks of the caller's flag. Long enough not to disturb a measurement.
const GLANCE: Duration = Duration::from_millis(100);
/// Longest wait for more of the standard error after the exit: a child may hold it open.
const LAST_WORDS: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Starter;

impl Starter {
    pub fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub fn run(
        &self,
        program: &Program<'_>,
        interrupted: &AtomicBool,
    ) -> Result<Option<Ran>, ProgramError> {
        let job = Job::new()?;
        let mut command = command(program)?;
        let start_ns = now_ns();
        let mut child = job.start(&mut command, None).map_err(ProgramError::Start)?;
        let events = connect(&mut child)?;
        let mut tail = Tail::default();
        let mut has_ended = loop {
            if interrupted.load(Ordering::Acquire) {
                break false;
            }
            match events.recv_timeout(GLANCE) {
                Ok(Event::Exit) => break true,
                Ok(Event::Error(bytes)) => tail.push(&bytes),
                _ => {}
            }
        };
        let wall_ns = now_ns() - start_ns;
        if !has_ended {
            job.kill();
        }
        let status = child.wait()?;
        let exit = Exit::Code(status.code().unwrap_or(-1));
        if is_console_event(exit) {
            // It reaches this process as well, perhaps a little later.
            let deadline = Instant::now() + GLANCE;
            while !interrupted.load(Ordering::Acquire) && Instant::now() < deadline {
                thread::sleep(GLANCE / 20);
            }
            has_ended = !interrupted.load(Ordering::Acquire);
        }
        let (usage, peak_bytes) =
            usage::of_exited(child.as_handle(), job.usage()).map_err(io::Error::from)?;
        if !has_ended {
            return Ok(None);
        }
        while let Ok(event) = events.recv_timeout(LAST_WORDS) {
            if let Event::Error(bytes) = event {
                tail.push(&bytes);
            }
        }
        Ok(Some(Ran {
            wall_ns,
            finished: Finished { exit, usage },
            peak_bytes,
            stderr: tail.text(),
            was_stopped: false,
        }))
    }

    pub fn floor_bytes(&self) -> u64 {
        0
    }

    pub fn keep_leftovers(&self) {}

    pub fn end_leftovers(&self) -> usize {
        0
    }

    pub fn end_all_leftovers(&self) -> usize {
        0
    }
}

fn command(program: &Program<'_>) -> Result<Command, ProgramError> {
    let words = program.words.split_first();
    let (name, arguments) =
        words.ok_or_else(|| ProgramError::Start(io::ErrorKind::InvalidInput.into()))?;
    let stdin = program.stdin.map(File::try_clone).transpose()?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(place(program.stdout)?)
        .stderr(place(program.stderr)?);
    Ok(command)
}

fn place(output: Output<'_>) -> io::Result<Stdio> {
    Ok(match output {
        Output::Null => Stdio::null(),
        Output::Pipe => Stdio::piped(),
        Output::Inherit => Stdio::inherit(),
        Output::Errors => io::stderr().into(),
        Output::File(file) => file.try_clone()?.into(),
    })
}

fn connect(child: &mut Child) -> io::Result<Receiver<Event>> {
    let (sender, events) = sync_channel(WAITING_PIECES);
    if let Some(stdout) = child.stdout.take() {
        listen(stdout, sender.clone(), |_| Event::Output(Vec::new()), None)?;
    }
    if let Some(stderr) = child.stderr.take() {
        listen(stderr, sender.clone(), Event::Error, None)?;
    }
    watch(child.as_handle().try_clone_to_owned()?, sender)?;
    Ok(events)
}
