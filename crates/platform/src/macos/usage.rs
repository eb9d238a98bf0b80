use std::mem::MaybeUninit;

use super::process_info;
use crate::error::{Error, Result};
use crate::rusage::{from_rusage, rusage};
use crate::usage::{Consumption, Usage};

pub(crate) fn counts_storage() -> bool {
    process_info::own().is_some()
}

pub(crate) fn storage_read_bytes() -> Option<u64> {
    process_info::own().map(|info| info.ri_diskio_bytesread)
}

/// Both counts of context switches stay 0: XNU counts a wait in its Mach part as involuntary.
pub(crate) fn of_process() -> Result<Usage> {
    let usage = from_rusage(&rusage(libc::RUSAGE_SELF)?);
    Ok(Usage {
        voluntary_switches: 0,
        involuntary_switches: 0,
        ..usage
    })
}

/// The system counts page faults for a process only, so those of all its threads are included.
pub(crate) fn of_thread() -> Result<Usage> {
    let ns = |time: libc::time_value_t| {
        time.seconds as u64 * 1_000_000_000 + time.microseconds as u64 * 1_000
    };
    let thread = thread_info()?;
    Ok(Usage {
        user_ns: ns(thread.user_time),
        system_ns: ns(thread.system_time),
        ..of_process()?
    })
}

/// Bytes are those of this process only.
pub(crate) fn read() -> Result<Consumption> {
    let own = rusage(libc::RUSAGE_SELF)?;
    let children = rusage(libc::RUSAGE_CHILDREN)?;
    let cpu_ns = |usage: &libc::rusage| {
        let usage = from_rusage(usage);
        usage.user_ns + usage.system_ns
    };
    let info = process_info::own();
    Ok(Consumption {
        cpu_ns: cpu_ns(&own) + cpu_ns(&children),
        read_bytes: info.map_or(0, |info| info.ri_diskio_bytesread),
        written_bytes: info.map_or(0, |info| info.ri_logical_writes),
        own_peak_bytes: own.ru_maxrss as u64,
        child_peak_bytes: children.ru_maxrss as u64,
    })
}

/// The times of the calling thread.
fn thread_info() -> Result<libc::thread_basic_info> {
    let mut info = MaybeUninit::<libc::thread_basic_info>::uninit();
    let mut count = libc::THREAD_BASIC_INFO_COUNT;
    // SAFETY: the port is that of the calling thread, which keeps it; the buffer has the type and the
    // size that the flavor asks for.
    let outcome = unsafe {
        libc::thread_info(
            libc::pthread_mach_thread_np(libc::pthread_self()),
            libc::THREAD_BASIC_INFO as libc::thread_flavor_t,
            info.as_mut_ptr().cast(),
            &raw mut count,
        )
    };
    if outcome != libc::KERN_SUCCESS {
        let reason = std::io::Error::other(format!("thread_info returns {outcome}"));
        return Err(Error::os("ask for the times of a thread")(reason));
    }
    // SAFETY: the call succeeded, so all of it was written.
    Ok(unsafe { info.assume_init() })
}

#[cfg(test)]
mod tests {
    use crate::clock::now_ns;
    use crate::usage::{Consumption, Usage};

    #[test]
    fn work_counts_for_thread_and_process() {
        let (thread, process) = (Usage::of_thread().unwrap(), Usage::of_process().unwrap());
        let end = now_ns() + 10_000_000;
        while now_ns() < end {}
        let cpu_ns = |usage: Usage| usage.user_ns + usage.system_ns;
        assert!(cpu_ns(Usage::of_thread().unwrap().since(&thread)) > 1_000_000);
        assert!(cpu_ns(Usage::of_process().unwrap().since(&process)) > 1_000_000);
        let consumption = Consumption::read().unwrap();
        assert!(consumption.cpu_ns > 0 && consumption.own_peak_bytes > 1 << 20);
    }
}
