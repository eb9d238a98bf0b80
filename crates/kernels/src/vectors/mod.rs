//! Arithmetic in vector registers: the maximum number of operations that one core can run in
//! parallel.
//!
//! Each instruction set has its own file with a table of its operations. The loop around them is
//! the same for all.

#[macro_use]
mod chains;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

/// Vector instructions per iteration: two on each of ten registers.
pub const VECTORS_IN_A_TURN: u64 = 2 * CHAINS;
/// Independent chains: more than the operations in flight in any unit, and as many as every
/// instruction set has registers for.
const CHAINS: u64 = 10;

/// The loop of one operation on one type, in the registers of one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    /// The vendor's name of the instruction set: `AVX-512`.
    pub set: &'static str,
    /// Bytes per register.
    pub register_bytes: u64,
    run: Loop,
}

/// Runs `turns` iterations from the value with the bits `x`, with the value of `y` as the other
/// operand. Returns a mix of all results.
type Loop = unsafe fn(turns: u64, x: u64, y: u64) -> u64;

/// An instruction set that this processor has.
struct Set {
    name: &'static str,
    register_bytes: u64,
    /// Operations by type.
    operations: [Operations; 4],
}

/// Loops by name, as in `add_f32`.
type Operations = &'static [(&'static str, Loop)];

/// The widest first. Each returns its operations if the processor supports the instructions.
const SETS: &[fn() -> Option<Set>] = &[
    #[cfg(target_arch = "x86_64")]
    avx512::set,
    #[cfg(target_arch = "x86_64")]
    avx2::set,
    #[cfg(target_arch = "aarch64")]
    neon::set,
];

impl Vectors {
    /// The operation called `name`, as in [`crate::levels::Loops::operation`], in each instruction
    /// set that this processor supports and that has the operation, the widest first.
    pub fn available(name: &str) -> impl Iterator<Item = Self> {
        let sets = SETS.iter().filter_map(|set| set());
        sets.filter_map(move |set| {
            let mut operations = set.operations.into_iter().flatten();
            let (_, run) = operations.find(|(found, _)| *found == name)?;
            Some(Self {
                set: set.name,
                register_bytes: set.register_bytes,
                run: *run,
            })
        })
    }

    /// Runs `turns` times [`VECTORS_IN_A_TURN`] operations on whole registers. All elements start
    /// from the value with the low bits of `x`, and the value of `y` is the other operand. A caller
    /// that times it must use the result.
    pub fn throughput(&self, turns: u64, x: u64, y: u64) -> u64 {
        // SAFETY: the processor has the instructions, or its table would not be in use. The loop
        // accesses only its own variables, for any arguments.
        unsafe { (self.run)(turns, x, y) }
    }
}
