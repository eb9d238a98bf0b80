//! The sizes that are measured.

use super::super::definition::{BLOCK_SIZE, FILE_SIZE};
use super::super::sizes::{self, KIB, MIB, by_profile, powers};
use super::definition::{PASS, Pass};
use crate::prelude::*;

/// From here on, longer profiles look between the powers of two.
const FINE_FROM: u64 = 4 * KIB;

/// The size of the file that each pass goes through, in bytes: a power of two.
pub(super) fn file_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [64 * MIB, 256 * MIB, 1024 * MIB]);
    sizes::file_size(setting, Pass::ALL.len() as u64, wanted)
}

/// All passes, each with its block sizes.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let file_size = file_size(setting);
    let of_new_files = &block_sizes_of_new_files(setting.profile);
    let sizes = block_sizes(setting.profile)
        .into_iter()
        .filter(|size| *size <= file_size);
    let with_passes = |size| {
        let point = Point::new().at(BLOCK_SIZE, Bytes(size));
        let is_wanted =
            move |pass: &&Pass| **pass != Pass::WriteNew || of_new_files.contains(&size);
        let passes = Pass::ALL.iter().filter(is_wanted);
        passes.map(move |pass| {
            let point = point.clone().at(PASS, *pass);
            point.at(FILE_SIZE, Bytes(file_size))
        })
    };
    sizes.flat_map(with_passes).collect()
}

/// Those of [`block_sizes`] in which new files are written: fewer, since each sample takes a process
/// of its own.
fn block_sizes_of_new_files(profile: Profile) -> Vec<u64> {
    let usual = 4 * KIB;
    match profile {
        Profile::Quick => vec![usual, 64 * KIB, 512 * KIB, MIB, 4 * MIB],
        Profile::Standard => powers(usual, 16 * MIB).collect(),
        Profile::Thorough => powers(usual, 64 * MIB).collect(),
    }
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
    use super::super::super::sizes::SMALLEST_FILE;
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn quick_takes_powers_of_two_and_longer_profiles_look_between() {
        let quick = block_sizes(Profile::Quick);
        assert_eq!((quick[0], quick[quick.len() - 1]), (KIB, 4 * MIB));
        assert!(quick.iter().all(|size| size.is_power_of_two()));
        assert_eq!(all(&setting(Profile::Quick)).len(), 36 + 5);
        let standard = block_sizes(Profile::Standard);
        assert!(standard.contains(&6144) && standard.last() == Some(&(16 * MIB)));
        assert!(standard.is_sorted());
    }

    #[test]
    fn new_files_are_written_in_sizes_that_the_other_passes_have_and_in_the_largest() {
        for profile in [Profile::Quick, Profile::Standard, Profile::Thorough] {
            let (all, new) = (block_sizes(profile), block_sizes_of_new_files(profile));
            assert!(new.iter().all(|size| all.contains(size)), "{new:?}");
            assert_eq!(new.first(), Some(&(4 * KIB)));
            assert_eq!(new.last(), all.last());
        }
        let written = all(&setting(Profile::Quick))
            .into_iter()
            .filter(|point| point.level(PASS) == Ok(Pass::WriteNew));
        assert_eq!(written.count(), 5);
    }

    #[test]
    fn no_block_is_larger_than_the_file() {
        let none = Setting {
            free_bytes: 0,
            ..setting(Profile::Thorough)
        };
        let blocks = all(&none).into_iter().map(|point| point.level(BLOCK_SIZE));
        assert!(blocks.flatten().all(|size| size <= Bytes(SMALLEST_FILE)));
    }
}
