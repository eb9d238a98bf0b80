//! Which working sets are measured.

use super::{STRIDE, WORKING_SET};
use crate::memory::{caches, pages};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;
use std::collections::BTreeSet;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The usual length of a cache line, and with it the shortest stride at which each place has its own.
pub(super) const SHORTEST_STRIDE: u64 = 64;
const SMALLEST: u64 = 8 * KIB;
/// The curve goes on at least this far, whatever is documented, and in no profile further than the
/// other.
const AT_LEAST_UP_TO: u64 = 128 * MIB;
const AT_MOST_UP_TO: u64 = 1024 * MIB;
/// No working set takes more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
/// With less there would be no curve.
pub(super) const LEAST_MEMORY: u64 = 16 * MIB * SHARE_OF_MEMORY;

/// The whole curve in the largest pages, on which capacities show best; and a few working sets in
/// base pages and with longer strides.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let largest = largest(setting);
    let (Some(base), true) = (pages::base(&setting.machine), largest > SMALLEST) else {
        return Vec::new();
    };
    let huge = pages::huge(&setting.machine);
    let point = |size: u64, stride: u64, pages: &str| {
        Point::new()
            .with(WORKING_SET, size)
            .with(STRIDE, stride)
            .with(pages::PAGES, pages)
    };
    let finest = huge.as_deref().unwrap_or(&base);
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
        points.extend(few.iter().map(|size| point(*size, SHORTEST_STRIDE, &base)));
    }
    let with_stride = |stride: &u64| {
        let beyond_caches = few.iter().rev().take(2).collect::<Vec<_>>();
        let stride = *stride;
        beyond_caches
            .into_iter()
            .map(move |size| point(*size, stride, finest))
            .collect::<Vec<_>>()
    };
    points.extend(strides.iter().flat_map(with_stride));
    points
}

fn largest(setting: &Setting) -> u64 {
    let beyond = match setting.profile {
        Profile::Quick => 2,
        Profile::Standard | Profile::Thorough => 4,
    };
    let wanted = beyond * caches::last_bytes(&setting.machine);
    let wanted = wanted.clamp(AT_LEAST_UP_TO, AT_MOST_UP_TO);
    let possible = setting.available_bytes / SHARE_OF_MEMORY;
    wanted.min(possible) / KIB * KIB
}

/// About the documented caches, in eighths of their size: just below, and well above, where the share
/// of misses rises. Between them where nothing is documented, and in the longer profiles.
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
    let caches = caches::documented(&setting.machine);
    let last = caches::last_bytes(&setting.machine);
    let steps = if caches.is_empty() {
        steps_per_doubling.max(1)
    } else {
        steps_per_doubling
    };
    let about = caches.iter().flat_map(|&(_, cache)| {
        let eighths = if cache == last { of_last } else { eighths };
        eighths.iter().map(move |eighths| cache / 8 * eighths)
    });
    let doublings = (SMALLEST.ilog2()..=largest.ilog2()).map(|exponent| 1_u64 << exponent);
    let between = doublings.flat_map(|size| (0..steps).map(move |step| size + size / steps * step));
    about
        .chain(between)
        .chain([SMALLEST, largest / 2, largest])
        .map(|size| size / KIB * KIB)
        .filter(|size| (SMALLEST..=largest).contains(size))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{KIB, MIB, WORKING_SET, all};
    use crate::made_up::setting;
    use crate::memory::pages::PAGES;
    use instrument::plan::{Profile, Setting};
    use platform::machine::Machine;

    #[test]
    fn the_quick_curve_is_short_and_looks_about_every_cache() {
        let points = all(&setting(Profile::Quick));
        assert!(points.len() <= 26, "{} points", points.len());
        for size in [42 * KIB, 48 * KIB, 54 * KIB, 2 * MIB, 32 * MIB, 128 * MIB] {
            let is_there = |point: &&instrument::point::Point| {
                point.number(WORKING_SET) == Ok(size) && point.choice(PAGES) == Ok("2 MiB pages")
            };
            assert!(points.iter().any(|point| is_there(&point)), "{size}");
        }
    }

    #[test]
    fn no_working_set_takes_more_than_its_share_of_memory() {
        let little = Setting {
            available_bytes: 100 * MIB,
            ..setting(Profile::Thorough)
        };
        let largest = all(&little)
            .iter()
            .filter_map(|point| point.number(WORKING_SET).ok())
            .max();
        assert_eq!(largest, Some(25 * MIB));
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
        assert!(
            points
                .iter()
                .all(|point| point.choice(PAGES) == Ok("4 KiB pages"))
        );
    }
}
