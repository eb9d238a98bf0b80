//! Counts of a process beyond those of `getrusage`: `proc_pid_rusage` of `<libproc.h>`.

use std::mem::MaybeUninit;

/// The counts of this process.
pub(super) fn own() -> Option<libc::rusage_info_v4> {
    let mut info = MaybeUninit::<libc::rusage_info_v4>::uninit();
    let process = std::process::id().cast_signed();
    // SAFETY: the buffer has the type that version 4 asks for.
    let outcome =
        unsafe { libc::proc_pid_rusage(process, libc::RUSAGE_INFO_V4, info.as_mut_ptr().cast()) };
    // SAFETY: the call succeeded, so all of it was written.
    (outcome == 0).then(|| unsafe { info.assume_init() })
}
