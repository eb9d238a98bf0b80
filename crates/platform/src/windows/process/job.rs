//! A job: a group of processes that end together
//! ([job objects](https://learn.microsoft.com/en-us/windows/win32/procthread/job-objects)).

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, OpenThread, ResumeThread, THREAD_QUERY_INFORMATION,
    THREAD_SET_INFORMATION, THREAD_SUSPEND_RESUME,
};

use crate::windows::placement::pin;
use crate::windows::snapshot::thread_of;

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
        let started = self
            .take_in(&child)
            .and_then(|()| resume(thread_of(child.id())?, cpu));
        if let Err(error) = started {
            // The first error is the one to report.
            let _ = child.kill();
            return Err(error);
        }
        Ok(child)
    }

    /// Makes a process, and all that it starts from now on, part of this job.
    pub(super) fn take_in(&self, child: &Child) -> io::Result<()> {
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) })
    }

    /// Kills all of its processes.
    pub(super) fn kill(&self) {
        // SAFETY: the handle is open. The call fails only if the job is empty.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }
}

/// Pins and resumes the only thread of a suspended process.
fn resume(thread: u32, cpu: Option<usize>) -> io::Result<()> {
    let access = THREAD_QUERY_INFORMATION | THREAD_SET_INFORMATION | THREAD_SUSPEND_RESUME;
    // SAFETY: the call takes three numbers.
    let handle = unsafe { OpenThread(access, 0, thread) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nothing else has it.
    let thread = unsafe { OwnedHandle::from_raw_handle(handle) };
    if let Some(cpu) = cpu {
        // SAFETY: the handle is open.
        unsafe { pin(thread.as_raw_handle(), &[cpu]) }?;
    }
    // SAFETY: as above.
    match unsafe { ResumeThread(thread.as_raw_handle()) } {
        u32::MAX => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn check(outcome: i32) -> io::Result<()> {
    match outcome {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
