//! The block sizes that are measured.

use super::{BLOCK_SIZE, Backing, PAGES, swap};
use crate::memory::pages::Pages;
use crate::memory::{SHARE_OF_MEMORY, hierarchy};
use crate::planning::{by_profile, powers};
use crate::prelude::*;
use std::collections::BTreeSet;

const SMALLEST: u64 = KIB;
/// The curve goes at least this far, whatever is documented.
const AT_LEAST_UP_TO: u64 = 128 * MIB;
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
    let (beyond, steps_per_doubling) = by_profile(setting.profile, [(2, 1), (4, 1), (4, 4)]);
    let wanted = (beyond * last_cache).max(AT_LEAST_UP_TO);
    let largest = wanted.min(setting.available_bytes / SHARE_OF_MEMORY);
    let doublings = powers(SMALLEST, largest.max(1));
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
    use crate::memory::pages::made_up::BASE;
    use platform::machine::Machine;

    #[test]
    fn the_curve_goes_from_a_kibibyte_to_well_beyond_the_last_cache() {
        let sizes = block_sizes(&setting(Profile::Quick));
        assert_eq!(sizes.first(), Some(&KIB));
        assert_eq!(sizes.last(), Some(&(128 * MIB)));
        for documented in [48 * KIB, 2 * MIB, 32 * MIB] {
            assert!(sizes.contains(&(documented / 4 * 3)), "below {documented}");
            assert!(sizes.contains(&(documented / 2 * 3)), "above {documented}");
        }
        assert!(sizes.iter().all(|size| size % KIB == 0));
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
    fn a_machine_without_huge_pages_has_points_with_base_pages_only() {
        let setting = Setting {
            machine: Machine {
                huge_page_bytes: None,
                ..machine()
            },
            ..setting(Profile::Quick)
        };
        let points = all(&setting);
        let base = Ok(Backing::Pages(BASE));
        assert!(points.iter().all(|point| point.level(PAGES) == base));
        assert_eq!(points.len(), block_sizes(&setting).len());
    }
}
