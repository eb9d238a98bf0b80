//! Which sizes are measured.

use super::super::sizes::{self, KIB, MIB, by_profile, powers};
use super::pass::Pass;
use super::{BLOCK_SIZE, FILE_SIZE, PASS};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;

/// From here on, longer profiles look between the powers of two.
const FINE_FROM: u64 = 4 * KIB;

/// The size of the file that each pass goes through, in bytes: a power of two.
pub(super) fn file_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [64 * MIB, 256 * MIB, 1024 * MIB]);
    sizes::file_size(setting, Pass::ALL.len() as u64, wanted)
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
    if profile == Profile::Quick {
        // The last step is a double one: enough to tell a plateau from a curve that still rises.
        return powers(KIB, MIB).chain([4 * MIB]).collect();
    }
    let (smallest, largest) =
        by_profile(profile, [(KIB, 4 * MIB), (512, 16 * MIB), (256, 64 * MIB)]);
    let between = |size: u64| (size >= FINE_FROM && size < largest).then_some(size / 2 * 3);
    powers(smallest, largest)
        .flat_map(|size| [Some(size), between(size)])
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::sizes::{KIB, MIB, SMALLEST_FILE};
    use super::{all, block_sizes};
    use crate::made_up::setting;
    use instrument::plan::{Profile, Setting};

    #[test]
    fn quick_takes_powers_of_two_and_longer_profiles_look_between() {
        let quick = block_sizes(Profile::Quick);
        assert_eq!((quick[0], quick[quick.len() - 1]), (KIB, 4 * MIB));
        assert!(quick.iter().all(|size| size.is_power_of_two()));
        assert_eq!(all(&setting(Profile::Quick)).len(), 36);
        let standard = block_sizes(Profile::Standard);
        assert!(standard.contains(&6144) && standard.last() == Some(&(16 * MIB)));
        assert!(standard.is_sorted());
    }

    #[test]
    fn no_block_is_larger_than_the_file() {
        let none = Setting {
            free_bytes: 0,
            ..setting(Profile::Thorough)
        };
        let blocks = all(&none)
            .into_iter()
            .map(|point| point.number("block_size"));
        assert!(blocks.flatten().all(|size| size <= SMALLEST_FILE));
    }
}
