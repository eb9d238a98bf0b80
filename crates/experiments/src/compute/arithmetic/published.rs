//! Published latencies of instructions in cycles, from two public collections that agree within a
//! cycle: A. Abel and J. Reineke, <https://uops.info>, and A. Fog, "Instruction
//! tables", <https://www.agner.org/optimize/>. The models that compilers schedule
//! with agree with them within a cycle too: LLVM's models of Skylake, Ice Lake and Zen 3 (`llvm-mca -instruction-tables`), and GCC's
//! of Zen 4 and 5 (`gcc/config/i386/zn4zn5.md`). Integer divisions are left out, since theirs depend on
//! the numbers.

use super::operations::{Number, Operation, Work};
use platform::machine::Cpu;

/// A family of processors whose cores are alike.
pub(super) struct Core {
    /// The vendor's name for it.
    pub name: &'static str,
    vendor: &'static str,
    family: u32,
    models: &'static [std::ops::RangeInclusive<u32>],
    /// Fewest and most cycles of latency.
    integer_multiply: [f64; 2],
    float_add: [f64; 2],
    float_multiply: [f64; 2],
    fused: [f64; 2],
    divide_32: [f64; 2],
    divide_64: [f64; 2],
    root_32: [f64; 2],
    root_64: [f64; 2],
}

const CORES: &[Core] = &[
    Core {
        name: "Skylake server",
        vendor: "GenuineIntel",
        family: 6,
        models: &[85..=85],
        integer_multiply: [3.0, 3.0],
        float_add: [4.0, 4.0],
        float_multiply: [4.0, 4.0],
        fused: [4.0, 4.0],
        divide_32: [11.0, 11.0],
        divide_64: [13.0, 14.0],
        root_32: [12.0, 13.0],
        root_64: [13.0, 19.0],
    },
    Core {
        name: "Ice Lake server",
        vendor: "GenuineIntel",
        family: 6,
        models: &[106..=106, 108..=108],
        integer_multiply: [3.0, 3.0],
        float_add: [4.0, 4.0],
        float_multiply: [4.0, 4.0],
        fused: [4.0, 4.0],
        divide_32: [11.0, 11.0],
        divide_64: [13.0, 14.0],
        root_32: [12.0, 13.0],
        root_64: [13.0, 19.0],
    },
    Core {
        // A sum that feeds another one is there a cycle earlier.
        name: "Golden Cove",
        vendor: "GenuineIntel",
        family: 6,
        models: &[143..=143, 151..=151, 154..=154, 207..=207],
        integer_multiply: [3.0, 3.0],
        float_add: [2.0, 3.0],
        float_multiply: [4.0, 4.0],
        fused: [4.0, 4.0],
        divide_32: [11.0, 11.0],
        divide_64: [13.0, 14.0],
        root_32: [12.0, 13.0],
        root_64: [13.0, 19.0],
    },
    Core {
        name: "Zen 3 and 4",
        vendor: "AuthenticAMD",
        family: 25,
        models: &[0..=255],
        integer_multiply: [3.0, 3.0],
        float_add: [3.0, 3.0],
        float_multiply: [3.0, 3.0],
        fused: [4.0, 4.0],
        divide_32: [10.0, 11.0],
        divide_64: [13.0, 14.0],
        root_32: [14.0, 15.0],
        root_64: [20.0, 21.0],
    },
    Core {
        // A sum that feeds another one is there a cycle earlier.
        name: "Zen 5",
        vendor: "AuthenticAMD",
        family: 26,
        models: &[0..=255],
        integer_multiply: [3.0, 3.0],
        float_add: [2.0, 3.0],
        float_multiply: [3.0, 3.0],
        fused: [4.0, 4.0],
        divide_32: [10.0, 11.0],
        divide_64: [13.0, 14.0],
        root_32: [14.0, 15.0],
        root_64: [20.0, 21.0],
    },
];

/// The core in `cpu`, if its latencies are known here.
pub(super) fn core(cpu: &Cpu) -> Option<&'static Core> {
    let (vendor, family) = (cpu.vendor.as_deref()?, cpu.family?);
    let model = cpu.model_number?;
    CORES.iter().find(|core| {
        let is_model = core.models.iter().any(|models| models.contains(&model));
        core.vendor == vendor && core.family == family && is_model
    })
}

impl Core {
    /// Fewest and most cycles that an operation takes from operand to outcome.
    pub(super) fn latency_cycles(&self, Work(operation, number): Work) -> Option<[f64; 2]> {
        use Number::{Float32, Float64, Integer32, Integer64};
        use Operation::{Add, Divide, Fused, Multiply, Root, Subtract};
        match (operation, number) {
            (Add | Subtract, Integer32 | Integer64) => Some([1.0, 1.0]),
            (Multiply, Integer32 | Integer64) => Some(self.integer_multiply),
            (Add | Subtract, Float32 | Float64) => Some(self.float_add),
            (Multiply, Float32 | Float64) => Some(self.float_multiply),
            (Fused, Float32 | Float64) => Some(self.fused),
            (Divide, Float32) => Some(self.divide_32),
            (Divide, Float64) => Some(self.divide_64),
            (Root, Float32) => Some(self.root_32),
            (Root, Float64) => Some(self.root_64),
            (Divide | Fused | Root, Integer32 | Integer64) => None,
        }
    }
}
