//! Memory that has not been touched yet.

use crate::prelude::*;
use platform::memory::{Mapping, PageSize};

/// One or more blocks in memory fresh from the system, each starting on a page of its own.
pub(super) struct FreshMemory {
    mapping: Mapping,
    block_size: usize,
    /// From the start of one block to that of the next, in bytes.
    stride: usize,
}

/// Enough base pages that the first touch of all takes long compared to the clock's error.
const LEAST_BYTES: usize = 512 << 10;

impl FreshMemory {
    /// As many blocks of `block_size` bytes as it takes to time their first touch, but at least
    /// one, on pages of `page_bytes`.
    pub(super) fn new(
        block_size: usize,
        page_size: PageSize,
        page_bytes: usize,
    ) -> Result<Self, MeasureError> {
        let stride = block_size.next_multiple_of(page_bytes);
        let len = LEAST_BYTES.next_multiple_of(stride);
        let mapping = Mapping::anonymous(len, page_size)?;
        Ok(Self {
            mapping,
            block_size,
            stride,
        })
    }

    /// Bytes in all blocks together.
    pub(super) fn work_bytes(&self) -> f64 {
        (self.mapping.len() / self.stride * self.block_size) as f64
    }

    pub(super) fn blocks(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let strides = self.mapping.as_mut_slice().chunks_exact_mut(self.stride);
        strides.map(|stride| &mut stride[..self.block_size])
    }

    pub(super) fn first_block(&mut self) -> &mut [u8] {
        &mut self.mapping.as_mut_slice()[..self.block_size]
    }

    /// The memory, to be asked about its pages.
    pub(super) fn mapping(&self) -> &Mapping {
        &self.mapping
    }
}

#[cfg(test)]
mod tests {
    use super::{FreshMemory, LEAST_BYTES};
    use platform::memory::PageSize;

    #[test]
    fn small_blocks_come_by_the_dozen_and_large_ones_alone() {
        let mut small = FreshMemory::new(1 << 10, PageSize::Base, 4096).expect("memory");
        assert_eq!(small.blocks().count(), LEAST_BYTES / 4096);
        assert!(
            small
                .blocks()
                .all(|block| block.len() == 1 << 10 && block.iter().all(|b| *b == 0))
        );
        let apart = small
            .blocks()
            .map(|block| block.as_ptr().addr())
            .collect::<Vec<_>>();
        assert!(apart.is_sorted() && apart[1] - apart[0] == 4096);

        let mut large = FreshMemory::new(5 << 20, PageSize::Base, 4096).expect("memory");
        assert_eq!(large.blocks().count(), 1);
        assert_eq!(large.first_block().len(), 5 << 20);
    }
}
