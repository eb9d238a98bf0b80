//! The counts of `getrusage`.

use std::io;
use std::mem::MaybeUninit;

use crate::error::{Error, Result};
use crate::usage::Usage;

pub(crate) fn rusage(who: libc::c_int) -> Result<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` has room for the result.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(Error::os("ask for the resource usage")(
            io::Error::last_os_error(),
        ));
    }
    // SAFETY: the call succeeded, so all of it was written.
    Ok(unsafe { usage.assume_init() })
}

pub(crate) fn from_rusage(usage: &libc::rusage) -> Usage {
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Usage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}
