//! The operations, and the types of numbers they are done on.

use crate::prelude::*;
use platform::machine::Cpu;

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    #[choice("multiply and add")]
    Fused,
    #[choice("square root")]
    Root,
}

impl Operation {
    /// Those that every type has.
    pub(super) const BASIC: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Divide];

    /// Its name among the loops.
    fn kernel(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Root => "root",
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide => self.name(),
        }
    }
}

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    #[choice("integer 32")]
    Integer32,
    #[choice("integer 64")]
    Integer64,
    #[choice("float 32")]
    Float32,
    #[choice("float 64")]
    Float64,
}

// The smallest number above 1. A chain of multiplications grows by it at each step, and takes seconds
// to leave the range of its type.
const ABOUT_ONE_32: f32 = 1.0 + f32::EPSILON;
const ABOUT_ONE_64: f64 = 1.0 + f64::EPSILON;

impl Number {
    /// Its name among the loops.
    fn kernel(self) -> &'static str {
        match self {
            Self::Integer32 => "u32",
            Self::Integer64 => "u64",
            Self::Float32 => "f32",
            Self::Float64 => "f64",
        }
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Integer32 | Self::Float32 => 4,
            Self::Integer64 | Self::Float64 => 8,
        }
    }

    pub(super) fn operations(self) -> &'static [Operation] {
        match self {
            Self::Integer32 | Self::Integer64 => &Operation::BASIC,
            Self::Float32 | Self::Float64 => Operation::ALL,
        }
    }

    /// The bits of the value that a chain of `operation` starts from, and of the other operand. No
    /// chain ends in zero, an infinity or a number too small to be normal.
    pub(super) fn operands(self, operation: Operation) -> (u64, u64) {
        let (start, operand) = match self {
            Self::Integer32 => (60_013, 0xffff_fff1),
            Self::Integer64 => (0x1_0000_000f, 0xffff_ffff_ffff_ffc5),
            Self::Float32 => (
                u64::from(1.7_f32.to_bits()),
                u64::from(ABOUT_ONE_32.to_bits()),
            ),
            Self::Float64 => (1.7_f64.to_bits(), ABOUT_ONE_64.to_bits()),
        };
        match operation {
            // The multiplication that follows the roots leads back to the start.
            Operation::Root => (start, start),
            _ => (start, operand),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work(pub(super) Operation, pub(super) Number);

impl Work {
    /// The basic operations on numbers of these types.
    pub(super) fn basic(types: &[Number]) -> impl Iterator<Item = Self> {
        let of = |number: &Number| {
            let number = *number;
            Operation::BASIC.map(|operation| Self(operation, number))
        };
        types.iter().flat_map(of)
    }

    /// Every operation on every type.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let of = |number: &'static Number| {
            let operations = number.operations().iter();
            operations.map(|operation| Self(*operation, *number))
        };
        Number::ALL.iter().flat_map(of)
    }

    /// Its name among the loops.
    pub(super) fn kernel(self) -> String {
        format!("{}_{}", self.0.kernel(), self.1.kernel())
    }

    pub(super) fn title(self) -> String {
        format!("{} ({})", self.0, self.1)
    }
}

// Latencies of instructions in cycles are published in two collections, which agree within a cycle:
// A. Abel and J. Reineke, <https://uops.info>, and A. Fog, "Instruction tables",
// <https://www.agner.org/optimize/>. The models of compilers agree with them within a cycle too: LLVM's of
// Skylake, Ice Lake and Zen 3 (`llvm-mca -instruction-tables`), and GCC's of Zen 4 and 5
// (`gcc/config/i386/zn4zn5.md`). Integer divisions are left out: their latency depends on the numbers.

/// A family of processors whose cores are alike.
pub(super) struct Core {
    pub name: &'static str,
    vendor: &'static str,
    family: u32,
    models: &'static [std::ops::RangeInclusive<u32>],
    /// Fewest and most cycles of latency.
    float_add: [f64; 2],
    float_multiply: [f64; 2],
    divide_32: [f64; 2],
    divide_64: [f64; 2],
    root_32: [f64; 2],
    root_64: [f64; 2],
}

const SKYLAKE: Core = Core {
    name: "Skylake server",
    vendor: "GenuineIntel",
    family: 6,
    models: &[85..=85],
    float_add: [4.0, 4.0],
    float_multiply: [4.0, 4.0],
    divide_32: [11.0, 11.0],
    divide_64: [13.0, 14.0],
    root_32: [12.0, 13.0],
    root_64: [13.0, 19.0],
};

const ZEN_3: Core = Core {
    name: "Zen 3 and 4",
    vendor: "AuthenticAMD",
    family: 25,
    models: &[0..=255],
    float_add: [3.0, 3.0],
    float_multiply: [3.0, 3.0],
    divide_32: [10.0, 11.0],
    divide_64: [13.0, 14.0],
    root_32: [14.0, 15.0],
    root_64: [20.0, 21.0],
};

/// A sum that feeds another one is there a cycle earlier.
const EARLIER_ADD: [f64; 2] = [2.0, 3.0];

const CORES: &[Core] = &[
    SKYLAKE,
    Core {
        name: "Ice Lake server",
        models: &[106..=106, 108..=108],
        ..SKYLAKE
    },
    Core {
        name: "Golden Cove",
        models: &[143..=143, 151..=151, 154..=154, 207..=207],
        float_add: EARLIER_ADD,
        ..SKYLAKE
    },
    ZEN_3,
    Core {
        name: "Zen 5",
        family: 26,
        float_add: EARLIER_ADD,
        ..ZEN_3
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
            (Multiply, Integer32 | Integer64) => Some([3.0, 3.0]),
            (Add | Subtract, Float32 | Float64) => Some(self.float_add),
            (Multiply, Float32 | Float64) => Some(self.float_multiply),
            (Fused, Float32 | Float64) => Some([4.0, 4.0]),
            (Divide, Float32) => Some(self.divide_32),
            (Divide, Float64) => Some(self.divide_64),
            (Root, Float32) => Some(self.root_32),
            (Root, Float64) => Some(self.root_64),
            (Divide | Fused | Root, Integer32 | Integer64) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::levels::{Level, Loops};

    #[test]
    fn names_are_those_of_the_loops() {
        let loops = Loops::rust(Level::O0);
        for work in Work::basic(Number::ALL) {
            assert!(loops.operation(&work.kernel()).is_some(), "{work:?}");
        }
    }
}
