//! Arithmetic in vector registers: as many operations at once as one core can do.
//!
//! Each instruction set has a file of its own with a table of its operations; the loop around them is
//! the same for all.

#[macro_use]
mod chains;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

/// Vector instructions in a turn of a loop: two on each of ten registers.
pub const VECTORS_IN_A_TURN: u64 = 2 * CHAINS;
/// Chains that do not wait for each other: more than any unit has operations under way at once, and
/// as many as every instruction set has registers for.
const CHAINS: u64 = 10;

/// The loop of one operation on one type, in the registers of one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    set: &'static str,
    register_bytes: u64,
    run: Loop,
}

/// So many turns that start from the value with the bits of the first word and have that of the second
/// as the other operand; gives a mix of all outcomes.
type Loop = unsafe fn(turns: u64, x: u64, y: u64) -> u64;

/// An instruction set that this processor has.
struct Set {
    name: &'static str,
    register_bytes: u64,
    /// By type.
    operations: [Operations; 4],
}

/// Loops by name, as in `add_f32`.
type Operations = &'static [(&'static str, Loop)];

/// The widest first. Each gives its operations if the processor has the instructions.
#[cfg(target_arch = "x86_64")]
const SETS: &[fn() -> Option<Set>] = &[avx512::set, avx2::set];
#[cfg(target_arch = "aarch64")]
const SETS: &[fn() -> Option<Set>] = &[neon::set];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const SETS: &[fn() -> Option<Set>] = &[];

impl Vectors {
    /// The operation called `name`, as in [`crate::levels::Loops::operation`], in each instruction set
    /// that this processor has and that has it, the widest first.
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

    /// As its vendor calls the instruction set: `AVX-512`.
    pub fn set(&self) -> &'static str {
        self.set
    }

    /// Bytes in a register.
    pub fn register_bytes(&self) -> u64 {
        self.register_bytes
    }

    /// `turns` times [`VECTORS_IN_A_TURN`] operations on whole registers, all elements of which start
    /// from the value with the low bits of `x` and have that of `y` as the other operand. A caller that
    /// times it must use the outcome.
    pub fn throughput(&self, turns: u64, x: u64, y: u64) -> u64 {
        // SAFETY: the processor has the instructions, or its table would not have been given; the loop
        // touches nothing but its own variables, for any arguments.
        unsafe { (self.run)(turns, x, y) }
    }
}
