//! The loops of one instruction set. Each instruction set fills in one [`InstructionSet`], and the
//! processor selects among them at run time.

use crate::portable;
use std::sync::LazyLock;

/// The loops for one set of vector instructions that this processor supports.
#[derive(Clone, Copy, Debug)]
pub struct InstructionSet {
    /// The vendor's name: `AVX-512`.
    pub(crate) name: &'static str,
    pub(crate) read: fn(&[u8]) -> u64,
    pub(crate) write: fn(&mut [u8], u64),
}

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

    /// The vendor's name: `AVX-512`, `AVX2`, `NEON`; `portable` for the loops without vector
    /// instructions.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// [`read`](crate::read) with this set.
    #[inline]
    pub fn read(self, bytes: &[u8]) -> u64 {
        (self.read)(bytes)
    }

    /// [`write`](crate::write) with this set.
    #[inline]
    pub fn write(self, bytes: &mut [u8], word: u64) {
        (self.write)(bytes, word);
    }
}
