mod worker;

use std::fs::File;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, ptr, thread};

use windows_sys::Win32::Foundation::{HANDLE, NTSTATUS, STATUS_CONTROL_C_EXIT};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicAccountingInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, OpenThread, THREAD_QUERY_INFORMATION,
    THREAD_SET_INFORMATION,
};
use worker::{Event, connect};

use super::clock::now_ns;
use super::outcome::{check, check_status, owned};
use super::placement::pin;
use super::usage;
use crate::error::absent;
use crate::process::{Exit, Finished, Tail};
use crate::program::{Output, Program, ProgramError, Ran};
use crate::usage::Usage;

pub(crate) use worker::RawWorker;

absent! {
    fn signal_name(i32) -> Option<String> = None;
}

/// Interval for checks of the caller's flag. Long enough not to disturb a measurement.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
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
        let (_, events) = connect(&mut child)?;
        let mut tail = Tail::default();
        let mut rest = program.limit;
        let mut has_ended = loop {
            if interrupted.load(Ordering::Acquire) || rest == Some(Duration::ZERO) {
                break false;
            }
            let elapsed = Duration::from_nanos(now_ns() - start_ns);
            rest = program.limit.map(|limit| limit.saturating_sub(elapsed));
            match events.recv_timeout(rest.map_or(POLL_INTERVAL, |rest| rest.min(POLL_INTERVAL))) {
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
            let deadline = Instant::now() + POLL_INTERVAL;
            while !interrupted.load(Ordering::Acquire) && Instant::now() < deadline {
                thread::sleep(POLL_INTERVAL / 20);
            }
            has_ended = !interrupted.load(Ordering::Acquire);
        }
        let (usage, consumed) =
            usage::of_exited(child.as_handle(), job.usage()).map_err(io::Error::from)?;
        if !has_ended && !interrupted.load(Ordering::Acquire) {
            return Err(ProgramError::Limit);
        }
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
            peak_bytes: consumed.own_peak_bytes,
            moved_bytes: [consumed.read_bytes, consumed.written_bytes],
            stderr: tail.text(),
            was_stopped: false,
        }))
    }

    absent! {
        fn floor_bytes(&self) -> u64 = 0;
        fn keep_leftovers(&self) -> () = ();
        fn end_leftovers(&self) -> usize = 0;
        fn end_all_leftovers(&self) -> usize = 0;
    }
}

fn command(program: &Program<'_>) -> Result<Command, ProgramError> {
    let mut command = program.command().map_err(ProgramError::Start)?;
    let stdin = program.stdin.map(File::try_clone).transpose()?;
    command
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

// A job: a group of processes that end together
// ([job objects](https://learn.microsoft.com/en-us/windows/win32/procthread/job-objects)).

/// True for a process that ended by Ctrl-Break or with its console. Unlike Ctrl-C, these reach each process of a
/// console, also one with a separate process group.
pub(crate) fn is_console_event(exit: Exit) -> bool {
    exit == Exit::Code(STATUS_CONTROL_C_EXIT)
}

/// Exit code of a process that is killed with its job.
const KILLED: u32 = 1;

#[derive(Debug)]
struct Job(OwnedHandle);

impl Job {
    fn new() -> io::Result<Self> {
        // SAFETY: a job without a name and with default attributes, and the handle is new.
        let job = unsafe { owned(CreateJobObjectW(ptr::null(), ptr::null()), "make a job")? };
        Ok(Self(job))
    }

    fn limit(&self, limits: &JOBOBJECT_EXTENDED_LIMIT_INFORMATION) -> io::Result<()> {
        // SAFETY: the limits have the given length, and are only read.
        let outcome = unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                ptr::from_ref(limits).cast(),
                size_of_val(limits) as u32,
            )
        };
        Ok(check(outcome, "limit a job")?)
    }

    /// Starts a process in this job. Its first thread is pinned to `cpu` before it runs.
    fn start(&self, command: &mut Command, cpu: Option<usize>) -> io::Result<Child> {
        command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED);
        let mut child = command.spawn()?;
        let started = self.take_in(&child).and_then(|()| match cpu {
            Some(cpu) => pin_first_thread(&child, cpu),
            None => Ok(()),
        });
        let started = started.and_then(|()| resume(&child));
        if let Err(error) = started {
            // The first error is the one to report.
            let _ = child.kill();
            return Err(error);
        }
        Ok(child)
    }

    /// Makes a process, and all that it starts from now on, part of this job.
    fn take_in(&self, child: &Child) -> io::Result<()> {
        // SAFETY: both handles are open.
        let outcome =
            unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) };
        Ok(check(outcome, "put a process into a job")?)
    }

    /// CPU times and page faults of all processes that were ever part of it. All 0 if the system does not report it,
    /// as Wine does not.
    fn usage(&self) -> Usage {
        let mut info = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: there is room for the result, and the handle is open.
        unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut info).cast(),
                size_of_val(&info) as u32,
                ptr::null_mut(),
            );
        }
        let ns = |steps: i64| steps.cast_unsigned() * 100;
        Usage {
            user_ns: ns(info.TotalUserTime),
            system_ns: ns(info.TotalKernelTime),
            minor_faults: info.TotalPageFaultCount.into(),
            ..Usage::default()
        }
    }

    /// Kills all of its processes.
    fn kill(&self) {
        // SAFETY: the handle is open. The call fails only if the job is empty.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }
}

/// Pins the only thread of a suspended process.
fn pin_first_thread(child: &Child, cpu: usize) -> io::Result<()> {
    let access = THREAD_QUERY_INFORMATION | THREAD_SET_INFORMATION;
    let thread = thread_of(child.id())?;
    // SAFETY: the call takes three numbers, and the handle is new.
    let thread = unsafe { owned(OpenThread(access, 0, thread), "open a thread")? };
    // SAFETY: the handle is open.
    Ok(unsafe { pin(thread.as_raw_handle(), &[cpu]) }?)
}

// `windows-sys` does not have it.
#[link(name = "ntdll")]
unsafe extern "system" {
    fn NtResumeProcess(process: HANDLE) -> NTSTATUS;
}

/// Lets a suspended process run. The standard library has closed the handle of its thread; to look for that among
/// all threads takes longer than the start of a program.
fn resume(child: &Child) -> io::Result<()> {
    // SAFETY: the handle is open.
    let status = unsafe { NtResumeProcess(child.as_raw_handle()) };
    Ok(check_status(status, "let a process run")?)
}

// The threads of the system at one moment
// ([tool help](https://learn.microsoft.com/en-us/windows/win32/toolhelp/tool-help-library)).

/// The id of a thread of a process.
pub(super) fn thread_of(process: u32) -> io::Result<u32> {
    // SAFETY: the call takes two numbers, and the handle is new.
    let snapshot = unsafe {
        let snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
        owned(snapshot, "list the threads of the system")?
    };
    let mut entry = THREADENTRY32 {
        dwSize: size_of::<THREADENTRY32>() as u32,
        ..THREADENTRY32::default()
    };
    // SAFETY: the entry has the size that it names.
    let mut has_more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while has_more != 0 {
        if entry.th32OwnerProcessID == process {
            return Ok(entry.th32ThreadID);
        }
        // SAFETY: as above.
        has_more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    Err(io::ErrorKind::NotFound.into())
}
