//! Selects among the instruction sets at run time.

use crate::instruction_set::InstructionSet;
use crate::portable;
use std::sync::LazyLock;

/// The widest first. Each returns its loops if the processor supports the instructions.
const VECTOR_SETS: &[fn() -> Option<InstructionSet>] = &[
    #[cfg(target_arch = "x86_64")]
    crate::avx512::loops,
    #[cfg(target_arch = "x86_64")]
    crate::avx2::loops,
    #[cfg(target_arch = "aarch64")]
    crate::neon::loops,
];

static BEST: LazyLock<InstructionSet> = LazyLock::new(|| {
    InstructionSet::available()
        .next()
        .expect("the portable loops are always available")
});

impl InstructionSet {
    /// The widest set that this processor supports.
    #[inline]
    pub fn best() -> Self {
        *BEST
    }

    /// All sets that this processor supports, the widest first, the portable loops last.
    pub fn available() -> impl Iterator<Item = Self> {
        VECTOR_SETS
            .iter()
            .filter_map(|loops| loops())
            .chain([portable::loops()])
    }
}
