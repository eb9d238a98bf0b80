//! The mitigations of the processor's vulnerabilities, under the names that Linux gives them.

use std::collections::BTreeMap;

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS,
};

// The classes and flags that Microsoft's script `SpeculationControl` asks for and explains
// (https://learn.microsoft.com/en-us/troubleshoot/windows-server/virtualization/understand-get-speculationcontrolsettings).
const KERNEL_VA_SHADOW: SYSTEM_INFORMATION_CLASS = 196;
const SPECULATION_CONTROL: SYSTEM_INFORMATION_CLASS = 201;

const SHADOW_ENABLED: u32 = 0x01;
const SHADOW_REQUIRED: u32 = 0x10;
const SHADOW_REQUIRED_IS_TOLD: u32 = 0x20;

const BRANCH_PREDICTION: u32 = 0x01;
const BRANCH_PREDICTION_OFF_BY_POLICY: u32 = 0x02;
const STORE_BYPASS_IS_TOLD: u32 = 0x100;
const STORE_BYPASS_OFF_EVERYWHERE: u32 = 0x400;
const STORE_BYPASS_REQUIRED: u32 = 0x1000;
const RETPOLINES: u32 = 0x4000;

/// Each vulnerability that the system tells of, and what it does against it, in the form that Linux uses.
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
    let is_safe = flags & SHADOW_REQUIRED_IS_TOLD != 0 && flags & SHADOW_REQUIRED == 0;
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

/// `None` from a system that was not updated to tell.
fn store_bypass(flags: u32) -> Option<&'static str> {
    let state = if flags & STORE_BYPASS_OFF_EVERYWHERE != 0 {
        "Mitigation: Speculative Store Bypass disabled"
    } else if flags & STORE_BYPASS_REQUIRED != 0 {
        "Vulnerable"
    } else {
        "Not affected"
    };
    (flags & STORE_BYPASS_IS_TOLD != 0).then_some(state)
}

/// The flags of a class; `None` if the system does not know it.
fn flags(class: SYSTEM_INFORMATION_CLASS) -> Option<u32> {
    // The second class has become longer; its first word stays.
    let mut words = [0_u32; 2];
    for count in [1, 2] {
        // SAFETY: the buffer has at least the length that is given.
        let status = unsafe {
            NtQuerySystemInformation(
                class,
                words.as_mut_ptr().cast(),
                (count * size_of::<u32>()) as u32,
                std::ptr::null_mut(),
            )
        };
        if status >= 0 {
            return Some(words[0]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_in_the_words_of_linux() {
        assert_eq!(meltdown(SHADOW_REQUIRED_IS_TOLD), "Not affected");
        assert_eq!(
            meltdown(SHADOW_REQUIRED_IS_TOLD | SHADOW_REQUIRED),
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
        assert_eq!(store_bypass(STORE_BYPASS_IS_TOLD), Some("Not affected"));
        assert_eq!(
            store_bypass(STORE_BYPASS_IS_TOLD | STORE_BYPASS_REQUIRED),
            Some("Vulnerable")
        );
    }

    #[test]
    fn what_the_system_tells_has_a_state() {
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
