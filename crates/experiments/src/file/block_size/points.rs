//! Which sizes are measured.

use super::pass::Pass;
use super::{BLOCK_SIZE, FILE_SIZE, PASS};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A smaller file is over before a cold read has settled.
const SMALLEST_FILE: u64 = 8 * MIB;
/// The files of all passes together take no more than this part of the room and of the memory
/// there is, so that neither fills up and the page cache keeps what it is given.
const SHARE: u64 = 4;
/// From here on, longer profiles look between the powers of two.
const FINE_FROM: u64 = 4 * KIB;

/// The size of the file that each pass goes through, in bytes: a power of two.
pub(super) fn file_size(setting: &Setting) -> u64 {
    let wanted = match setting.profile {
        Profile::Quick => 64 * MIB,
        Profile::Standard => 256 * MIB,
        Profile::Thorough => 1024 * MIB,
    };
    let room = u64::min(setting.free_bytes, setting.available_bytes) / SHARE;
    let each = room / Pass::ALL.len() as u64;
    let largest_that_fits = each.checked_ilog2().map_or(0, |exponent| 1 << exponent);
    wanted.min(largest_that_fits).max(SMALLEST_FILE)
}

/// All block sizes with all passes.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let file_size = file_size(setting);
    let sizes = block_sizes(setting.profile)
        .into_iter()
        .filter(|size| *size <= file_size);
    let with_passes = |size| {
        let point = Point::new().with(BLOCK_SIZE, size);
        Pass::ALL.map(|pass| {
            point
                .clone()
                .with(PASS, pass.name())
                .with(FILE_SIZE, file_size)
        })
    };
    sizes.flat_map(with_passes).collect()
}

fn block_sizes(profile: Profile) -> Vec<u64> {
    let (smallest, largest): (u64, u64) = match profile {
        Profile::Quick => (512, 4 * MIB),
        Profile::Standard => (512, 16 * MIB),
        Profile::Thorough => (256, 64 * MIB),
    };
    let powers = (smallest.ilog2()..=largest.ilog2()).map(|exponent| 1_u64 << exponent);
    let between = |size: u64| {
        let fine = profile != Profile::Quick && size >= FINE_FROM && size < largest;
        fine.then_some(size / 2 * 3)
    };
    powers
        .flat_map(|size| [Some(size), between(size)])
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MIB, SMALLEST_FILE, all, block_sizes, file_size};
    use crate::made_up::setting;
    use instrument::plan::{Profile, Setting};

    #[test]
    fn quick_takes_powers_of_two_and_longer_profiles_look_between() {
        let quick = block_sizes(Profile::Quick);
        assert_eq!(
            (quick.first(), quick.last()),
            (Some(&512), Some(&(4 * MIB)))
        );
        assert!(quick.iter().all(|size| size.is_power_of_two()));
        let standard = block_sizes(Profile::Standard);
        assert!(standard.contains(&6144) && standard.last() == Some(&(16 * MIB)));
        assert!(standard.is_sorted());
        assert_eq!(all(&setting(Profile::Quick)).len(), 3 * quick.len());
    }

    #[test]
    fn the_files_leave_most_of_the_room_and_of_the_memory() {
        let plenty = setting(Profile::Thorough);
        assert_eq!(file_size(&plenty), 1024 * MIB);
        let little_room = Setting {
            free_bytes: 1024 * MIB,
            ..plenty.clone()
        };
        assert_eq!(file_size(&little_room), 64 * MIB);
        let little_memory = Setting {
            available_bytes: 400 * MIB,
            ..plenty.clone()
        };
        assert_eq!(file_size(&little_memory), 32 * MIB);
        let none = Setting {
            free_bytes: 0,
            ..plenty
        };
        assert_eq!(file_size(&none), SMALLEST_FILE);
        let blocks = all(&none)
            .into_iter()
            .map(|point| point.number("block_size"));
        assert!(blocks.flatten().all(|size| size <= SMALLEST_FILE));
    }
}
