//! CPU affinity and priorities of this thread, and of its memory.

use crate::Result;

face! {
    os::placement;

    /// The CPUs on which the calling thread may run, in ascending order.
    ///
    /// # Errors
    /// If the system does not report them.
    pub fn allowed_cpus() -> Result<Vec<usize>> = refuse("the list of allowed CPUs");

    /// The CPUs on which the parent process may run, in ascending order: a pinned child may be allowed
    /// on these again.
    ///
    /// # Errors
    /// If the system does not report them.
    pub fn parent_cpus() -> Result<Vec<usize>> = refuse("the list of the parent's CPUs");

    /// Restricts the calling thread to these CPUs, and on Linux also threads and processes that it starts
    /// from now on ([sched_setaffinity(2)](https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html)).
    ///
    /// # Errors
    /// If none of them exists, is online and is allowed for this process.
    pub fn pin_to(cpus: &[usize]) -> Result<()> = refuse("pinning to CPUs");

    /// The CPUs of the core of `cpu`; empty if the system does not report them.
    pub fn cpus_of_core(cpu: usize) -> Vec<usize> = Vec::new();

    /// The number of the package of `cpu`; `None` if the system does not report it.
    pub fn package(cpu: usize) -> Option<i64> = None;

    /// The level of the innermost data cache that two CPUs share: 1 for threads of one core. `None` if they
    /// share none or the system does not tell.
    pub fn shared_cache_level(one: usize, other: usize) -> Option<u32> = None;

    /// The CPU on which the calling thread currently runs.
    pub fn current_cpu() -> Option<usize> = None;

    /// Makes the kernel kill this process and its children before all others when memory runs out
    /// (`oom_score_adj`, see
    /// [proc_pid_oom_score_adj(5)](https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html)).
    ///
    /// # Errors
    /// If the system refuses.
    pub fn be_ended_first() -> Result<()> = refuse("being ended first when memory runs out");

    /// Makes the disks serve the calling thread, and processes that it starts from now on, only when no
    /// other process waits (the idle class of
    /// [ioprio_set(2)](https://man7.org/linux/man-pages/man2/ioprio_set.2.html)). Only the schedulers
    /// `bfq` and `mq-deadline` support it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn be_served_last() -> Result<()> = refuse("being served last at disks");
}
