//! The blocks of a file that one thread processes.

/// The blocks `first`, `first + step`, … of a section of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Start of the section, in bytes.
    pub start: u64,
    /// End of the section, in bytes.
    pub end: u64,
    /// Block size in bytes; the last block of the section may be shorter.
    pub block_bytes: usize,
    /// Index of the first block, from the start of the section.
    pub first: u64,
    /// Distance between two blocks of the lane, in blocks.
    pub step: u64,
}

impl Lane {
    /// All blocks of a section, in order.
    pub fn whole(start: u64, end: u64, block_bytes: usize) -> Self {
        Self {
            start,
            end,
            block_bytes,
            first: 0,
            step: 1,
        }
    }

    /// Splits this lane into `threads` lanes, round-robin.
    pub fn split(&self, threads: usize) -> impl Iterator<Item = Self> + '_ {
        let threads = threads.max(1) as u64;
        (0..threads).map(move |thread| Self {
            first: self.first + thread * self.step,
            step: self.step * threads,
            ..self.clone()
        })
    }

    /// Offset and length of each block.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, usize)> + use<> {
        let block = self.block_bytes as u64;
        let (start, end, step) = (self.start, self.end, self.step);
        let mut index = Some(self.first);
        std::iter::from_fn(move || {
            let offset = index?.checked_mul(block)?.checked_add(start)?;
            let left = end.checked_sub(offset).filter(|left| *left > 0)?;
            index = index?.checked_add(step);
            Some((offset, left.min(block) as usize))
        })
    }

    /// Length of the longest block in the lane.
    pub fn longest_block(&self) -> usize {
        let len = self.end.saturating_sub(self.start);
        len.min(self.block_bytes as u64) as usize
    }

    /// True if the blocks follow each other without gaps.
    pub fn is_gapless(&self) -> bool {
        self.step == 1
    }
}

#[cfg(test)]
mod tests {
    use super::Lane;

    #[test]
    fn lanes_cover_each_block_of_a_section_once() {
        let whole = Lane::whole(10, 45, 10);
        let blocks: Vec<_> = whole.blocks().collect();
        assert_eq!(blocks, [(10, 10), (20, 10), (30, 10), (40, 5)]);
        let lanes: Vec<Vec<_>> = whole.split(3).map(|lane| lane.blocks().collect()).collect();
        assert_eq!(lanes[0], [(10, 10), (40, 5)]);
        assert_eq!(lanes[1], [(20, 10)]);
        assert_eq!(lanes[2], [(30, 10)]);
        assert_eq!(Lane::whole(5, 5, 1).blocks().count(), 0);
        assert_eq!(
            (whole.longest_block(), Lane::whole(4, 7, 10).longest_block()),
            (10, 3)
        );
    }

    #[test]
    fn a_lane_up_to_the_largest_offset_ends() {
        let lane = Lane::whole(u64::MAX - 5, u64::MAX, usize::MAX);
        assert_eq!(lane.blocks().count(), 1);
    }
}
