//! The operations, and the types of numbers they are done on.

use crate::prelude::*;

/// An operation.
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

/// A type of numbers.
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

    /// The size of a number.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Integer32 | Self::Float32 => 4,
            Self::Integer64 | Self::Float64 => 8,
        }
    }

    /// The operations that it has.
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

/// An operation on a type of numbers.
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

    /// Its name among the loops.
    pub(super) fn kernel(self) -> String {
        format!("{}_{}", self.0.kernel(), self.1.kernel())
    }

    /// Its name for people.
    pub(super) fn title(self) -> String {
        format!("{} ({})", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, Work};
    use crate::prelude::*;
    use kernels::levels::{Compiler, Level, Loops};

    #[test]
    fn names_are_those_of_the_loops() {
        let loops = Loops::of(Compiler::Rust, Level::O0);
        for work in Work::basic(Number::ALL) {
            assert!(loops.operation(&work.kernel()).is_some(), "{work:?}");
        }
    }
}
