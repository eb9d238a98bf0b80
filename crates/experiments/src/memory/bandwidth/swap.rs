//! The level beyond memory: blocks whose pages are in swap.

use super::{BLOCK_SIZE, READ, READ_FAULTS, WRITE, WRITE_FAULTS};
use crate::memory::pages::PAGES;
use instrument::experiment::{Confinement, MeasureError};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;
use instrument::quantity::Bytes;
use instrument::sampler::Sampler;
use instrument::statistics::random::Random;
use kernels::InstructionSet;
use platform::memory::{Mapping, PageSize};
use platform::usage::Usage;
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::thread;
use std::time::Duration;

/// The worker may hold half of the block, so that every pass over it drives out what the next needs.
pub(super) const LIMITED: &str = "swap, memory limited";
/// The kernel is asked to move the whole block to swap before each pass.
pub(super) const PAGED_OUT: &str = "swap, paged out";

const MIB: u64 = 1 << 20;
/// No more than this part of the memory available is filled on the way to swap.
const SHARE_OF_MEMORY: u64 = 4;
/// How often and how long the kernel is asked to move a block to swap, and how much of it may stay. A
/// page stays until the device has it.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
const STAYING_SHARE: f64 = 0.01;

/// The block and the manner in which it gets into swap; `None` where there is too little of it.
pub(super) fn level(setting: &Setting) -> Option<(u64, &'static str)> {
    let size = match setting.profile {
        Profile::Quick => 64 * MIB,
        Profile::Standard | Profile::Thorough => 256 * MIB,
    };
    let has_room = setting.swap_bytes >= swap_wanted(size)
        && setting.available_bytes / SHARE_OF_MEMORY >= size;
    let manner = if setting.can_limit_memory {
        LIMITED
    } else {
        PAGED_OUT
    };
    has_room.then_some((size, manner))
}

pub(super) fn confinement(point: &Point) -> Option<Confinement> {
    let size = point.number(BLOCK_SIZE).ok()?;
    (point.choice(PAGES) == Ok(LIMITED)).then(|| Confinement {
        memory_bytes: size / 2,
        swap_bytes: swap_wanted(size),
    })
}

/// The block, and a little for what else the kernel moves.
fn swap_wanted(size: u64) -> u64 {
    size + size / 4
}

/// A block that no swap device can make smaller, and the way in which it gets there.
struct Block {
    memory: Mapping,
    /// What a page is filled with: random bytes, since zram and zswap compress.
    pattern: Vec<u8>,
    page_bytes: usize,
    is_paged_out: bool,
}

impl Block {
    fn write(&mut self) {
        for page in self.memory.as_mut_slice().chunks_mut(self.page_bytes) {
            page.copy_from_slice(black_box(&self.pattern[..page.len()]));
        }
    }

    fn read(&mut self) {
        black_box(InstructionSet::best().read(black_box(self.memory.as_slice())));
    }

    /// Sees to it that the next pass finds its pages in swap.
    fn swap_out(&mut self) -> Result<(), MeasureError> {
        if !self.is_paged_out {
            // The pass before drove them out.
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

/// Measures a point at one of the two levels.
pub(super) fn measure(
    sampler: &mut Sampler<'_>,
    size: usize,
    manner: &str,
    page_bytes: usize,
) -> Result<(), MeasureError> {
    let mut random = Random::new(sampler.seed());
    let words = (0..page_bytes / 8).flat_map(|_| random.bits().to_ne_bytes());
    let block = RefCell::new(Block {
        memory: Mapping::anonymous(size, PageSize::Base)?,
        pattern: words.collect(),
        page_bytes,
        is_paged_out: manner == PAGED_OUT,
    });
    block.borrow_mut().write();
    time(sampler, READ, READ_FAULTS, &block, Block::read)?;
    time(sampler, WRITE, WRITE_FAULTS, &block, Block::write)
}

/// Times single passes, and counts the page faults of the last.
fn time(
    sampler: &mut Sampler<'_>,
    metric: &str,
    [major, minor]: [&str; 2],
    block: &RefCell<Block>,
    pass: impl Fn(&mut Block),
) -> Result<(), MeasureError> {
    let size = block.borrow().memory.len();
    // Leaves swap as every pass finds it.
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
        return Err(MeasureError::Unsupported(
            "no page was fetched from swap: the system kept them all in memory".into(),
        ));
    }
    let pages = size as f64 / block.borrow().page_bytes as f64;
    sampler.value(major, faults.major_faults as f64 / pages)?;
    sampler.value(minor, faults.minor_faults as f64 / pages)
}

#[cfg(test)]
mod tests {
    use super::{LIMITED, MIB, PAGED_OUT, confinement, level};
    use crate::made_up::setting;
    use crate::memory::bandwidth::BLOCK_SIZE;
    use crate::memory::pages::PAGES;
    use instrument::plan::{Profile, Setting};
    use instrument::point::Point;

    fn with_swap() -> Setting {
        Setting {
            swap_bytes: 1 << 30,
            can_limit_memory: true,
            ..setting(Profile::Quick)
        }
    }

    #[test]
    fn swap_is_measured_where_there_is_enough_of_it() {
        assert_eq!(level(&with_swap()), Some((64 * MIB, LIMITED)));
        let without_rights = Setting {
            can_limit_memory: false,
            ..with_swap()
        };
        assert_eq!(level(&without_rights), Some((64 * MIB, PAGED_OUT)));
        let without_swap = Setting {
            swap_bytes: 64 * MIB,
            ..with_swap()
        };
        assert_eq!(level(&without_swap), None);
        let without_memory = Setting {
            available_bytes: 200 * MIB,
            ..with_swap()
        };
        assert_eq!(level(&without_memory), None);
    }

    #[test]
    fn only_a_worker_at_the_limited_level_is_confined_and_to_less_than_its_block() {
        let point = |manner: &str| Point::new().with(BLOCK_SIZE, 64 * MIB).with(PAGES, manner);
        let limits = confinement(&point(LIMITED)).expect("limited");
        assert!(limits.memory_bytes < 64 * MIB && limits.swap_bytes > 64 * MIB);
        assert_eq!(confinement(&point(PAGED_OUT)), None);
        assert_eq!(confinement(&point("4 KiB pages")), None);
    }
}
