//! `memory.bandwidth`: the bandwidth of one core that writes and reads blocks, by their size.

mod findings;
mod points;
mod swap;

pub(super) use findings::{curve, in_both_pages};

use super::hierarchy::MODEL;
use super::pages::{self, Pages};
use super::{MOST_BYTES_PER_SECOND, SUPPLIED, of_block};
use crate::listing::{LISTING, NAMED, is_listed};
use crate::optimisation::{self, Compiler, Optimisation};
use crate::prelude::*;
use instrument::experiment::Confinement;
use kernels::InstructionSet;
use kernels::levels::{read_ints, write_ints};
use platform::memory::{Mapping, PageSize};
use std::cell::RefCell;
use std::hint::black_box;

pub(super) const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
pub(super) const PAGES: AxisOf<Backing> = AxisOf::new("pages", "pages");

const FIRST_WRITE: Metric = rate("first_write", "first write").in_version(2);
pub(super) const READ: Metric = rate("read", "read");
pub(super) const WRITE: Metric = rate("write", "write");
const READ_FAULTS: Faults = Faults {
    major: faults("read_major_faults", "major faults a page, reading"),
    minor: faults("read_minor_faults", "minor faults a page, reading"),
};
const WRITE_FAULTS: Faults = Faults {
    major: faults("write_major_faults", "major faults a page, writing"),
    minor: faults("write_minor_faults", "minor faults a page, writing"),
};

/// Page faults of a pass through swap, for each page.
#[derive(Clone, Copy)]
struct Faults {
    /// Those that read from swap.
    major: Metric,
    /// Those that found the page read ahead.
    minor: Metric,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    Pages(Pages),
    Swap(Swap),
}

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swap {
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

const fn rate(name: &'static str, title: &'static str) -> Metric {
    Metric::bandwidth(name, title).bounded(MOST_BYTES_PER_SECOND)
}

const fn faults(name: &'static str, title: &'static str) -> Metric {
    Metric::fact(name, title, Unit::Count)
}

const DESIGN: Design = Design {
    id: "memory.bandwidth",
    title: "Memory bandwidth by block size",
    question: "How fast does one core read and write memory, and how large may a block be to stay in \
               each cache?",
    method: formatcp!(
        "One core makes repeated passes over a block, from start to end, with its widest vector \
         instructions, several in flight. First write: each sample takes fresh memory from the \
         kernel, so the time includes the page faults and the kernel's zeroing. Small blocks are \
         taken many at a time, each on its own pages. In huge pages, only blocks that fill \
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
         read ahead. Capacities of caches are found from the reading curve, {MODEL}. With `--at \
         'listing=as printed'` the loops are those of the report, in C: `data[j] = j + i` and \
         `sum = data[j]`, one `int` after the other, after passes that write; the first write is not \
         measured."
    ),
    source: "Report E, section 3",
    axes: &[BLOCK_SIZE.refined_by(1 << 10), PAGES.axis(), NAMED],
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

pub(crate) struct Bandwidth;

/// Bytes read before anything is timed: a last-level cache takes in a new block over a dozen passes or
/// more.
const WARMING_BYTES: usize = 256 << 20;
/// Caches near the core take in a small block sooner.
const MOST_WARMING_PASSES: usize = 64;
/// From this size on, a single pass is long compared to the clock's error, and repeating passes until
/// they settle would take too long.
const SINGLE_PASSES_FROM: usize = 128 << 20;

impl Experiment for Bandwidth {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(points::LEAST_MEMORY))]
    }

    fn level_needs(&self, setting: &Setting) -> Vec<(Point, Need)> {
        swap::needs(setting)
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn confinement(&self, point: &Point) -> Option<Confinement> {
        swap::confinement(point)
    }

    fn counterpart(&self, point: &Point, metric: &str, _other: System) -> Option<Counterpart> {
        let is_swapped = matches!(point.level(PAGES), Ok(Backing::Swap(_)));
        (metric == FIRST_WRITE.name || is_swapped).then_some(SUPPLIED)
    }

    fn component(&self, point: &Point, metric: &str) -> Option<Component> {
        if metric == FIRST_WRITE.name {
            return Some(Component::Processes);
        }
        match point.level(PAGES).ok()? {
            Backing::Pages(pages) => Some(of_block(point.level(BLOCK_SIZE).ok()?, Some(pages))),
            Backing::Swap(_) => Some(Component::Disk),
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let block_size = point.level(BLOCK_SIZE)?.0 as usize;
        let is_listed = is_listed(point);
        if is_listed {
            // It says so where the C loops are not what they should be.
            optimisation::loops(Compiler::C, Optimisation::FULL, sampler);
        }
        match point.level(PAGES)? {
            Backing::Pages(pages) if is_listed => by_listing(sampler, block_size, pages),
            Backing::Pages(pages) => in_memory(sampler, block_size, pages),
            Backing::Swap(swap) => swap::measure(sampler, block_size, swap, is_listed),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(&results.without(LISTING))
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

fn in_memory(
    sampler: &mut Sampler<'_>,
    block_size: usize,
    pages: Pages,
) -> Result<(), MeasureError> {
    let (page_size, page_bytes) = pages.here()?;
    let set = InstructionSet::best();
    let word = sampler.seed();

    let fresh = RefCell::new(FreshMemory::new(block_size, page_size, page_bytes)?);
    let touched_bytes = fresh.borrow().work_bytes();
    let renew = |_: &mut Sampler<'_>| {
        fresh.replace(FreshMemory::new(block_size, page_size, page_bytes)?);
        Ok(())
    };
    let touch = || {
        fresh
            .borrow_mut()
            .blocks()
            .for_each(|block| set.write(block, word));
        Ok(())
    };
    if page_size == PageSize::Huge {
        // A virtual machine gives free memory back to its host in pieces of this size. The host takes
        // many times as long to supply it again as the system takes to fill it with zeros.
        touch()?;
    }
    if page_size == PageSize::Base || block_size.is_multiple_of(page_bytes) {
        sampler.once(FIRST_WRITE, touched_bytes, renew, touch)?;
    }

    let mut memory = fresh.into_inner();
    pages::verify(sampler, &memory.mapping, page_size)?;
    let block = memory.first_block();
    for _ in 0..warming_passes(block_size) {
        black_box(set.read(black_box(block)));
    }
    time(sampler, READ, block_size, || {
        black_box(set.read(black_box(block)));
    })?;
    time(sampler, WRITE, block_size, || {
        set.write(black_box(block), word);
    })
}

/// The passes of the report's listing: written, written and timed, read and timed.
fn by_listing(
    sampler: &mut Sampler<'_>,
    block_size: usize,
    pages: Pages,
) -> Result<(), MeasureError> {
    let (page_size, _) = pages.here()?;
    let mut mapping = Mapping::anonymous(block_size, page_size)?;
    let block = mapping.as_mut_slice();
    for pass in 0..warming_passes(block_size) {
        write_ints(black_box(&mut *block), pass as u32);
    }
    let mut pass = 0;
    time(sampler, WRITE, block_size, || {
        write_ints(black_box(&mut *block), pass);
        pass = pass.wrapping_add(1);
    })?;
    time(sampler, READ, block_size, || {
        black_box(read_ints(black_box(&*block)));
    })?;
    pages::verify(sampler, &mapping, page_size)
}

fn warming_passes(block_size: usize) -> usize {
    (WARMING_BYTES / block_size).clamp(1, MOST_WARMING_PASSES)
}

/// Times passes over a block: as many as it takes, or single ones if they are long enough.
fn time(
    sampler: &mut Sampler<'_>,
    metric: Metric,
    block_size: usize,
    mut pass: impl FnMut(),
) -> Result<(), MeasureError> {
    let work_bytes = block_size as f64;
    if block_size < SINGLE_PASSES_FROM {
        return sampler.repeat(metric, work_bytes, |passes| {
            (0..passes).for_each(|_| pass());
            Ok(())
        });
    }
    let mut once = || {
        pass();
        Ok(())
    };
    // Puts the caches into the state that every timed pass starts from.
    once()?;
    sampler.once(metric, work_bytes, |_| Ok(()), once)
}

/// One or more blocks in memory fresh from the system, each starting on its own page.
struct FreshMemory {
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
    fn new(
        block_size: usize,
        page_size: PageSize,
        page_bytes: usize,
    ) -> Result<Self, MeasureError> {
        let stride = block_size.next_multiple_of(page_bytes);
        let len = LEAST_BYTES.next_multiple_of(stride);
        Ok(Self {
            mapping: Mapping::anonymous(len, page_size)?,
            block_size,
            stride,
        })
    }

    fn work_bytes(&self) -> f64 {
        (self.mapping.len() / self.stride * self.block_size) as f64
    }

    fn blocks(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let strides = self.mapping.as_mut_slice().chunks_exact_mut(self.stride);
        strides.map(|stride| &mut stride[..self.block_size])
    }

    fn first_block(&mut self) -> &mut [u8] {
        &mut self.mapping.as_mut_slice()[..self.block_size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{count, measure, sampled};
    use platform::machine::Machine;
    use std::path::Path;

    fn point(size: u64, pages: Pages) -> Point {
        Point::new()
            .at(BLOCK_SIZE, Bytes(size))
            .at(PAGES, Backing::Pages(pages))
    }

    #[test]
    fn all_metrics_of_a_point_are_measured_here() {
        let machine = Machine::read();
        let (Some(base), Some(page_bytes)) = (Pages::base(&machine), machine.page_bytes) else {
            println!("skipped: the system does not report its page size");
            return;
        };
        for size in [1 << 10, 1 << 20] {
            let samples = sampled(&Bandwidth, &point(size, base), &[FIRST_WRITE, READ, WRITE]);
            let mut samples = samples.iter();
            let first = samples.find(|sample| sample.metric == FIRST_WRITE.name);
            let faults = first.map(|sample| sample.usage.minor_faults);
            assert!(faults >= Some(512 * 1024 / page_bytes), "{faults:?}");
        }
    }

    #[test]
    fn huge_pages_are_there_or_the_point_says_why_not() {
        let machine = Machine::read();
        let (Some(huge), Some(huge_bytes)) = (Pages::huge(&machine), machine.huge_page_bytes)
        else {
            println!("skipped: this machine has no huge pages");
            return;
        };
        // A block that fills half of its page says nothing of the first write.
        for (size, first_writes) in [(huge_bytes / 2, false), (huge_bytes, true)] {
            match measure(&Bandwidth, &point(size, huge), Path::new("/")) {
                Ok((samples, _)) => {
                    assert!(count(&samples, READ) >= 1);
                    assert_eq!(count(&samples, FIRST_WRITE) >= 1, first_writes);
                }
                Err(error) => assert!(error.to_string().contains("huge"), "{error}"),
            }
        }
    }

    #[test]
    fn small_blocks_come_by_the_dozen_and_large_ones_alone() {
        let mut small = FreshMemory::new(1 << 10, PageSize::Base, 4096).expect("memory");
        let starts: Vec<usize> = small.blocks().map(|it| it.as_ptr().addr()).collect();
        assert_eq!(starts.len(), LEAST_BYTES / 4096);
        assert!(starts.windows(2).all(|two| two[1] - two[0] == 4096));
        let mut large = FreshMemory::new(5 << 20, PageSize::Base, 4096).expect("memory");
        assert_eq!(large.blocks().count(), 1);
        assert_eq!(large.first_block().len(), 5 << 20);
    }
}
