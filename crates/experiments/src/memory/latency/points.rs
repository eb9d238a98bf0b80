//! The working sets that are measured.

use super::definition::{PAGES, SHORTEST_STRIDE, STRIDE, WORKING_SET};
use crate::memory::hierarchy;
use crate::memory::pages::Pages;
use crate::prelude::*;
use std::collections::BTreeSet;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const SMALLEST: u64 = 8 * KIB;
/// The curve goes at least as far as the first, whatever is documented, and in no profile beyond the
/// second.
const AT_LEAST_UP_TO: u64 = 128 * MIB;
const AT_MOST_UP_TO: u64 = 1024 * MIB;
/// No working set takes more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
/// With less there would be no curve.
pub(super) const LEAST_MEMORY: u64 = 16 * MIB * SHARE_OF_MEMORY;

/// The whole curve in the largest pages, where capacities show best, and a few working sets in base
/// pages and with longer strides.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let largest = largest(setting);
    let (Some(base), true) = (Pages::base(&setting.machine), largest > SMALLEST) else {
        return Vec::new();
    };
    let huge = Pages::huge(&setting.machine);
    let point = |size: u64, stride: Bytes, pages: Pages| {
        Point::new()
            .at(WORKING_SET, Bytes(size))
            .at(STRIDE, stride)
            .at(PAGES, pages)
    };
    let finest = huge.unwrap_or(base);
    let mut points: Vec<Point> = working_sets(setting, largest)
        .into_iter()
        .map(|size| point(size, SHORTEST_STRIDE, finest))
        .collect();
    let (few, strides): (Vec<u64>, &[u64]) = match setting.profile {
        Profile::Quick => (vec![16 * KIB, 512 * KIB, 16 * MIB, largest], &[256]),
        Profile::Standard | Profile::Thorough => {
            let step = if setting.profile == Profile::Standard {
                2
            } else {
                1
            };
            let powers = (SMALLEST.ilog2()..=largest.ilog2()).step_by(step);
            let sizes = powers.map(|exponent| 1 << exponent).chain([largest]);
            (sizes.collect(), &[256, 1024])
        }
    };
    let few: BTreeSet<u64> = few.into_iter().filter(|size| *size <= largest).collect();
    if huge.is_some() {
        points.extend(few.iter().map(|size| point(*size, SHORTEST_STRIDE, base)));
    }
    for stride in strides {
        let beyond_caches = few.iter().rev().take(2);
        points.extend(beyond_caches.map(|size| point(*size, Bytes(*stride), finest)));
    }
    points
}

fn largest(setting: &Setting) -> u64 {
    let beyond = match setting.profile {
        Profile::Quick => 2,
        Profile::Standard | Profile::Thorough => 4,
    };
    let wanted = beyond * hierarchy::last_bytes(&setting.machine);
    let wanted = wanted.clamp(AT_LEAST_UP_TO, AT_MOST_UP_TO);
    let possible = setting.available_bytes / SHARE_OF_MEMORY;
    wanted.min(possible) / KIB * KIB
}

/// Sizes about the documented caches, in eighths of their size: just below, and well above, where the
/// share of misses rises. The longer profiles, and machines that document no caches, add sizes in
/// between.
fn working_sets(setting: &Setting, largest: u64) -> BTreeSet<u64> {
    let (eighths, of_last, steps_per_doubling): (&[u64], &[u64], u64) = match setting.profile {
        Profile::Quick => (&[4, 7, 8, 9, 12, 20], &[4, 8, 12], 0),
        Profile::Standard => (&[4, 6, 7, 8, 9, 10, 12, 16, 20], &[4, 6, 8, 10, 12, 16], 1),
        Profile::Thorough => (
            &[4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24],
            &[4, 5, 6, 7, 8, 9, 10, 12, 14, 16],
            2,
        ),
    };
    let caches = hierarchy::documented(&setting.machine);
    let last = hierarchy::last_bytes(&setting.machine);
    let steps = if caches.is_empty() {
        steps_per_doubling.max(1)
    } else {
        steps_per_doubling
    };
    let about = caches.iter().flat_map(|cache| {
        let size = cache.size.0;
        let eighths = if size == last { of_last } else { eighths };
        eighths.iter().map(move |eighths| size / 8 * eighths)
    });
    let doublings = (SMALLEST.ilog2()..=largest.ilog2()).map(|exponent| 1_u64 << exponent);
    let between = doublings.flat_map(|size| (0..steps).map(move |step| size + size / steps * step));
    about
        .chain(between)
        .chain([SMALLEST, AT_LEAST_UP_TO, largest / 2, largest])
        .map(|size| size / KIB * KIB)
        .filter(|size| (SMALLEST..=largest).contains(size))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{KIB, MIB, PAGES, WORKING_SET, all};
    use crate::made_up::setting;
    use crate::memory::pages::made_up::{BASE, HUGE};
    use crate::prelude::*;
    use platform::machine::Machine;

    #[test]
    fn the_quick_curve_is_short_and_looks_about_every_cache() {
        let points = all(&setting(Profile::Quick));
        assert!(points.len() <= 26, "{} points", points.len());
        for size in [42 * KIB, 48 * KIB, 54 * KIB, 2 * MIB, 32 * MIB, 128 * MIB] {
            let levels = [WORKING_SET.at(Bytes(size)), PAGES.at(HUGE)];
            assert!(points.iter().any(|point| point.matches(&levels)), "{size}");
        }
    }

    #[test]
    fn the_curve_has_the_same_far_size_beside_a_huge_cache() {
        let mut setting = setting(Profile::Quick);
        for cache in &mut setting.machine.caches {
            if cache.level == 3 {
                cache.size_bytes = Some(300 * MIB);
            }
        }
        let far = [WORKING_SET.at(Bytes(128 * MIB)), PAGES.at(HUGE)];
        assert!(all(&setting).iter().any(|point| point.matches(&far)));
    }

    #[test]
    fn no_working_set_takes_more_than_its_share_of_memory() {
        let little = Setting {
            available_bytes: 100 * MIB,
            ..setting(Profile::Thorough)
        };
        let largest = all(&little)
            .iter()
            .filter_map(|point| point.level(WORKING_SET).ok())
            .max();
        assert_eq!(largest, Some(Bytes(25 * MIB)));
        let none = Setting {
            available_bytes: 0,
            ..little
        };
        assert!(all(&none).is_empty());
    }

    #[test]
    fn without_documented_caches_or_huge_pages_there_is_a_curve_all_the_same() {
        let setting = Setting {
            machine: Machine {
                page_bytes: Some(4096),
                ..Machine::default()
            },
            ..setting(Profile::Quick)
        };
        let points = all(&setting);
        assert!(points.len() >= 12, "{} points", points.len());
        assert!(points.iter().all(|point| point.level(PAGES) == Ok(BASE)));
    }
}
