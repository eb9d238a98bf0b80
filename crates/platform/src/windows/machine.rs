use std::sync::LazyLock;

use sha2::{Digest, Sha256};
use windows_sys::Win32::System::Memory::GetLargePageMinimum;
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

use super::{memory, registry, topology};
use crate::machine::{Machine, hex};

pub use processor::hypervisor;

impl Machine {
    pub fn read() -> Machine {
        Machine {
            cpu: processor::cpu(),
            topology: topology::topology(),
            caches: topology::caches(),
            memory_bytes: memory::status().map(|status| status.ullTotalPhys),
            page_bytes: Some(page_bytes() as u64),
            huge_page_bytes: large_page_bytes().map(|bytes| bytes as u64),
            hypervisor: hypervisor(),
            product: product(),
            installation: registry::word(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid")
                .map(|id| hex(&Sha256::digest(format!("oscope installation {id}")), 32)),
        }
    }
}

pub(super) fn page_bytes() -> usize {
    SYSTEM.page_bytes
}

/// The unit of the addresses at which memory and files can be mapped.
pub(super) fn allocation_granularity() -> usize {
    SYSTEM.allocation_granularity
}

/// `None` if the processor has no large pages.
pub(super) fn large_page_bytes() -> Option<usize> {
    // SAFETY: the call has no arguments.
    Some(unsafe { GetLargePageMinimum() }).filter(|bytes| *bytes > 0)
}

struct System {
    page_bytes: usize,
    allocation_granularity: usize,
}

static SYSTEM: LazyLock<System> = LazyLock::new(|| {
    let mut info = SYSTEM_INFO::default();
    // SAFETY: there is room for the result.
    unsafe { GetSystemInfo(&raw mut info) };
    System {
        page_bytes: info.dwPageSize as usize,
        allocation_granularity: info.dwAllocationGranularity as usize,
    }
});

/// From the firmware's tables, which the system copies at each start.
fn product() -> Option<String> {
    let word = |name| registry::word(r"HARDWARE\DESCRIPTION\System\BIOS", name);
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

    /// Only the root may create partitions, and only a nested Hyper-V says that it is one
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
    use crate::windows::registry;

    const FIRST: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";

    pub(super) fn cpu() -> Cpu {
        Cpu {
            architecture: std::env::consts::ARCH.to_owned(),
            vendor: registry::word(FIRST, "VendorIdentifier"),
            model: registry::word(FIRST, "ProcessorNameString"),
            ..Cpu::default()
        }
    }

    /// No register tells.
    pub fn hypervisor() -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_machine() {
        let machine = Machine::read();
        assert_eq!(machine.cpu.architecture, std::env::consts::ARCH);
        assert!(machine.memory_bytes > Some(1 << 20), "{machine:?}");
        assert!(machine.page_bytes.is_some_and(u64::is_power_of_two));
        assert!(machine.topology.threads >= machine.topology.cores);
        for cache in &machine.caches {
            assert!(cache.instances > 0 && cache.shared_by_cpus > 0, "{cache:?}");
        }
        assert!(allocation_granularity().is_multiple_of(page_bytes()));
    }
}
