//! The level beyond memory: blocks whose pages are in swap.

use super::{BLOCK_SIZE, Backing, Faults, PAGES, READ, READ_FAULTS, Swap, WRITE, WRITE_FAULTS};
use crate::memory::SHARE_OF_MEMORY;
use crate::planning::by_profile;
use crate::prelude::*;
use instrument::experiment::Confinement;
use kernels::InstructionSet;
use kernels::levels::{read_ints, write_ints};
use platform::memory::{self, Mapping, PageSize};
use platform::usage::Usage;
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::thread;
use std::time::Duration;

/// The page size where the system does not report it.
const USUAL_PAGE_BYTES: u64 = 4096;
/// The most times that the kernel is asked to move a block to swap, and the pause after each. A page
/// stays in memory until the device has it.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
/// The part of the block that may stay in memory.
const STAYING_SHARE: f64 = 0.01;

/// The block and the way in which it gets into swap; `None` if there is too little swap.
pub(super) fn level(setting: &Setting) -> Option<(u64, Swap)> {
    let has_room = room(setting)
        .iter()
        .all(|need| need.missing(setting).is_none());
    let swap = if setting.can_limit_memory {
        Swap::MemoryLimited
    } else {
        Swap::PagedOut
    };
    has_room.then_some((block_bytes(setting), swap))
}

pub(super) fn needs(setting: &Setting) -> Vec<(Point, Need)> {
    let can_limit = Need::Situation {
        arises: setting.can_limit_memory,
        reason: "this system cannot limit the memory of a process".into(),
    };
    let of_way = |swap: &Swap| {
        let mut needs = room(setting).to_vec();
        if *swap == Swap::MemoryLimited {
            needs.push(can_limit.clone());
        }
        let point = Point::new().at(PAGES, Backing::Swap(*swap));
        needs.into_iter().map(move |need| (point.clone(), need))
    };
    Swap::ALL.iter().flat_map(of_way).collect()
}

fn room(setting: &Setting) -> [Need; 2] {
    let size = block_bytes(setting);
    [
        Need::Swap(Bytes(swap_wanted(size))),
        Need::Memory(Bytes(size * SHARE_OF_MEMORY)),
    ]
}

fn block_bytes(setting: &Setting) -> u64 {
    by_profile(setting.profile, [64 * MIB, 256 * MIB, 256 * MIB])
}

pub(super) fn confinement(point: &Point) -> Option<Confinement> {
    let Bytes(size) = point.level(BLOCK_SIZE).ok()?;
    let is_limited = point.level(PAGES) == Ok(Backing::Swap(Swap::MemoryLimited));
    is_limited.then(|| Confinement {
        memory_bytes: size / 2,
        swap_bytes: swap_wanted(size),
    })
}

/// The size of the block, and a little for other pages that the kernel moves.
fn swap_wanted(size: u64) -> u64 {
    size + size / 4
}

/// A block that no swap device can compress, and the way in which it gets into swap.
struct Block {
    memory: Mapping,
    /// The content of every page: random bytes, since zram and zswap compress.
    pattern: Vec<u8>,
    page_bytes: usize,
    swap: Swap,
    /// True if it is written and read by the report's listing.
    is_listed: bool,
}

impl Block {
    fn write(&mut self) {
        if self.is_listed {
            return write_ints(black_box(self.memory.as_mut_slice()), 0);
        }
        for page in self.memory.as_mut_slice().chunks_mut(self.page_bytes) {
            page.copy_from_slice(black_box(&self.pattern[..page.len()]));
        }
    }

    fn read(&mut self) {
        if self.is_listed {
            black_box(read_ints(black_box(self.memory.as_slice())));
            return;
        }
        black_box(InstructionSet::best().read(black_box(self.memory.as_slice())));
    }

    /// Makes sure that the next pass finds its pages in swap.
    fn swap_out(&mut self) -> Result<(), MeasureError> {
        if self.swap == Swap::MemoryLimited {
            // The pass before evicted them.
            return Ok(());
        }
        let may_stay = (self.memory.len() as f64 * STAYING_SHARE) as u64;
        for _ in 0..ATTEMPTS {
            self.memory.page_out()?;
            if self.memory.resident_bytes()? <= may_stay {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(MeasureError::Unsupported(format!(
            "the kernel keeps {:.3} of the block in memory though it was asked to move it to swap",
            Bytes(self.memory.resident_bytes()?)
        )))
    }
}

pub(super) fn measure(
    sampler: &mut Sampler<'_>,
    size: usize,
    swap: Swap,
    is_listed: bool,
) -> Result<(), MeasureError> {
    let page_bytes = memory::page_bytes(PageSize::Base).unwrap_or(USUAL_PAGE_BYTES) as usize;
    let mut random = Random::new(sampler.seed());
    let words = (0..page_bytes / 8).flat_map(|_| random.bits().to_ne_bytes());
    let block = RefCell::new(Block {
        memory: Mapping::anonymous(size, PageSize::Base)?,
        pattern: words.collect(),
        page_bytes,
        swap,
        is_listed,
    });
    block.borrow_mut().write();
    time(sampler, READ, READ_FAULTS, &block, Block::read)?;
    time(sampler, WRITE, WRITE_FAULTS, &block, Block::write)
}

/// Times single passes, and counts the page faults of the last.
fn time(
    sampler: &mut Sampler<'_>,
    metric: Metric,
    faults_of: Faults,
    block: &RefCell<Block>,
    pass: impl Fn(&mut Block),
) -> Result<(), MeasureError> {
    let size = block.borrow().memory.len();
    // Puts swap into the state that every timed pass starts from.
    pass(&mut block.borrow_mut());
    let before = Cell::new(Usage::default());
    sampler.once(
        metric,
        size as f64,
        |_| {
            block.borrow_mut().swap_out()?;
            before.set(Usage::of_thread()?);
            Ok(())
        },
        || {
            pass(&mut block.borrow_mut());
            Ok(())
        },
    )?;
    let faults = Usage::of_thread()?.since(&before.get());
    if faults.major_faults == 0 {
        return Err(unsupported(
            "no page was fetched from swap: the system kept them all in memory",
        ));
    }
    let pages = size as f64 / block.borrow().page_bytes as f64;
    sampler.value(faults_of.major, faults.major_faults as f64 / pages);
    sampler.value(faults_of.minor, faults.minor_faults as f64 / pages);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;
    use crate::memory::pages::made_up::BASE;

    #[test]
    fn swap_is_measured_where_there_is_enough_of_it_and_left_out_with_the_reason() {
        let enough = Setting {
            swap_bytes: 1 << 30,
            can_limit_memory: true,
            ..setting(Profile::Quick)
        };
        let without_rights = Setting {
            can_limit_memory: false,
            ..enough.clone()
        };
        let without_swap = Setting {
            swap_bytes: 64 * MIB,
            ..enough.clone()
        };
        let without_memory = Setting {
            available_bytes: 200 * MIB,
            ..enough.clone()
        };
        let limited = [PAGES.at(Backing::Swap(Swap::MemoryLimited))];
        for (setting, way, missing) in [
            (enough, Some(Swap::MemoryLimited), None),
            (without_rights, Some(Swap::PagedOut), Some("cannot limit")),
            (without_swap, None, Some("free swap")),
            (without_memory, None, Some("memory")),
        ] {
            assert_eq!(level(&setting), way.map(|way| (64 * MIB, way)));
            let needs = needs(&setting).into_iter();
            let needs = needs.filter(|(point, _)| point.matches(&limited));
            let found: Vec<_> = needs.filter_map(|(_, it)| it.missing(&setting)).collect();
            assert_eq!(found.len(), usize::from(missing.is_some()), "{found:?}");
            let is_named = missing.is_none_or(|missing| found[0].contains(missing));
            assert!(is_named, "{found:?}");
        }
    }

    #[test]
    fn only_a_worker_at_the_limited_level_is_confined_and_to_less_than_its_block() {
        let confined = |backing| {
            let point = Point::new().at(BLOCK_SIZE, Bytes(64 * MIB));
            confinement(&point.at(PAGES, backing))
        };
        let limits = confined(Backing::Swap(Swap::MemoryLimited)).expect("limited");
        assert!(limits.memory_bytes < 64 * MIB && limits.swap_bytes > 64 * MIB);
        assert_eq!(confined(Backing::Swap(Swap::PagedOut)), None);
        assert_eq!(confined(Backing::Pages(BASE)), None);
    }
}
