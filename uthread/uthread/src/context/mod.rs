//! The machine context of a thread, and the switch from one to another.

#[macro_use]
mod float_control;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(uthread_tsan)]
mod fiber;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod x86_64;
#[cfg(windows)]
mod x86_64_windows;

#[cfg(target_arch = "aarch64")]
use aarch64 as machine;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use x86_64 as machine;
#[cfg(windows)]
use x86_64_windows as machine;

#[cfg(uthread_tsan)]
pub(crate) use fiber::{Context, switch};
#[cfg(not(uthread_tsan))]
pub(crate) use machine::{Context, switch};
#[cfg(target_os = "linux")]
pub(crate) use machine::{may_have_faulted, program_counter, stack_pointer};

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(uthread_tsan)))]
pub(crate) use machine::abandon;

/// [`switch`] from a context that never continues.
///
/// # Safety
/// As there.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(uthread_tsan))))]
pub(crate) unsafe fn abandon(from: *mut Context, to: *const Context) -> ! {
    // SAFETY: the caller's contract.
    unsafe { switch(from, to) };
    unreachable!("a finished thread was continued")
}

/// The first function of a fresh context. It must not return.
pub(crate) type Entry = unsafe extern "C" fn(*mut ()) -> !;

#[cfg(test)]
mod tests;
