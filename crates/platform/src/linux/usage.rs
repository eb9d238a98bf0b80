use super::parse::colon_field;
use super::read::text;
use super::rusage::{from_rusage, rusage};
use crate::Result;
use crate::usage::{Consumption, Usage};

/// True if the system counts each process's reads from storage and writes to it (on Linux
/// `CONFIG_TASK_IO_ACCOUNTING`).
pub fn counts_storage() -> bool {
    storage_read_bytes().is_some()
}

/// Bytes that this process has caused to be read from storage so far: `read_bytes` of
/// [proc_pid_io(5)](https://man7.org/linux/man-pages/man5/proc_pid_io.5.html), which counts reads
/// of a block device and not hits in the page cache. Windows counts what all processes read. `None` if the
/// system does not count it.
pub fn storage_read_bytes() -> Option<u64> {
    colon_field(&text("/proc/self/io")?, "read_bytes")?
        .parse()
        .ok()
}

impl Usage {
    /// Usage of all threads of this process.
    ///
    /// # Errors
    /// Only if the system does not count it.
    pub fn of_process() -> Result<Usage> {
        getrusage(libc::RUSAGE_SELF)
    }

    /// Usage of the calling thread.
    ///
    /// # Errors
    /// Only if the system does not count it.
    pub fn of_thread() -> Result<Usage> {
        getrusage(libc::RUSAGE_THREAD)
    }
}

impl Consumption {
    /// Usage of this process.
    ///
    /// # Errors
    /// Only if the system does not count it.
    pub fn read() -> Result<Consumption> {
        /// The unit of the counts, whatever the device.
        const BLOCK_BYTES: u64 = 512;
        const KIB: u64 = 1024;
        let own = rusage(libc::RUSAGE_SELF)?;
        let children = rusage(libc::RUSAGE_CHILDREN)?;
        let cpu_ns = |usage: &libc::rusage| {
            let usage = from_rusage(usage);
            usage.user_ns + usage.system_ns
        };
        Ok(Consumption {
            cpu_ns: cpu_ns(&own) + cpu_ns(&children),
            read_bytes: (own.ru_inblock + children.ru_inblock) as u64 * BLOCK_BYTES,
            written_bytes: (own.ru_oublock + children.ru_oublock) as u64 * BLOCK_BYTES,
            own_peak_bytes: own.ru_maxrss as u64 * KIB,
            child_peak_bytes: children.ru_maxrss as u64 * KIB,
        })
    }
}

fn getrusage(who: libc::c_int) -> Result<Usage> {
    rusage(who).map(|usage| from_rusage(&usage))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::memory::{Mapping, PageSize};
    use crate::usage::{Consumption, Usage};

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
    fn a_child_that_was_waited_for_counts_with_its_parent() {
        let before = Consumption::read().unwrap();
        // The shell spins, and reports the time that it used.
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; cat /proc/$$/stat";
        let ended = testing::Command::new("sh").args(["-c", spin]).output();
        let stat = String::from_utf8(ended.unwrap().stdout).unwrap();
        let fields = stat.rsplit(") ").next().unwrap().split(' ');
        let ticks: u64 = fields
            .skip(11)
            .take(2)
            .map(|it| it.parse::<u64>().unwrap())
            .sum();
        let after = Consumption::read().unwrap();
        // POSIX tools and Linux count 100 ticks a second here.
        assert!(
            after.cpu_ns >= before.cpu_ns + ticks * 10_000_000,
            "{after:?}"
        );
        assert!(after.own_peak_bytes > 0 && after.child_peak_bytes > 0);
        assert!(after.written_bytes >= before.written_bytes);
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
