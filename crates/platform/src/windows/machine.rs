use std::sync::LazyLock;

use sha2::{Digest, Sha256};
use windows_sys::Win32::System::Memory::GetLargePageMinimum;
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

use super::{memory, registry, topology};
use crate::machine::{Machine, hex};

pub(crate) use processor::hypervisor;

pub(crate) fn read() -> Machine {
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
    pub(super) use crate::cpuid::cpu;
    pub(crate) use crate::cpuid::hypervisor;
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
    pub(crate) fn hypervisor() -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_machine() {
        let machine = read();
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
