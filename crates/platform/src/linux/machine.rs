use sha2::{Digest, Sha256};

use super::memory::{SystemMemory, base_page_bytes, huge_page_bytes};
use super::parse::word;
use super::topology;
use crate::machine::Machine;

pub use processor::hypervisor;

impl Machine {
    /// Reads the facts from the system.
    pub fn read() -> Machine {
        Machine {
            cpu: processor::cpu(),
            topology: topology::topology(),
            caches: topology::caches(),
            memory_bytes: SystemMemory::read().total,
            page_bytes: Some(base_page_bytes() as u64),
            huge_page_bytes: huge_page_bytes(),
            hypervisor: hypervisor(),
            product: product(),
            installation: word("/etc/machine-id")
                .map(|id| format!("{:x}", Sha256::digest(format!("oscope installation {id}")))),
        }
    }
}

/// Read from the firmware's tables, or from the device tree.
fn product() -> Option<String> {
    let dmi = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| word(format!("/sys/class/dmi/id/{name}")))
        .collect::<Vec<_>>()
        .join(" ");
    if dmi.is_empty() {
        device_tree("model")
    } else {
        Some(dmi)
    }
}

/// A string of the device tree; such strings end with a zero byte.
fn device_tree(name: &str) -> Option<String> {
    word(format!("/proc/device-tree/{name}"))
        .map(|text| text.trim_end_matches('\0').to_owned())
        .filter(|text| !text.is_empty())
}

#[cfg(target_arch = "x86_64")]
mod processor {
    pub(super) use crate::cpuid::cpu;
    pub use crate::cpuid::hypervisor;
}

#[cfg(not(target_arch = "x86_64"))]
mod processor {
    use super::super::parse::{colon_field, text};
    use super::{device_tree, word};
    use crate::machine::Cpu;

    /// The first processor in `/proc/cpuinfo`, with the field names of ARM kernels.
    pub(super) fn cpu() -> Cpu {
        let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
        let field = |name| colon_field(&cpuinfo, name);
        let number = |name| -> Option<u32> {
            let value = field(name)?;
            match value.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            }
        };
        Cpu {
            architecture: std::env::consts::ARCH.to_owned(),
            vendor: field("CPU implementer").map(str::to_owned),
            model: field("model name").map(str::to_owned),
            family: number("CPU part"),
            model_number: number("CPU variant"),
            stepping: number("CPU revision"),
            features: field("Features")
                .or_else(|| field("isa"))
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The hypervisor, as in [`Machine`].
    // Only a paravirtualised machine reports one.
    pub fn hypervisor() -> Option<String> {
        word("/sys/hypervisor/type").or_else(|| device_tree("hypervisor/compatible"))
    }
}
