use std::mem::MaybeUninit;

use super::parse::colon_field;
use super::read::text;
use crate::Result;
use crate::error::Error;
use crate::usage::Usage;

pub(crate) fn storage_read_bytes() -> Option<u64> {
    colon_field(&text("/proc/self/io")?, "read_bytes")?
        .parse()
        .ok()
}

pub(crate) fn of_process() -> Result<Usage> {
    getrusage(libc::RUSAGE_SELF)
}

pub(crate) fn of_thread() -> Result<Usage> {
    getrusage(libc::RUSAGE_THREAD)
}

fn getrusage(who: libc::c_int) -> Result<Usage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` has room for what is written.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(Error::os("ask for the resource usage")(
            std::io::Error::last_os_error(),
        ));
    }
    // SAFETY: the call succeeded, so all of it was written.
    Ok(from_rusage(unsafe { usage.assume_init_ref() }))
}

pub(super) fn from_rusage(usage: &libc::rusage) -> Usage {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::memory::{Mapping, PageSize};
    use crate::usage::Usage;

    #[test]
    fn counts_page_faults_and_waits_of_this_thread() {
        const PAGES: usize = 100;
        let mut memory = Mapping::anonymous(PAGES * 65536, PageSize::Base).unwrap();
        let before = Usage::of_thread().unwrap();
        memory
            .as_mut_slice()
            .iter_mut()
            .step_by(65536)
            .for_each(|byte| *byte = 1);
        std::thread::sleep(Duration::from_millis(1));
        let used = Usage::of_thread().unwrap().since(&before);
        assert!(used.minor_faults >= PAGES as u64, "{used:?}");
        assert!(used.voluntary_switches >= 1, "{used:?}");
        assert_eq!(before.since(&before), Usage::default());
    }

    #[test]
    fn a_difference_never_goes_below_zero() {
        let later = Usage {
            user_ns: 1,
            ..Usage::default()
        };
        assert_eq!(Usage::default().since(&later), Usage::default());
    }
}
