use std::collections::BTreeMap;
use std::ptr;

use windows_sys::Wdk::System::SystemInformation::SYSTEM_INFORMATION_CLASS;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::System::Power::{
    GetSystemPowerStatus, PowerGetActiveScheme, PowerReadFriendlyName, SYSTEM_POWER_STATUS,
};
use windows_sys::Win32::System::SystemInformation::{GetTickCount64, OSVERSIONINFOW};
use windows_sys::core::GUID;

use super::outcome::text;
use super::query::query;
use super::{machine, memory, private, topology};
use crate::environment::{Build, Environment, Frequency};
use crate::power::Battery;
use crate::programs;

const CURRENT_VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";

impl Environment {
    pub fn read() -> Environment {
        let fact = |name| machine::registry_word(CURRENT_VERSION, name);
        let memory = memory::status();
        let version = version();
        Environment {
            os_name: Some(name(fact("ProductName"), version.dwBuildNumber)),
            // The second name was in use before version 20H2.
            os_version: fact("DisplayVersion").or_else(|| fact("ReleaseId")),
            kernel_name: Some("Windows NT".to_owned()),
            kernel_release: (version.dwMajorVersion > 0).then(|| release(&version)),
            kernel_version: fact("BuildLabEx"),
            stand_in: machine::wine_version().map(|version| format!("Wine {version}")),
            build: Build::of_this_program(),
            command_line: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            is_root: private::is_elevated(),
            mitigations: mitigations(),
            defender_watches: defender_watches(),
            is_on_battery: crate::power::is_on_battery(),
            frequency: frequency(),
            smt_active: topology::smt_active(),
            // The page file's limit includes the memory itself.
            swap_total_bytes: memory
                .map(|memory| memory.ullTotalPageFile.saturating_sub(memory.ullTotalPhys)),
            memory_available_bytes: memory.map(|memory| memory.ullAvailPhys),
            uptime_seconds: Some(uptime_seconds()),
            ..Environment::default()
        }
    }
}

fn uptime_seconds() -> f64 {
    // SAFETY: the call has no arguments.
    unsafe { GetTickCount64() as f64 / 1e3 }
}

/// The registry calls Windows 11 by the name of its predecessor.
fn name(product: Option<String>, build: u32) -> String {
    const FIRST_OF_11: u32 = 22_000;
    match product {
        Some(name) if build >= FIRST_OF_11 => name.replacen("Windows 10", "Windows 11", 1),
        Some(name) => name,
        None => "Windows".to_owned(),
    }
}

/// The version of the kernel, with the number of the last update, which changes mitigations.
fn release(version: &OSVERSIONINFOW) -> String {
    let OSVERSIONINFOW {
        dwMajorVersion: major,
        dwMinorVersion: minor,
        dwBuildNumber: build,
        ..
    } = version;
    let update = machine::registry_number(CURRENT_VERSION, "UBR");
    let update = update.map_or_else(String::new, |update| format!(".{update}"));
    format!("{major}.{minor}.{build}{update}")
}

/// All 0 if the system does not report them. Other calls report an old version to programs without a manifest.
fn version() -> OSVERSIONINFOW {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the result has the size that it names.
    unsafe { RtlGetVersion(&raw mut version) };
    version
}

const ON_BATTERY: u8 = 0;
const NO_BATTERY: u8 = 128;
/// A flag or charge that the system does not know.
const UNKNOWN: u8 = 255;

/// The system reports the sum of all batteries.
pub fn batteries() -> Vec<Battery> {
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: there is room for the result.
    let is_known = unsafe { GetSystemPowerStatus(&raw mut status) } != 0;
    if is_known {
        in_status(&status)
    } else {
        Vec::new()
    }
}

fn in_status(status: &SYSTEM_POWER_STATUS) -> Vec<Battery> {
    if status.BatteryFlag == UNKNOWN || status.BatteryFlag & NO_BATTERY != 0 {
        return Vec::new();
    }
    let percent = Some(status.BatteryLifePercent);
    vec![Battery {
        name: "battery".into(),
        is_discharging: status.ACLineStatus == ON_BATTERY,
        percent: percent.filter(|percent| *percent != UNKNOWN),
    }]
}

/// The plan is shown as the governor: it contains the policy. Windows reports no clock frequencies: what
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
    match machine::registry_word(SCHEMES, name)
        .as_deref()
        .and_then(mode)
    {
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

// The mitigations of the processor's vulnerabilities, under the names that Linux gives them.

// The classes and flags that Microsoft's script `SpeculationControl` asks for and explains
// (https://learn.microsoft.com/en-us/troubleshoot/windows-server/virtualization/understand-get-speculationcontrolsettings).
const KERNEL_VA_SHADOW: SYSTEM_INFORMATION_CLASS = 196;
const SPECULATION_CONTROL: SYSTEM_INFORMATION_CLASS = 201;

const SHADOW_ENABLED: u32 = 0x01;
const SHADOW_REQUIRED: u32 = 0x10;
const SHADOW_REQUIRED_IS_KNOWN: u32 = 0x20;

const BRANCH_PREDICTION: u32 = 0x01;
const BRANCH_PREDICTION_OFF_BY_POLICY: u32 = 0x02;
const STORE_BYPASS_IS_KNOWN: u32 = 0x100;
const STORE_BYPASS_OFF_EVERYWHERE: u32 = 0x400;
const STORE_BYPASS_REQUIRED: u32 = 0x1000;
const RETPOLINES: u32 = 0x4000;

/// Each vulnerability that the system reports, and what it does against it, in the form that Linux uses.
pub(super) fn mitigations() -> BTreeMap<String, String> {
    let shadow = flags(KERNEL_VA_SHADOW).map(meltdown);
    let speculation = flags(SPECULATION_CONTROL);
    let all = [
        ("meltdown", shadow),
        ("spectre_v2", speculation.map(spectre_v2)),
        ("spec_store_bypass", speculation.and_then(store_bypass)),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, state)| Some((name.to_owned(), state?.to_owned())));
    known.collect()
}

fn meltdown(flags: u32) -> &'static str {
    let is_safe = flags & SHADOW_REQUIRED_IS_KNOWN != 0 && flags & SHADOW_REQUIRED == 0;
    if flags & SHADOW_ENABLED != 0 {
        "Mitigation: page tables of the kernel apart (KVA shadow)"
    } else if is_safe {
        "Not affected"
    } else {
        "Vulnerable"
    }
}

fn spectre_v2(flags: u32) -> &'static str {
    if flags & BRANCH_PREDICTION != 0 && flags & RETPOLINES != 0 {
        "Mitigation: Retpolines"
    } else if flags & BRANCH_PREDICTION != 0 {
        "Mitigation: branch predictions kept apart (IBRS)"
    } else if flags & BRANCH_PREDICTION_OFF_BY_POLICY != 0 {
        "Vulnerable: switched off by policy"
    } else {
        "Vulnerable"
    }
}

/// `None` from a system without the update that reports it.
fn store_bypass(flags: u32) -> Option<&'static str> {
    let state = if flags & STORE_BYPASS_OFF_EVERYWHERE != 0 {
        "Mitigation: Speculative Store Bypass disabled"
    } else if flags & STORE_BYPASS_REQUIRED != 0 {
        "Vulnerable"
    } else {
        "Not affected"
    };
    (flags & STORE_BYPASS_IS_KNOWN != 0).then_some(state)
}

/// The flags of a class; `None` if the system does not know it.
fn flags(class: SYSTEM_INFORMATION_CLASS) -> Option<u32> {
    // The second class has become longer; its first word stays.
    let mut words = [0_u32; 2];
    for count in [1, 2] {
        // SAFETY: any bits are a valid word.
        let (status, _) = unsafe { query(class, &mut words[..count]) };
        if status >= 0 {
            return Some(words[0]);
        }
    }
    None
}

// Microsoft Defender, which looks through files when programs open them.

const DEFENDER: &str = "MsMpEng.exe";
/// The places in which settings and policies switch the protection off.
const REAL_TIME: [&str; 2] = [
    r"SOFTWARE\Microsoft\Windows Defender\Real-Time Protection",
    r"SOFTWARE\Policies\Microsoft\Windows Defender\Real-Time Protection",
];

/// True if the protection in real time is not switched off; `None` where Defender does not run. No rights are needed
/// to ask. Next to another scanner it may run and watch nothing.
fn defender_watches() -> Option<bool> {
    let is_off = REAL_TIME
        .iter()
        .any(|key| machine::registry_number(key, "DisableRealtimeMonitoring") == Some(1));
    let programs = programs::running();
    let runs = programs.iter().any(|program| program.name == DEFENDER);
    runs.then_some(!is_off)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_11_has_its_own_name() {
        let home = || Some("Windows 10 Home".to_owned());
        assert_eq!(name(home(), 19_045), "Windows 10 Home");
        assert_eq!(name(home(), 22_631), "Windows 11 Home");
        let server = Some("Windows Server 2025 Standard".to_owned());
        assert_eq!(name(server, 26_100), "Windows Server 2025 Standard");
    }

    #[test]
    fn a_battery_is_there_only_if_the_system_knows_one() {
        let status = |flag, line, percent| SYSTEM_POWER_STATUS {
            BatteryFlag: flag,
            ACLineStatus: line,
            BatteryLifePercent: percent,
            ..SYSTEM_POWER_STATUS::default()
        };
        assert_eq!(in_status(&status(NO_BATTERY, 1, UNKNOWN)), []);
        assert_eq!(in_status(&status(UNKNOWN, UNKNOWN, UNKNOWN)), []);
        let [battery] = &in_status(&status(1, ON_BATTERY, 83))[..] else {
            panic!("one battery");
        };
        assert!(battery.is_discharging);
        assert_eq!(battery.percent, Some(83));
        let charging = &in_status(&status(8, 1, UNKNOWN))[0];
        assert!(!charging.is_discharging);
        assert_eq!(charging.percent, None);
    }

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

    #[test]
    fn flags_are_reported_in_the_words_of_linux() {
        assert_eq!(meltdown(SHADOW_REQUIRED_IS_KNOWN), "Not affected");
        assert_eq!(
            meltdown(SHADOW_REQUIRED_IS_KNOWN | SHADOW_REQUIRED),
            "Vulnerable"
        );
        assert!(meltdown(SHADOW_ENABLED | SHADOW_REQUIRED).starts_with("Mitigation"));
        assert!(spectre_v2(BRANCH_PREDICTION).starts_with("Mitigation"));
        assert_eq!(
            spectre_v2(BRANCH_PREDICTION | RETPOLINES),
            "Mitigation: Retpolines"
        );
        assert!(spectre_v2(BRANCH_PREDICTION_OFF_BY_POLICY).contains("policy"));
        assert_eq!(store_bypass(0), None);
        assert_eq!(store_bypass(STORE_BYPASS_IS_KNOWN), Some("Not affected"));
        assert_eq!(
            store_bypass(STORE_BYPASS_IS_KNOWN | STORE_BYPASS_REQUIRED),
            Some("Vulnerable")
        );
    }

    #[test]
    fn what_the_system_reports_has_a_state() {
        for (name, state) in mitigations() {
            println!("{name}: {state}");
            assert!(
                ["Mitigation", "Vulnerable", "Not affected"]
                    .iter()
                    .any(|word| state.starts_with(word))
            );
        }
    }
}
