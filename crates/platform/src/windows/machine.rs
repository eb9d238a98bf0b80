use std::ffi::{CStr, c_char};
use std::mem::transmute;
use std::ptr;

use sha2::{Digest, Sha256};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, REG_ROUTINE_FLAGS, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW,
};
use windows_sys::core::{s, w};

use super::outcome::{text, wide};
use super::{memory, topology};
use crate::machine::Machine;

pub use processor::hypervisor;

impl Machine {
    pub fn read() -> Machine {
        Machine {
            cpu: processor::cpu(),
            topology: topology::topology(),
            caches: topology::caches(),
            memory_bytes: memory::status().map(|status| status.ullTotalPhys),
            page_bytes: Some(memory::base_page_bytes() as u64),
            huge_page_bytes: memory::large_page_bytes().map(|bytes| bytes as u64),
            hypervisor: hypervisor(),
            product: product(),
            installation: registry_word(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid")
                .map(|id| format!("{:x}", Sha256::digest(format!("oscope installation {id}")))),
        }
    }
}

/// From the firmware's tables, which the system copies at each start.
fn product() -> Option<String> {
    let word = |name| registry_word(r"HARDWARE\DESCRIPTION\System\BIOS", name);
    let words: Vec<String> = ["SystemManufacturer", "SystemProductName"]
        .into_iter()
        .filter_map(word)
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use raw_cpuid::{CpuIdReader, CpuIdReaderNative};

    pub(super) use crate::cpuid::cpu;

    /// `None` on a machine of its own whose Windows runs on Hyper-V: most do, since Windows guards parts of
    /// itself with it (virtualization-based security), and have no host and no neighbours for that.
    pub fn hypervisor() -> Option<String> {
        crate::cpuid::hypervisor().filter(|_| !is_root_of_hyper_v(&CpuIdReaderNative))
    }

    /// Only the root may create partitions, and only a nested Hyper-V reports that it is one
    /// ([Hypervisor Top Level Functional Specification](https://learn.microsoft.com/en-us/virtualization/hyper-v-on-windows/tlfs/feature-discovery)).
    fn is_root_of_hyper_v(registers: &impl CpuIdReader) -> bool {
        const INTERFACE: u32 = u32::from_le_bytes(*b"Hv#1");
        const CREATE_PARTITIONS: u32 = 1;
        const NESTED: u32 = 1 << 12;
        registers.cpuid1(0x4000_0000).eax >= 0x4000_0004
            && registers.cpuid1(0x4000_0001).eax == INTERFACE
            && registers.cpuid1(0x4000_0003).ebx & CREATE_PARTITIONS != 0
            && registers.cpuid1(0x4000_0004).eax & NESTED == 0
    }

    #[cfg(test)]
    mod tests {
        use super::is_root_of_hyper_v;
        use raw_cpuid::CpuIdResult;

        #[test]
        fn only_a_root_has_no_host() {
            let hyper_v = |allowed: u32, advised: u32| {
                move |leaf: u32, _: u32| {
                    let (eax, ebx) = match leaf {
                        0x4000_0000 => (0x4000_000b, 0),
                        0x4000_0001 => (u32::from_le_bytes(*b"Hv#1"), 0),
                        0x4000_0003 => (0, allowed),
                        0x4000_0004 => (advised, 0),
                        _ => (0, 0),
                    };
                    let (ecx, edx) = (0, 0);
                    CpuIdResult { eax, ebx, ecx, edx }
                }
            };
            assert!(is_root_of_hyper_v(&hyper_v(0x2bb9_ff6f, 0)));
            assert!(!is_root_of_hyper_v(&hyper_v(0x2bb9_ff6e, 0)));
            assert!(!is_root_of_hyper_v(&hyper_v(0x2bb9_ff6f, 1 << 12)));
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod processor {
    use crate::machine::Cpu;
    use crate::windows::machine::registry_word;

    const FIRST: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";

    pub(super) fn cpu() -> Cpu {
        Cpu {
            architecture: std::env::consts::ARCH.to_owned(),
            vendor: registry_word(FIRST, "VendorIdentifier"),
            model: registry_word(FIRST, "ProcessorNameString"),
            ..Cpu::default()
        }
    }

    /// No register reports it.
    pub fn hypervisor() -> Option<String> {
        None
    }
}

/// A number; `None` if there is none.
pub(super) fn registry_number(key: &str, name: &str) -> Option<u32> {
    let mut value = [0];
    // SAFETY: numbers of this type have 32 bits, which may be any.
    let is_there = unsafe { read_registry(key, name, RRF_RT_REG_DWORD, &mut value) };
    is_there.then_some(value[0])
}

/// A text, without white space around it; `None` if there is none or it is empty.
pub(super) fn registry_word(key: &str, name: &str) -> Option<String> {
    let mut value = [0_u16; 512];
    // SAFETY: texts consist of units of 16 bits, which may be any.
    let is_there = unsafe { read_registry(key, name, RRF_RT_REG_SZ, &mut value) };
    let word = is_there.then(|| text(&value).trim().to_owned())?;
    Some(word).filter(|word| !word.is_empty())
}

/// Reads a value of one kind; `false` if there is none, or it is longer.
///
/// # Safety
/// Whatever a value of this kind holds must be valid for `T`.
unsafe fn read_registry<T>(
    key: &str,
    name: &str,
    kind: REG_ROUTINE_FLAGS,
    value: &mut [T],
) -> bool {
    let mut len_bytes = size_of_val(value) as u32;
    // SAFETY: both names end with a zero, and the buffer has the given length.
    let outcome = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            wide(key).as_ptr(),
            wide(name).as_ptr(),
            kind,
            ptr::null_mut(),
            value.as_mut_ptr().cast(),
            &raw mut len_bytes,
        )
    };
    outcome == 0
}

// Wine, which runs programs for Windows on another system.

/// The version of Wine, e.g. `8.0`; `None` on Windows itself.
///
/// Only Wine's `ntdll` has this function
/// ([Wine Developer's Guide](https://gitlab.winehq.org/wine/wine/-/wikis/Developer-FAQ)).
pub(super) fn wine_version() -> Option<String> {
    // SAFETY: both names end with a zero.
    let function =
        unsafe { GetProcAddress(GetModuleHandleW(w!("ntdll.dll")), s!("wine_get_version")) }?;
    // SAFETY: Wine declares it so.
    let version: unsafe extern "C" fn() -> *const c_char = unsafe { transmute(function) };
    // SAFETY: it returns a constant string.
    let version = unsafe { CStr::from_ptr(version()) };
    Some(version.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_by_its_kind() {
        const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
        assert!(registry_word(VERSION, "CurrentVersion").is_some());
        assert_eq!(registry_number(VERSION, "CurrentVersion"), None);
        assert_eq!(registry_word(VERSION, "oscope has no value"), None);
    }
}
