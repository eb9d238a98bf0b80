//! A job: a group of processes that end together
//! ([job objects](https://learn.microsoft.com/en-us/windows/win32/procthread/job-objects)).

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;

use windows_sys::Win32::Foundation::{HANDLE, NTSTATUS, STATUS_CONTROL_C_EXIT};
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

use crate::process::Exit;
use crate::usage::Usage;
use crate::windows::outcome::check_status;
use crate::windows::placement::pin;
use crate::windows::snapshot::thread_of;

/// True for a process that ended by Ctrl-Break or with its console. Unlike Ctrl-C, these reach each process of a
/// console, also one with a process group of its own.
pub(super) fn is_console_event(exit: Exit) -> bool {
    exit == Exit::Code(STATUS_CONTROL_C_EXIT)
}

/// Exit code of a process that is killed with its job.
const KILLED: u32 = 1;

#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: a job without a name and with default attributes.
        let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nothing else has it.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(job) }))
    }

    pub(super) fn limit(&self, limits: &JOBOBJECT_EXTENDED_LIMIT_INFORMATION) -> io::Result<()> {
        // SAFETY: the limits have the given length, and are only read.
        check(unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                ptr::from_ref(limits).cast(),
                size_of_val(limits) as u32,
            )
        })
    }

    /// Starts a process in this job. Its first thread is pinned to `cpu` before it runs.
    pub(super) fn start(&self, command: &mut Command, cpu: Option<usize>) -> io::Result<Child> {
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
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) })
    }

    /// CPU times and page faults of all processes that were ever part of it. All 0 if the system does not tell,
    /// as Wine does not.
    pub(super) fn usage(&self) -> Usage {
        let mut told = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: there is room for the result, and the handle is open.
        unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut told).cast(),
                size_of_val(&told) as u32,
                ptr::null_mut(),
            );
        }
        let ns = |steps: i64| steps.cast_unsigned() * 100;
        Usage {
            user_ns: ns(told.TotalUserTime),
            system_ns: ns(told.TotalKernelTime),
            minor_faults: told.TotalPageFaultCount.into(),
            ..Usage::default()
        }
    }

    /// Kills all of its processes.
    pub(super) fn kill(&self) {
        // SAFETY: the handle is open. The call fails only if the job is empty.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }
}

/// Pins the only thread of a suspended process.
fn pin_first_thread(child: &Child, cpu: usize) -> io::Result<()> {
    let access = THREAD_QUERY_INFORMATION | THREAD_SET_INFORMATION;
    // SAFETY: the call takes three numbers.
    let handle = unsafe { OpenThread(access, 0, thread_of(child.id())?) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nothing else has it.
    let thread = unsafe { OwnedHandle::from_raw_handle(handle) };
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

fn check(outcome: i32) -> io::Result<()> {
    match outcome {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
