//! Axes, metrics and method of `memory.bandwidth`.

use crate::memory::hierarchy::MODEL;
use crate::memory::pages::Pages;
use crate::prelude::*;
use instrument::point::{AxisKind, Level, LevelOf};

pub(in crate::memory) const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
pub(in crate::memory) const PAGES: AxisOf<Backing> = AxisOf::new("pages", "pages");

pub(super) const FIRST_WRITE: Metric<&str> = rate("first_write", "first write").in_version(2);
pub(in crate::memory) const READ: Metric<&str> = rate("read", "read");
pub(in crate::memory) const WRITE: Metric<&str> = rate("write", "write");
pub(super) const READ_FAULTS: Faults = Faults {
    major: faults("read_major_faults", "major faults a page, reading"),
    minor: faults("read_minor_faults", "minor faults a page, reading"),
};
pub(super) const WRITE_FAULTS: Faults = Faults {
    major: faults("write_major_faults", "major faults a page, writing"),
    minor: faults("write_minor_faults", "minor faults a page, writing"),
};

/// Page faults of a pass through swap, for each page.
#[derive(Clone, Copy)]
pub(super) struct Faults {
    /// Those that read from swap.
    pub(super) major: Metric<&'static str>,
    /// Those that found the page read ahead.
    pub(super) minor: Metric<&'static str>,
}

/// The memory or swap in which a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Backing {
    Pages(Pages),
    Swap(Swap),
}

/// The way in which a block gets into swap.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Swap {
    /// The worker may hold half of the block, so that every pass evicts what the next one needs.
    #[choice("swap, memory limited")]
    MemoryLimited,
    /// The kernel is asked to move the whole block to swap before each pass.
    #[choice("swap, paged out")]
    PagedOut,
}

impl LevelOf for Backing {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        match self {
            Self::Pages(pages) => pages.level(),
            Self::Swap(swap) => swap.level(),
        }
    }

    fn of(level: &Level) -> Option<Self> {
        let pages = Pages::of(level).map(Self::Pages);
        pages.or_else(|| Swap::of(level).map(Self::Swap))
    }
}

/// Two registers of 64 bytes a cycle at 8 GHz: more than any core loads or stores.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

const fn rate(name: &'static str, title: &'static str) -> Metric<&'static str> {
    Metric::bandwidth(name, title).bounded(MOST_BYTES_PER_SECOND)
}

const fn faults(name: &'static str, title: &'static str) -> Metric<&'static str> {
    Metric::fact(name, title, Unit::Count)
}

pub(super) const DESIGN: Design = Design {
    id: "memory.bandwidth",
    title: "Memory bandwidth by block size",
    question: "How fast does one core read and write memory, and how large may a block be to stay in \
               each cache?",
    method: formatcp!(
        "One core makes repeated passes over a block, from start to end, with its widest vector \
         instructions, several in flight. First write: each sample takes fresh memory from the \
         kernel, so the time includes the page faults and the kernel's zeroing. Small blocks are \
         taken many at a time, each on pages of its own. In huge pages, only blocks that fill \
         their pages are measured, since the kernel zeroes whole pages. The same amount is written \
         and freed once before: the host of a virtual machine may have lent that memory to others, \
         and the time to get it back is not included. Read: every byte is loaded and goes into a \
         checksum that is used. Write: every byte is stored through the caches, with no \
         instruction that bypasses them. A line that is not in a cache is fetched before it is \
         written; it still counts once. Bandwidth is the block size over the time of a pass. This \
         time is that of n passes over n, less the fixed cost that fewer passes show. From 128 MiB \
         on, it is that of a single pass after an untimed one. Base pages exclude huge pages; huge \
         pages are requested and verified. Swap: the block holds random bytes, which no swap \
         device can compress. The process may hold half of the block in memory, so each pass \
         evicts what the next one needs. If the memory of a process cannot be limited, the kernel \
         is asked before each pass to move the block to swap, until it has left memory. The page \
         faults of a pass are counted: major faults read from swap, minor faults found the page \
         read ahead. Capacities of caches are found from the reading curve, {MODEL}."
    ),
    source: "Report E, section 3",
    axes: &[BLOCK_SIZE.axis(), PAGES.axis()],
    metrics: &[
        FIRST_WRITE,
        READ,
        WRITE,
        READ_FAULTS.major,
        READ_FAULTS.minor,
        WRITE_FAULTS.major,
        WRITE_FAULTS.minor,
    ],
};

#[cfg(test)]
mod tests {
    use super::{Backing, Swap};
    use crate::memory::pages::made_up::BASE;
    use instrument::point::{Level, LevelOf};

    #[test]
    fn a_level_is_read_back_as_what_it_names() {
        for backing in [
            Backing::Pages(BASE),
            Backing::Swap(Swap::MemoryLimited),
            Backing::Swap(Swap::PagedOut),
        ] {
            assert_eq!(Backing::of(&backing.level()), Some(backing));
        }
        assert_eq!(Backing::of(&Level::from("swap")), None);
    }
}
