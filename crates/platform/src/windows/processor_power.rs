//! Clock frequencies of the processors and the plan that controls them.

use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::System::Power::{
    CallNtPowerInformation, PROCESSOR_POWER_INFORMATION, PowerGetActiveScheme,
    PowerReadFriendlyName, ProcessorInformation,
};

use super::outcome::text;
use super::topology;
use crate::environment::Frequency;

const HZ_PER_MHZ: f64 = 1e6;

/// The current frequency of one CPU, in Hz.
pub(crate) fn frequency_hz(cpu: usize) -> Option<f64> {
    let processors = processors();
    let is_it = |processor: &&PROCESSOR_POWER_INFORMATION| processor.Number as usize == cpu;
    let mhz = processors.iter().find(is_it)?.CurrentMhz;
    (mhz > 0).then(|| f64::from(mhz) * HZ_PER_MHZ)
}

/// The plan stands for the governor: it contains the policy.
pub(super) fn frequency() -> Frequency {
    let first = processors().into_iter().next();
    let hz = |mhz: fn(&PROCESSOR_POWER_INFORMATION) -> u32| {
        let mhz = first.as_ref().map(mhz).filter(|mhz| *mhz > 0)?;
        Some(f64::from(mhz) * HZ_PER_MHZ)
    };
    Frequency {
        governor: plan(),
        current_hz: hz(|processor| processor.CurrentMhz),
        maximum_hz: hz(|processor| processor.MhzLimit),
        ..Frequency::default()
    }
}

/// One entry for each processor; empty if the system does not report them.
fn processors() -> Vec<PROCESSOR_POWER_INFORMATION> {
    let count = topology::topology().threads.unwrap_or(1);
    let mut processors = vec![PROCESSOR_POWER_INFORMATION::default(); count];
    // SAFETY: the buffer has the given length, and there is no input.
    let status = unsafe {
        CallNtPowerInformation(
            ProcessorInformation,
            ptr::null(),
            0,
            processors.as_mut_ptr().cast(),
            size_of_val(&processors[..]) as u32,
        )
    };
    if status == 0 { processors } else { Vec::new() }
}

/// The name of the active power plan.
fn plan() -> Option<String> {
    let mut plan = ptr::null_mut();
    // SAFETY: there is room for the result.
    let outcome = unsafe { PowerGetActiveScheme(ptr::null_mut(), &raw mut plan) };
    if outcome != ERROR_SUCCESS || plan.is_null() {
        return None;
    }
    let mut name = [0_u16; 256];
    let mut len = size_of_val(&name) as u32;
    // SAFETY: the plan is one of the system, and the buffer has the given length.
    let outcome = unsafe {
        PowerReadFriendlyName(
            ptr::null_mut(),
            plan,
            ptr::null(),
            ptr::null(),
            name.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    // SAFETY: the system allocated the plan for this call, and it is not used again.
    unsafe { LocalFree(plan.cast()) };
    let name = text(&name);
    (outcome == ERROR_SUCCESS && !name.is_empty()).then_some(name)
}
