//! The plan that controls the clock frequencies of the processors.

use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::System::Power::{PowerGetActiveScheme, PowerReadFriendlyName};
use windows_sys::core::GUID;

use super::outcome::text;
use super::power::batteries;
use super::registry;
use crate::environment::Frequency;

/// The plan stands for the governor: it contains the policy. Windows reports no clock frequencies: what
/// `CallNtPowerInformation` calls the current one is the nominal one on many processors.
pub(super) fn frequency() -> Frequency {
    Frequency {
        governor: plan().map(with_mode),
        ..Frequency::default()
    }
}

/// The key of the power mode.
const SCHEMES: &str = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes";
/// The only plan that has power modes.
const BALANCED: &str = "Balanced";
/// The power modes but for the one in the middle.
const MODES: [(&str, &str); 2] = [
    ("ded574b5-45a0-4f42-8737-46345c09c238", "best performance"),
    (
        "961cc777-2547-4f9d-8174-7d86181b8a7a",
        "best power efficiency",
    ),
];

/// The plan, and what the settings lay over it.
fn with_mode(plan: String) -> String {
    let on_battery = batteries().iter().any(|battery| battery.is_discharging);
    let name = if on_battery {
        "ActiveOverlayDcPowerScheme"
    } else {
        "ActiveOverlayAcPowerScheme"
    };
    match registry::word(SCHEMES, name).as_deref().and_then(mode) {
        Some(mode) if plan == BALANCED => format!("{plan}, {mode}"),
        _ => plan,
    }
}

fn mode(id: &str) -> Option<&'static str> {
    let id = id.trim_matches(['{', '}']);
    let mode = MODES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(id));
    mode.map(|(_, name)| *name)
}

/// The plans that come with Windows, whose names are in the language of the system.
const KNOWN: [(u128, &str); 4] = [
    (
        0x8c5e_7fda_e8bf_4a96_9a85_a6e2_3a8c_635c,
        "High performance",
    ),
    (0x381b_4222_f694_41f0_9685_ff5b_b260_df2e, BALANCED),
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

    #[test]
    fn power_modes_are_known_by_their_number() {
        let best = "{DED574B5-45A0-4F42-8737-46345C09C238}";
        assert_eq!(mode(best), Some("best performance"));
        assert_eq!(mode("00000000-0000-0000-0000-000000000000"), None);
    }
}
