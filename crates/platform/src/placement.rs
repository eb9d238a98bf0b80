//! Where and with what precedence this thread runs, and whether its memory stays.

use crate::{Result, os};

/// The CPUs on which the calling thread may run, in ascending order.
///
/// # Errors
/// If the system does not tell.
pub fn allowed_cpus() -> Result<Vec<usize>> {
    os::placement::allowed_cpus()
}

/// The CPUs on which the process that started this one may run, in ascending order: those that a
/// child which was pinned may be given back.
///
/// # Errors
/// If the system does not tell.
pub fn parent_cpus() -> Result<Vec<usize>> {
    os::placement::parent_cpus()
}

/// Lets the calling thread, and threads and processes it starts from now on, run on these CPUs only
/// ([sched_setaffinity(2)](https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html)).
///
/// # Errors
/// If none of them exists, is switched on and is allowed to this process.
pub fn pin_to(cpus: &[usize]) -> Result<()> {
    os::placement::pin_to(cpus)
}

/// A CPU of another core than the one on which the calling thread runs, among those that the process
/// may use that started this one: a worker is pinned, its parent is not. One of the same package if
/// there is one; `None` if there is no other core.
///
/// # Errors
/// If the system does not tell.
pub fn cpu_of_another_core() -> Result<Option<usize>> {
    os::placement::cpu_of_another_core()
}

/// The level of the innermost data cache that two CPUs share: 1 for threads of one core, `None` where
/// they share none or the system does not tell.
pub fn shared_cache_level(one: usize, other: usize) -> Option<u32> {
    os::placement::shared_cache_level(one, other)
}

/// The CPU on which the calling thread runs at this moment.
pub fn current_cpu() -> Option<usize> {
    os::placement::current_cpu()
}

/// Has the kernel end this process and those that it starts before all others when memory runs out
/// (`oom_score_adj`, see [proc_pid_oom_score_adj(5)](https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html)).
///
/// # Errors
/// If the system does not let it.
pub fn be_ended_first() -> Result<()> {
    os::placement::be_ended_first()
}

/// Has the disks serve the calling thread, and processes that it starts from now on, when nobody else
/// waits (the idle class of [ioprio_set(2)](https://man7.org/linux/man-pages/man2/ioprio_set.2.html)).
/// Only the schedulers `bfq` and `mq-deadline` heed it.
///
/// # Errors
/// If the system does not let it.
pub fn be_served_last() -> Result<()> {
    os::placement::be_served_last()
}
