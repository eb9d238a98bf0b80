//! The block sizes that are measured.

use super::swap;
use crate::memory::hierarchy::{self, MODEL};
use crate::memory::pages::Pages;
use crate::prelude::*;
use instrument::point::{AxisKind, Level, LevelOf};
use std::collections::BTreeSet;

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

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const SMALLEST: u64 = KIB;
/// The curve goes at least this far, whatever is documented.
const AT_LEAST_UP_TO: u64 = 256 * MIB;
/// No block takes more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
/// With less there would be no curve.
pub(super) const LEAST_MEMORY: u64 = 16 * MIB * SHARE_OF_MEMORY;

/// All block sizes in base pages, and swap if there is any. In huge pages too, but except in the
/// thorough profile only powers of four that the nearest caches do not hold.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let point =
        |size: u64, backing: Backing| Point::new().at(BLOCK_SIZE, Bytes(size)).at(PAGES, backing);
    let sizes = block_sizes(setting);
    let is_wanted_in_huge = |size: &u64| {
        let is_power_of_four = size.is_power_of_two() && size.ilog2().is_multiple_of(2);
        setting.profile == Profile::Thorough || (is_power_of_four && *size >= MIB)
    };
    let mut points = Vec::new();
    if let Some(base) = Pages::base(&setting.machine) {
        points.extend(sizes.iter().map(|size| point(*size, Backing::Pages(base))));
    }
    if let Some(huge) = Pages::huge(&setting.machine) {
        let wanted = sizes.iter().filter(|size| is_wanted_in_huge(size));
        points.extend(wanted.map(|size| point(*size, Backing::Pages(huge))));
    }
    if !points.is_empty() {
        points.extend(swap::level(setting).map(|(size, swap)| point(size, Backing::Swap(swap))));
    }
    points
}

/// Steps over the whole range, and finer ones about the documented caches, in eighths of their size.
fn block_sizes(setting: &Setting) -> BTreeSet<u64> {
    let last_cache = hierarchy::last_bytes(&setting.machine);
    // A pass over more than twice the last cache takes longer than the quick profile has.
    let (beyond, steps_per_doubling) = match setting.profile {
        Profile::Quick => (2, 1),
        Profile::Standard => (4, 1),
        Profile::Thorough => (4, 4),
    };
    let wanted = (beyond * last_cache).max(AT_LEAST_UP_TO);
    let largest = wanted.min(setting.available_bytes / SHARE_OF_MEMORY);
    let doublings = (SMALLEST.ilog2()..=largest.max(1).ilog2()).map(|exponent| 1_u64 << exponent);
    // Below 8 KiB nothing is fitted and the start of a pass takes much of its time: the quick profile
    // measures one size there.
    let is_worth_it =
        |size: &u64| setting.profile != Profile::Quick || *size >= 8 * KIB || *size == SMALLEST;
    let steps = doublings.filter(is_worth_it).flat_map(|size| {
        (0..steps_per_doubling).map(move |step| size + size / steps_per_doubling * step)
    });
    let about_caches = hierarchy::documented(&setting.machine)
        .into_iter()
        .flat_map(|cache| {
            let eighths = eighths_about(cache.size.0, setting.profile);
            eighths
                .iter()
                .map(move |eighths| cache.size.0 / 8 * eighths)
        });
    let sizes = steps.chain(about_caches).chain([largest]);
    // Whole cache lines and whole registers.
    sizes
        .map(|size| size / KIB * KIB)
        .filter(|size| (SMALLEST..=largest).contains(size))
        .collect()
}

/// The finer steps about a cache, in eighths of its size.
fn eighths_about(cache: u64, profile: Profile) -> &'static [u64] {
    match profile {
        // Passes over a large cache take most of the quick profile's time.
        Profile::Quick if cache > 8 * MIB => &[6, 12],
        Profile::Quick => &[6, 8, 10, 12],
        Profile::Standard => &[5, 6, 7, 8, 9, 10, 11, 12, 14],
        Profile::Thorough => &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{machine, setting};
    use crate::memory::pages::made_up::{BASE, HUGE};
    use platform::machine::Machine;

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

    #[test]
    fn the_curve_goes_from_a_kibibyte_to_well_beyond_the_last_cache() {
        let sizes = block_sizes(&setting(Profile::Quick));
        assert_eq!(sizes.first(), Some(&KIB));
        assert_eq!(sizes.last(), Some(&(256 * MIB)));
        for documented in [48 * KIB, 2 * MIB, 32 * MIB] {
            assert!(sizes.contains(&(documented / 4 * 3)), "below {documented}");
            assert!(sizes.contains(&(documented / 2 * 3)), "above {documented}");
        }
        assert!(!sizes.contains(&(24 * MIB + 1)) && sizes.iter().all(|size| size % KIB == 0));
    }

    #[test]
    fn a_large_last_cache_takes_the_curve_further_and_still_fits_the_quick_profile() {
        let mut large = machine();
        large.caches[3].size_bytes = Some(300 * MIB);
        let in_profile = |profile| Setting {
            machine: large.clone(),
            swap_bytes: 1 << 30,
            can_limit_memory: true,
            ..setting(profile)
        };
        let largest = |profile| block_sizes(&in_profile(profile)).last().copied();
        assert_eq!(largest(Profile::Quick), Some(600 * MIB));
        assert_eq!(largest(Profile::Standard), Some(1200 * MIB));
        let count = all(&in_profile(Profile::Quick)).len();
        assert!(count <= 40, "{count} points");
    }

    #[test]
    fn longer_profiles_take_finer_steps() {
        let count = |profile| block_sizes(&setting(profile)).len();
        assert!(count(Profile::Quick) < 30);
        assert!(count(Profile::Standard) > count(Profile::Quick) * 5 / 4);
        assert!(count(Profile::Thorough) > count(Profile::Standard) * 3 / 2);
    }

    #[test]
    fn no_block_takes_more_than_its_share_of_memory() {
        let little = Setting {
            available_bytes: 100 * MIB,
            ..setting(Profile::Standard)
        };
        assert_eq!(block_sizes(&little).last(), Some(&(25 * MIB)));
        let none = Setting {
            available_bytes: 0,
            ..little
        };
        assert!(all(&none).is_empty());
    }

    #[test]
    fn huge_pages_are_measured_less_often_where_time_is_short() {
        let count = |profile, pages: Pages| {
            let levels = [PAGES.at(Backing::Pages(pages))];
            let points = all(&setting(profile));
            points.iter().filter(|it| it.matches(&levels)).count()
        };
        for profile in [Profile::Quick, Profile::Standard] {
            assert!(count(profile, HUGE) < count(profile, BASE));
        }
        assert_eq!(
            count(Profile::Thorough, HUGE),
            count(Profile::Thorough, BASE)
        );
    }

    #[test]
    fn a_machine_without_huge_pages_has_points_with_base_pages_only() {
        let plain = Machine {
            huge_page_bytes: None,
            ..machine()
        };
        let setting = Setting {
            machine: plain,
            ..setting(Profile::Quick)
        };
        let points = all(&setting);
        assert!(
            points
                .iter()
                .all(|point| point.level(PAGES) == Ok(Backing::Pages(BASE)))
        );
        assert_eq!(points.len(), block_sizes(&setting).len());
    }
}
