//! Which block sizes are measured.

use super::{BLOCK_SIZE, PAGE_SIZE};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;
use instrument::quantity::Bytes;
use platform::machine::{CacheKind, Machine};
use std::collections::BTreeSet;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const SMALLEST: u64 = KIB;
/// The curve goes on at least this far, whatever is documented.
const AT_LEAST_UP_TO: u64 = 256 * MIB;
/// No block takes more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
/// With less there would be no curve.
pub(super) const LEAST_MEMORY: u64 = 16 * MIB * SHARE_OF_MEMORY;

/// All block sizes with all page sizes; in the quick profile huge pages only where the block is a
/// power of two.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let base = setting.machine.page_bytes.map(page_name);
    let huge = setting.machine.huge_page_bytes.map(page_name);
    let pages_at = |size: u64| {
        let huge = huge.as_deref();
        let is_wanted = setting.profile != Profile::Quick || size.is_power_of_two();
        [base.as_deref(), huge.filter(|_| is_wanted)]
            .into_iter()
            .flatten()
    };
    let with_pages = |size| {
        let point = Point::new().with(BLOCK_SIZE, size);
        pages_at(size).map(move |page| point.clone().with(PAGE_SIZE, page))
    };
    block_sizes(setting)
        .into_iter()
        .flat_map(with_pages)
        .collect()
}

/// The level of the axis for pages of this many bytes.
pub(in crate::memory) fn page_name(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// Sizes of the documented caches that hold data, in bytes, the first level first.
pub(super) fn documented_caches(machine: &Machine) -> Vec<(u32, u64)> {
    let data = machine
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction);
    data.filter_map(|cache| Some((cache.level, cache.size_bytes?)))
        .collect()
}

/// Steps over the range, and finer steps about the documented caches, in eighths of their size.
fn block_sizes(setting: &Setting) -> BTreeSet<u64> {
    let caches = documented_caches(&setting.machine);
    let last_cache = caches.iter().map(|(_, size)| *size).max().unwrap_or(0);
    // A pass over more than twice the last cache takes longer than the quick profile has.
    let (beyond, steps_per_doubling) = match setting.profile {
        Profile::Quick => (2, 1),
        Profile::Standard => (4, 2),
        Profile::Thorough => (4, 4),
    };
    let wanted = (beyond * last_cache).max(AT_LEAST_UP_TO);
    let largest = wanted.min(setting.available_bytes / SHARE_OF_MEMORY);
    let doublings = (SMALLEST.ilog2()..=largest.max(1).ilog2()).map(|exponent| 1_u64 << exponent);
    let steps = doublings.flat_map(|size| {
        (0..steps_per_doubling).map(move |step| size + size / steps_per_doubling * step)
    });
    let about_caches = caches.iter().flat_map(|&(_, cache)| {
        let eighths = eighths_about(cache, setting.profile);
        eighths.iter().map(move |eighths| cache / 8 * eighths)
    });
    let sizes = steps.chain(about_caches).chain([largest]);
    // Whole cache lines and whole registers.
    sizes
        .map(|size| size / KIB * KIB)
        .filter(|size| (SMALLEST..=largest).contains(size))
        .collect()
}

/// Where to look more closely about a cache, in eighths of its size.
fn eighths_about(cache: u64, profile: Profile) -> &'static [u64] {
    match profile {
        // Passes over a large cache are what takes the quick profile's time.
        Profile::Quick if cache > 8 * MIB => &[6, 12],
        Profile::Quick => &[6, 8, 10, 12],
        Profile::Standard => &[4, 5, 6, 7, 8, 9, 10, 12, 16],
        Profile::Thorough => &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    }
}

#[cfg(test)]
mod tests {
    use super::{KIB, MIB, all, block_sizes};
    use crate::made_up::{machine, setting};
    use instrument::plan::{Profile, Setting};
    use platform::machine::Machine;

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
    fn a_large_last_cache_takes_the_curve_further() {
        let mut large = machine();
        large.caches[3].size_bytes = Some(300 * MIB);
        let largest = |profile| {
            let setting = Setting {
                machine: large.clone(),
                ..setting(profile)
            };
            block_sizes(&setting).last().copied()
        };
        assert_eq!(largest(Profile::Quick), Some(600 * MIB));
        assert_eq!(largest(Profile::Standard), Some(1200 * MIB));
    }

    #[test]
    fn longer_profiles_take_finer_steps() {
        let count = |profile| block_sizes(&setting(profile)).len();
        assert!(count(Profile::Quick) < 30);
        assert!(count(Profile::Standard) > count(Profile::Quick) * 3 / 2);
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
        let count = |profile, page| {
            let points = all(&setting(profile));
            points
                .iter()
                .filter(|point| point.choice("page_size") == Ok(page))
                .count()
        };
        assert!(count(Profile::Quick, "2 MiB") < count(Profile::Quick, "4 KiB"));
        assert_eq!(
            count(Profile::Standard, "2 MiB"),
            count(Profile::Standard, "4 KiB")
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
                .all(|point| point.choice("page_size") == Ok("4 KiB"))
        );
        assert_eq!(points.len(), block_sizes(&setting).len());
    }
}
