//! The identity and features of an x86-64 CPU, on any operating system.

use raw_cpuid::{CpuId, Hypervisor};

use crate::machine::Cpu;

/// The processor that runs this thread.
pub(crate) fn cpu() -> Cpu {
    let cpuid = CpuId::new();
    let feature = cpuid.get_feature_info();
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        vendor: cpuid
            .get_vendor_info()
            .map(|vendor| vendor.as_str().to_owned()),
        model: cpuid
            .get_processor_brand_string()
            .map(|brand| brand.as_str().trim().to_owned()),
        family: feature.as_ref().map(|info| info.family_id().into()),
        model_number: feature.as_ref().map(|info| info.model_id().into()),
        stepping: feature.as_ref().map(|info| info.stepping_id().into()),
        features: features(),
    }
}

/// The hypervisor, as in [`crate::machine::Machine`].
pub fn hypervisor() -> Option<String> {
    let cpuid = CpuId::new();
    if !cpuid.get_feature_info()?.has_hypervisor() {
        return None;
    }
    // A hypervisor without its own CPUID leaves has no name, but it is one.
    let Some(info) = cpuid.get_hypervisor_info() else {
        return Some("unknown".to_owned());
    };
    Some(match info.identify() {
        Hypervisor::Unknown(..) => "unknown".to_owned(),
        known => format!("{known:?}"),
    })
}

/// Extensions that kernels and string functions use for their selection, if both CPU and system
/// enable them.
fn features() -> Vec<String> {
    macro_rules! detected {
        ($($name:tt),*) => {
            [$(($name, is_x86_feature_detected!($name))),*]
        };
    }
    detected!(
        "sse2",
        "sse4.2",
        "avx",
        "avx2",
        "fma",
        "bmi2",
        "popcnt",
        "aes",
        "sha",
        "pclmulqdq",
        "avx512f",
        "avx512bw",
        "avx512vl",
        "vaes",
        "movbe"
    )
    .into_iter()
    .filter(|(_, present)| *present)
    .map(|(name, _)| name.to_owned())
    .collect()
}
