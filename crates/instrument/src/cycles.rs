//! Cycles of a 32-bit multiplication whose operand is the result of the one before, by processor.
//!
//! With them, the time of [`kernels::MULTIPLY_CHAIN`] is the clock in Hz. A processor that is not in the
//! table has no clock in Hz, only one relative to its highest. Nor has an emulated one, which has no
//! cycles.

use kernels::MULTIPLICATIONS;
use platform::machine::Machine;

/// Processors with the same latency.
struct Row {
    /// As in [`platform::machine::Cpu::vendor`]: on x86 the name, on ARM the implementer.
    vendors: &'static [&'static str],
    /// On ARM the part.
    family: u32,
    /// Model numbers; empty for all models of the family.
    models: &'static [u32],
    cycles: f64,
}

const INTEL: &[&str] = &["GenuineIntel"];
const AMD: &[&str] = &["AuthenticAMD"];
/// ARM Limited.
const ARM: &[&str] = &["0x41"];
const AMPERE: &[&str] = &["0xc0"];

const fn row(vendors: &'static [&'static str], family: u32, cycles: f64) -> Row {
    Row {
        vendors,
        family,
        models: &[],
        cycles,
    }
}

const TABLE: [Row; 18] = [
    // Core 2 to Rocket Lake, Emerald Rapids and Raptor Lake, whose two types of core have the same
    // latency. Agner Fog, "Instruction tables" (agner.org/optimize), `IMUL r32,r32` of each
    // microarchitecture; Golden Cove and Gracemont also from uops.info, `IMUL_R32_R32`.
    Row {
        vendors: INTEL,
        family: 6,
        models: &[
            0x0f, 0x16, 0x17, 0x1d, 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a,
            0x3e, 0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, 0x4e, 0x5e, 0x55, 0x8e, 0x9e,
            0xa5, 0xa6, 0x66, 0x7e, 0x7d, 0x6a, 0x6c, 0x8c, 0x8d, 0xa7, 0x8f, 0xcf, 0x97, 0x9a,
            0xb7, 0xba, 0xbf,
        ],
        cycles: 3.0,
    },
    // Silvermont, Airmont, Goldmont, Goldmont Plus and Tremont, which need 5 for 64 bits. Agner Fog,
    // as above.
    Row {
        vendors: INTEL,
        family: 6,
        models: &[
            0x37, 0x4a, 0x4d, 0x5a, 0x5d, 0x4c, 0x5c, 0x5f, 0x7a, 0x86, 0x96, 0x9c,
        ],
        cycles: 3.0,
    },
    // Bonnell and Saltwell, the first Atoms. Agner Fog, as above.
    Row {
        vendors: INTEL,
        family: 6,
        models: &[0x1c, 0x26, 0x27, 0x35, 0x36],
        cycles: 5.0,
    },
    // K8, K10, Bobcat, Bulldozer to Excavator, Jaguar. Agner Fog, as above.
    row(AMD, 0x0f, 3.0),
    row(AMD, 0x10, 3.0),
    row(AMD, 0x14, 3.0),
    row(AMD, 0x15, 4.0),
    row(AMD, 0x16, 3.0),
    // Zen and Zen 2, the same as Dhyana, Zen 3 and 4, Zen 5. Agner Fog, as above.
    row(AMD, 0x17, 3.0),
    row(&["HygonGenuine"], 0x18, 3.0),
    row(AMD, 0x19, 3.0),
    row(AMD, 0x1a, 3.0),
    // Cortex-A57 and Cortex-A72. "Cortex-A72 Software Optimization Guide" of ARM, `MUL` in W form;
    // LLVM, AArch64SchedA57.td, `WriteIM32`.
    row(ARM, 0xd07, 3.0),
    row(ARM, 0xd08, 3.0),
    // Neoverse N1, which needs 4 for 64 bits. LLVM, AArch64SchedNeoverseN1.td, `WriteIM32`, which follows
    // the "Neoverse N1 Software Optimization Guide" of ARM. Neoverse N2: AArch64SchedNeoverseN2.td.
    row(ARM, 0xd0c, 2.0),
    row(ARM, 0xd49, 2.0),
    // AmpereOne. LLVM, AArch64SchedAmpere1.td, `WriteIM32`.
    row(AMPERE, 0xac3, 3.0),
    row(AMPERE, 0xac4, 3.0),
];

/// Clock cycles of a dependent multiplication; `None` if they are not known, or if the processor is
/// emulated.
pub fn cycles_per_multiplication(machine: &Machine) -> Option<f64> {
    /// The name that QEMU has for its own emulation. Under KVM it has another.
    const EMULATOR: &str = "QEMU";
    let cpu = &machine.cpu;
    let is_emulated = machine.hypervisor.as_deref() == Some(EMULATOR);
    // On ARM, the types of core of a machine differ, and the record names the processor of one.
    let is_ambiguous = cpu.architecture == "aarch64" && !machine.topology.core_types.is_empty();
    if is_emulated || is_ambiguous {
        return None;
    }
    let (vendor, family) = (cpu.vendor.as_deref()?, cpu.family?);
    let is_it = |row: &&Row| {
        row.vendors.contains(&vendor)
            && row.family == family
            && (row.models.is_empty()
                || cpu.model_number.is_some_and(|it| row.models.contains(&it)))
    };
    Some(TABLE.iter().find(is_it)?.cycles)
}

/// The clock in Hz at which the multiply chain takes `chain_ns`; `None` without a row in the table.
pub fn clock_hz(machine: &Machine, chain_ns: f64) -> Option<f64> {
    let cycles = cycles_per_multiplication(machine)? * MULTIPLICATIONS as f64;
    (chain_ns > 0.0).then(|| cycles / chain_ns * 1e9)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, clock_hz, cycles_per_multiplication};
    use platform::machine::{Cpu, Machine};

    fn machine(architecture: &str, vendor: &str, family: u32, model_number: u32) -> Machine {
        Machine {
            cpu: Cpu {
                architecture: architecture.into(),
                vendor: Some(vendor.into()),
                family: Some(family),
                model_number: Some(model_number),
                ..Cpu::default()
            },
            ..Machine::default()
        }
    }

    #[test]
    fn a_processor_in_the_table_has_a_clock() {
        let cycles = |vendor, family, model| {
            cycles_per_multiplication(&machine("x86_64", vendor, family, model))
        };
        assert_eq!(cycles("GenuineIntel", 6, 0x55), Some(3.0));
        assert_eq!(cycles("GenuineIntel", 6, 0x1c), Some(5.0));
        assert_eq!(cycles("AuthenticAMD", 0x19, 17), Some(3.0));
        assert_eq!(cycles("AuthenticAMD", 0x15, 2), Some(4.0));
        let arm = |part| cycles_per_multiplication(&machine("aarch64", "0x41", part, 1));
        assert_eq!((arm(0xd0c), arm(0xd08)), (Some(2.0), Some(3.0)));
        let hz = clock_hz(&machine("x86_64", "AuthenticAMD", 0x19, 17), 2400.0);
        assert!((hz.unwrap() - 4e9).abs() < 1.0, "{hz:?}");
    }

    #[test]
    fn without_a_row_or_under_emulation_there_is_no_clock() {
        let known = machine("x86_64", "AuthenticAMD", 0x19, 17);
        assert_eq!(
            clock_hz(&machine("x86_64", "AuthenticAMD", 0x99, 1), 2400.0),
            None
        );
        assert_eq!(
            clock_hz(&machine("x86_64", "GenuineIntel", 6, 0xff), 2400.0),
            None
        );
        assert_eq!(clock_hz(&Machine::default(), 2400.0), None);
        let with = |hypervisor: &str| Machine {
            hypervisor: Some(hypervisor.into()),
            ..known.clone()
        };
        assert_eq!(clock_hz(&with("QEMU"), 2400.0), None);
        assert!(clock_hz(&with("KVM"), 2400.0).is_some());
        let mut mixed = machine("aarch64", "0x41", 0xd08, 1);
        mixed.topology.core_types = vec![vec![0], vec![1]];
        assert_eq!(clock_hz(&mixed, 2400.0), None);
    }

    #[test]
    fn no_processor_is_in_two_rows() {
        for (index, row) in TABLE.iter().enumerate() {
            for other in &TABLE[index + 1..] {
                let shares_vendor = row.vendors.iter().any(|it| other.vendors.contains(it));
                let shares_model = row.models.is_empty()
                    || other.models.is_empty()
                    || row.models.iter().any(|it| other.models.contains(it));
                assert!(!(shares_vendor && row.family == other.family && shares_model));
            }
        }
    }
}
