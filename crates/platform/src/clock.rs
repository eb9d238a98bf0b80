//! Wall and CPU clocks.

use crate::Result;

face! {
    os::clock;

    /// Nanoseconds since a fixed moment in the past. The clock never goes backwards and is never set.
    ///
    /// On Linux `CLOCK_MONOTONIC`, read without entering the kernel where the vDSO allows it
    /// ([clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)).
    #[inline]
    pub fn now_ns() -> u64;

    /// CPU time of all threads of this process, user plus system, in ns.
    ///
    /// On Linux `CLOCK_PROCESS_CPUTIME_ID`: exact, but a system call.
    ///
    /// # Errors
    /// Only if the system has no such clock.
    #[inline]
    pub fn process_cpu_ns() -> Result<u64> = refuse("the CPU time of a process");
}
