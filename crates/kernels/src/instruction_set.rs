//! The loops of one instruction set. Each instruction set fills in one [`InstructionSet`]; `dispatch`
//! selects among them.

/// The loops for one set of vector instructions that this processor supports.
#[derive(Clone, Copy, Debug)]
pub struct InstructionSet {
    /// The vendor's name: `AVX-512`, `AVX2`, `NEON`; `portable` for the loops without vector
    /// instructions.
    pub name: &'static str,
    pub(crate) read: fn(&[u8]) -> u64,
    pub(crate) write: fn(&mut [u8], u64),
}

impl InstructionSet {
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
