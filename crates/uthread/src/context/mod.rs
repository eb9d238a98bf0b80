//! The machine context of a thread, and the switch from one to another.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{Context, program_counter, stack_pointer, switch};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Context, program_counter, stack_pointer, switch};

/// The first function of a fresh context. It must not return.
pub(crate) type Entry = unsafe extern "C" fn(*mut ()) -> !;

#[cfg(test)]
mod tests;
