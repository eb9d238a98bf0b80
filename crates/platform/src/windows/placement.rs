use std::io;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentProcessorNumberEx, GetCurrentThread, GetProcessAffinityMask,
    GetThreadGroupAffinity, SetThreadGroupAffinity,
};

use super::outcome::check;
pub(super) use super::topology::{GROUP_CPUS, all_cpus, cpus_in};
pub use super::topology::{cpus_of_core, package, shared_cache_level};
use crate::Result;
use crate::error::{Error, absent, refuse};

pub fn allowed_cpus() -> Result<Vec<usize>> {
    let affinity = thread_affinity()?;
    Ok(cpus_in(affinity.Group, affinity.Mask))
}

/// A process inherits this mask from its parent. Pinning only narrows the mask of a thread.
pub fn parent_cpus() -> Result<Vec<usize>> {
    let (mut of_process, mut of_system) = (0, 0);
    // SAFETY: there is room for both results.
    let outcome = unsafe {
        GetProcessAffinityMask(GetCurrentProcess(), &raw mut of_process, &raw mut of_system)
    };
    check(outcome, "ask for the CPUs of this process")?;
    let group = thread_affinity()?.Group;
    let allowed = cpus_in(group, of_process);
    if allowed.is_empty() {
        // The answer for a process with threads in several groups, which may use all of each.
        let of_group = |cpu: &usize| cpu / GROUP_CPUS == usize::from(group);
        return Ok(all_cpus().into_iter().filter(of_group).collect());
    }
    Ok(allowed)
}

pub fn pin_to(cpus: &[usize]) -> Result<()> {
    // SAFETY: the handle means the calling thread.
    unsafe { pin(GetCurrentThread(), cpus) }
}

/// Pins a thread to CPUs of one processor group.
///
/// # Safety
/// The handle is open.
pub(super) unsafe fn pin(thread: HANDLE, cpus: &[usize]) -> Result<()> {
    const ACTION: &str = "pin a thread to these CPUs";
    let Some(first) = cpus.first() else {
        return Err(Error::os(ACTION)(io::ErrorKind::InvalidInput));
    };
    let group = first / GROUP_CPUS;
    if cpus.iter().any(|cpu| cpu / GROUP_CPUS != group) {
        return refuse("pinning a thread to CPUs of several processor groups");
    }
    let affinity = GROUP_AFFINITY {
        Mask: cpus
            .iter()
            .fold(0, |mask, cpu| mask | 1 << (cpu % GROUP_CPUS)),
        Group: group as u16,
        Reserved: [0; 3],
    };
    // SAFETY: the affinity is only read, and the caller holds the thread open.
    let outcome =
        unsafe { SetThreadGroupAffinity(thread, &raw const affinity, std::ptr::null_mut()) };
    check(outcome, ACTION)
}

pub fn current_cpu() -> Option<usize> {
    let mut number = PROCESSOR_NUMBER::default();
    // SAFETY: there is room for the result.
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    Some(usize::from(number.Group) * GROUP_CPUS + usize::from(number.Number))
}

fn thread_affinity() -> Result<GROUP_AFFINITY> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: there is room for the result, and the handle means the calling thread.
    let outcome = unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) };
    check(outcome, "ask for the allowed CPUs")?;
    Ok(affinity)
}

absent! {
    fn be_ended_first() -> Result<()> = refuse("being ended first when memory runs out");
    fn be_served_last() -> Result<()> = refuse("being served last at disks");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_two_groups_are_an_error() {
        pin_to(&[0, GROUP_CPUS]).unwrap_err();
    }
}
