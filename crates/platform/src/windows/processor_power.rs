//! Clock frequencies of the processors and the plan that controls them.

use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::System::Power::{
    CallNtPowerInformation, PROCESSOR_POWER_INFORMATION, PowerGetActiveScheme,
    PowerReadFriendlyName, ProcessorInformation,
};

use windows_sys::core::GUID;

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

/// The plans that come with Windows, whose names are in the language of the system.
const KNOWN: [(u128, &str); 4] = [
    (
        0x8c5e_7fda_e8bf_4a96_9a85_a6e2_3a8c_635c,
        "High performance",
    ),
    (0x381b_4222_f694_41f0_9685_ff5b_b260_df2e, "Balanced"),
    (0xa184_1308_3541_4fab_bc81_f715_56f2_0b4a, "Power saver"),
    (
        0xe9a4_2b02_d5df_448d_aa00_03f1_4749_eb61,
        "Ultimate Performance",
    ),
];

/// The English name of a plan that comes with Windows.
fn known(plan: &GUID) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(id, _)| {
        let id = GUID::from_u128(*id);
        (id.data1, id.data2, id.data3, id.data4) == (plan.data1, plan.data2, plan.data3, plan.data4)
    });
    known.map(|(_, name)| *name)
}

/// The name of the active power plan.
fn plan() -> Option<String> {
    let mut plan = ptr::null_mut();
    // SAFETY: there is room for the result.
    let outcome = unsafe { PowerGetActiveScheme(ptr::null_mut(), &raw mut plan) };
    if outcome != ERROR_SUCCESS || plan.is_null() {
        return None;
    }
    // SAFETY: the system has just put the plan there.
    let known = known(unsafe { &*plan });
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
    if known.is_some() {
        return known.map(str::to_owned);
    }
    let name = text(&name);
    (outcome == ERROR_SUCCESS && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_windows_have_english_names() {
        let balanced = GUID::from_u128(0x381b_4222_f694_41f0_9685_ff5b_b260_df2e);
        assert_eq!(known(&balanced), Some("Balanced"));
        assert_eq!(known(&GUID::from_u128(1)), None);
        println!("{:?}", frequency());
    }
}
