//! The sizes of scratch files.

use instrument::plan::{Profile, Setting};
use platform::storage::Storage;

pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;

/// A smaller file ends before a cold read reaches its steady speed.
pub(super) const SMALLEST_FILE: u64 = 8 * MIB;
/// The files of an experiment together take at most one part in this many of the free bytes on the
/// disk and in memory. So neither fills up, and the page cache does not evict them by itself.
const SHARE: u64 = 4;
/// Files are this much smaller on rotating disks, where each random read takes milliseconds.
const SMALLER_WHERE_IT_TURNS: u64 = 4;

/// The value for `profile` out of those from quick to thorough.
pub(super) const fn by_profile<T: Copy>(
    profile: Profile,
    [quick, standard, thorough]: [T; 3],
) -> T {
    match profile {
        Profile::Quick => quick,
        Profile::Standard => standard,
        Profile::Thorough => thorough,
    }
}

/// The size of each of `files` scratch files in bytes: a power of two, at most `wanted`.
pub(super) fn file_size(setting: &Setting, files: u64, wanted: u64) -> u64 {
    let room = u64::min(setting.free_bytes, setting.available_bytes) / SHARE;
    let each = room / files;
    let largest_that_fits = each.checked_ilog2().map_or(0, |exponent| 1 << exponent);
    wanted.min(largest_that_fits).max(SMALLEST_FILE.min(wanted))
}

/// As [`file_size`], for files that are read cold in small pieces: smaller on a rotating disk, which
/// takes milliseconds for each. Virtual disks claim to rotate and do not.
pub(super) fn cold_file_size(setting: &Setting, files: u64, wanted: u64) -> u64 {
    let storage = Storage::behind(&setting.directory);
    let turns = setting.machine.hypervisor.is_none()
        && storage.is_ok_and(|storage| storage.rotational == Some(true));
    let size = file_size(setting, files, wanted);
    if turns {
        size / SMALLER_WHERE_IT_TURNS
    } else {
        size
    }
}

/// Powers of two from `smallest` to `largest`, both powers themselves.
pub(super) fn powers(smallest: u64, largest: u64) -> impl DoubleEndedIterator<Item = u64> {
    (smallest.ilog2()..=largest.ilog2()).map(|exponent| 1 << exponent)
}

#[cfg(test)]
mod tests {
    use super::{MIB, SMALLEST_FILE, file_size};
    use crate::made_up::setting;
    use instrument::plan::{Profile, Setting};

    #[test]
    fn the_files_leave_most_of_the_room_and_of_the_memory() {
        let plenty = setting(Profile::Thorough);
        let size = |setting: &Setting| file_size(setting, 3, 1024 * MIB);
        assert_eq!(size(&plenty), 1024 * MIB);
        let little_room = Setting {
            free_bytes: 1024 * MIB,
            ..plenty.clone()
        };
        assert_eq!(size(&little_room), 64 * MIB);
        let little_memory = Setting {
            available_bytes: 400 * MIB,
            ..plenty.clone()
        };
        assert_eq!(size(&little_memory), 32 * MIB);
        let none = Setting {
            free_bytes: 0,
            ..plenty
        };
        assert_eq!(size(&none), SMALLEST_FILE);
        assert_eq!(file_size(&none, 3, MIB), MIB);
    }
}
