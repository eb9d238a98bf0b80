use std::fs;
use std::io;
use std::path::Path;

use super::check;
pub use super::topology::{cpus_of_core, package, shared_cache_level};
use crate::error::{Error, Result};

/// A set of CPUs in the kernel's format: bit n means CPU n. The C library's own `cpu_set_t`
/// ends at 1024 CPUs.
#[derive(Debug)]
pub(super) struct CpuSet {
    words: Vec<libc::c_ulong>,
}

impl CpuSet {
    const WORD_BITS: usize = libc::c_ulong::BITS as usize;

    pub(super) fn new(cpus: &[usize]) -> Self {
        let highest = cpus.iter().copied().max().unwrap_or(0);
        let mut words = vec![0; highest / Self::WORD_BITS + 1];
        for cpu in cpus {
            words[cpu / Self::WORD_BITS] |= 1 << (cpu % Self::WORD_BITS);
        }
        Self { words }
    }

    /// The allowed CPUs of a process; 0 means the calling thread.
    fn allowed(process: libc::pid_t) -> io::Result<Self> {
        // The kernel refuses a buffer smaller than its own set, but does not report that size.
        let mut words = vec![0; 1024 / Self::WORD_BITS];
        loop {
            // SAFETY: the buffer has the given length, and any bits are a valid word.
            let outcome = unsafe {
                libc::sched_getaffinity(process, size_of_val(&words[..]), words.as_mut_ptr().cast())
            };
            if outcome == 0 {
                return Ok(Self { words });
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::InvalidInput || words.len() > 1 << 16 {
                return Err(error);
            }
            words.resize(2 * words.len(), 0);
        }
    }

    fn cpus(&self) -> Vec<usize> {
        let is_in =
            |cpu: &usize| self.words[cpu / Self::WORD_BITS] >> (cpu % Self::WORD_BITS) & 1 == 1;
        (0..self.words.len() * Self::WORD_BITS)
            .filter(is_in)
            .collect()
    }

    /// Pins the calling thread. It does not allocate, so it may be called between fork and exec.
    pub(super) fn pin(&self) -> io::Result<()> {
        // SAFETY: the buffer has the given length, and is only read.
        check(unsafe {
            libc::sched_setaffinity(0, size_of_val(&self.words[..]), self.words.as_ptr().cast())
        })
    }
}

/// The CPUs on which the calling thread may run, in ascending order.
pub fn allowed_cpus() -> Result<Vec<usize>> {
    CpuSet::allowed(0)
        .map(|set| set.cpus())
        .map_err(Error::os("ask for the allowed CPUs"))
}

/// The CPUs on which the parent process may run, in ascending order: a pinned child may be allowed
/// on these again.
pub fn parent_cpus() -> Result<Vec<usize>> {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    CpuSet::allowed(parent)
        .map(|set| set.cpus())
        .map_err(Error::os("ask for the CPUs of the parent process"))
}

/// Restricts the calling thread to these CPUs, and on Linux also threads and processes that it starts
/// from now on ([sched_setaffinity(2)](https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html)).
///
/// # Errors
/// If none of them exists, is online and is allowed for this process.
pub fn pin_to(cpus: &[usize]) -> Result<()> {
    CpuSet::new(cpus)
        .pin()
        .map_err(Error::os("pin the thread to these CPUs"))
}

/// Makes the kernel kill this process and its children before all others when memory runs out
/// (`oom_score_adj`, see
/// [proc_pid_oom_score_adj(5)](https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html)).
pub fn be_ended_first() -> Result<()> {
    let path = Path::new("/proc/self/oom_score_adj");
    fs::write(path, "1000").map_err(Error::path("write", path))
}

/// Makes the disks serve the calling thread, and processes that it starts from now on, only when no
/// other process waits (the idle class of
/// [ioprio_set(2)](https://man7.org/linux/man-pages/man2/ioprio_set.2.html)). Only the schedulers
/// `bfq` and `mq-deadline` support it.
pub fn be_served_last() -> Result<()> {
    // Constants from the kernel's `include/uapi/linux/ioprio.h`.
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_SHIFT: libc::c_int = 13;
    const CLASS_IDLE: libc::c_int = 3;
    // SAFETY: the call takes three numbers; 0 is the calling thread.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            WHO_PROCESS,
            0,
            CLASS_IDLE << CLASS_SHIFT,
        )
    };
    check(outcome).map_err(Error::os("lower the precedence at disks"))
}

/// The CPU on which the calling thread currently runs.
pub fn current_cpu() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cpu_shares_the_first_level_with_itself_and_nothing_with_one_that_is_not_there() {
        let here = allowed_cpus().unwrap()[0];
        match shared_cache_level(here, here) {
            Some(level) => assert_eq!(level, 1),
            None => println!("not shown: the system reports no caches"),
        }
        assert_eq!(shared_cache_level(here, 100_000), None);
    }

    proptest! {
        #[test]
        fn a_set_holds_what_was_put_in(cpus in prop::collection::btree_set(0_usize..5000, 1..20)) {
            let cpus: Vec<usize> = cpus.into_iter().collect();
            prop_assert_eq!(CpuSet::new(&cpus).cpus(), cpus);
        }
    }
}
