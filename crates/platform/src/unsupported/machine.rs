use crate::machine::{Cpu, Machine};

#[cfg(target_arch = "x86_64")]
pub(crate) use crate::cpuid::hypervisor;

#[cfg(target_arch = "x86_64")]
use crate::cpuid::cpu;

#[cfg(not(target_arch = "x86_64"))]
fn cpu() -> Cpu {
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        ..Cpu::default()
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn hypervisor() -> Option<String> {
    None
}

pub(crate) fn read() -> Machine {
    let cpu: Cpu = cpu();
    Machine {
        cpu,
        hypervisor: hypervisor(),
        ..Machine::default()
    }
}
