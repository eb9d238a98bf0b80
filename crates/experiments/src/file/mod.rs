//! The group `file`.

pub(crate) mod advice;
mod against_dd;
mod block_size;
mod call;
pub(crate) mod claims;
pub(crate) mod cold_claims;
mod cold_warm;
mod engine;
mod group_commit;
mod metadata;
pub(crate) mod page_cache;
pub(crate) mod phase_claims;
mod phases;
mod random;
mod read_ahead;
pub(crate) mod reader_claims;
mod remote;
mod rewrite_passes;
pub(crate) mod scratch_file;
mod size;
mod sum;
mod sync;
#[cfg(test)]
pub(crate) mod testing;

pub use remote::RemoteDirectory;

pub(crate) use crate::planning::{by_profile, powers};

use crate::prelude::*;
use platform::memory::{Mapping, PageSize};
use platform::storage::Storage;

const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
const CHUNK_SIZE: AxisOf<Bytes> = AxisOf::new("chunk_size", "chunk size");
const FILE_SIZE: AxisOf<Bytes> = AxisOf::new("file_size", "file size");

/// Two loads of 64 bytes a cycle at 8 GHz, which no core does: no copy is faster.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

/// Bytes of a pass over its wall time, by one thread.
const THROUGHPUT: Metric =
    Metric::bandwidth("throughput", "throughput").bounded(MOST_BYTES_PER_SECOND);
/// The same from short pieces of the file, in large pages of the page cache.
const THROUGHPUT_OF_PIECES: Metric = THROUGHPUT.in_version(2);

/// Room for scratch files of `bytes` in all, on the disk and in the page cache.
fn room(bytes: u64) -> Vec<Need> {
    vec![Need::Space(Bytes(bytes)), Need::Memory(Bytes(bytes))]
}

/// The point of a file at one size of what it is read or written in.
fn of_file(axis: AxisOf<Bytes>, size: u64, file_size: u64) -> Point {
    let point = Point::new().at(axis, Bytes(size));
    point.at(FILE_SIZE, Bytes(file_size))
}

/// Refuses a file whose last block would be cut: its bytes would be counted wrong.
fn whole_blocks(file_size: u64, block_size: u64) -> Result<(), MeasureError> {
    if block_size > 0 && file_size > 0 && file_size.is_multiple_of(block_size) {
        return Ok(());
    }
    Err(MeasureError::Unsupported(format!(
        "a file of {} is not a whole number of blocks of {}",
        Bytes(file_size),
        Bytes(block_size)
    )))
}

/// For `map_err`: an error of the crate `files` as one of a measurement.
fn not_done(error: files::Error) -> MeasureError {
    match error {
        files::Error::StaysCold { .. } | files::Error::Changed { .. } => {
            MeasureError::Disturbed(error.to_string())
        }
        other => MeasureError::Unsupported(other.to_string()),
    }
}

/// The experiment that shows how fast calls of each size write files.
pub const WRITES_BY_SIZE: &str = block_size::DESIGN.id;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &block_size::BlockSize,
    &cold_warm::ColdWarm,
    &call::Call,
    &random::InRandomOrder,
    &read_ahead::ReadAhead,
    &rewrite_passes::RewritePasses,
    &phases::PhaseByPhase,
    &sync::WaitingWrites,
    &group_commit::GroupCommit,
    &metadata::Metadata,
    &remote::Remote,
    &size::SizeForATime,
    &sum::SumOfWords,
    &against_dd::AgainstDd,
    &engine::Engines,
];

/// The difference between the ways in which a value is found on each system.
struct By(&'static str);

impl By {
    /// Calls that read and write a file in the cache, at a position or at the file's own.
    const OWN_CALLS: Self = Self(
        "Each system has calls, a cache and file systems of its own: read and write, ReadFile and WriteFile.",
    );
    /// The same, of a file that is not in the cache.
    const COLD: Self = Self(
        "Each system has calls, a cache and file systems of its own. A file is evicted alone on Linux, and with \
         the whole standby list on Windows.",
    );
    /// Writes that wait for the device.
    const WAITING: Self = Self(
        "Each system waits for the device in its own way: fsync and O_SYNC, FlushFileBuffers and \
         FILE_FLAG_WRITE_THROUGH.",
    );
    /// The streams of the C library.
    const STREAM: Self =
        Self("The calls of the C library are one source, the library is that of each system.");
    /// A view of the file in memory.
    const VIEW: Self = Self("MapViewOfFile and FlushViewOfFile correspond to mmap and msync.");
    /// Several reads in flight.
    const QUEUES: Self = Self(
        "Several reads are in flight by io_uring on Linux, and as overlapped reads with a completion port on \
         Windows.",
    );
    /// Files as names in a directory.
    const NAMES: Self = Self(
        "Each system has calls and a file system of its own: CreateFile, MoveFileEx and DeleteFile correspond to \
         open, rename and unlink.",
    );
}

/// The value at the same `point` of another system.
fn like(point: &Point, By(difference): By) -> Counterpart {
    Counterpart::Like {
        point: point.clone(),
        difference,
    }
}

/// A buffer whose pages are mapped already.
fn buffer(bytes: usize) -> Result<Mapping, MeasureError> {
    let mut buffer = Mapping::anonymous(bytes, PageSize::Base)?;
    buffer.populate()?;
    Ok(buffer)
}

/// A smaller file ends before a cold read reaches its steady speed.
const SMALLEST_FILE: u64 = 8 * MIB;
/// The files of an experiment together take at most one part in this many of the free bytes on the
/// disk and in memory. So neither fills up, and the page cache does not evict them by itself.
const SHARE: u64 = 4;
/// Files are this much smaller on rotating disks, where each random read takes milliseconds.
const SMALLER_WHERE_IT_TURNS: u64 = 4;

/// The size of each of `files` scratch files in bytes: a power of two, at most the profile's out of those `wanted`.
fn file_size(setting: &Setting, files: u64, wanted: [u64; 3]) -> u64 {
    let wanted = by_profile(setting.profile, wanted);
    let room = u64::min(setting.free_bytes, setting.available_bytes) / SHARE;
    let each = room / files;
    let largest_that_fits = each.checked_ilog2().map_or(0, |exponent| 1 << exponent);
    wanted.min(largest_that_fits).max(SMALLEST_FILE.min(wanted))
}

/// As [`file_size`], for files that are read cold in small pieces: smaller on a rotating disk, which
/// takes milliseconds for each. Virtual disks claim to rotate and do not.
fn cold_file_size(setting: &Setting, files: u64, wanted: [u64; 3]) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn the_files_leave_most_of_the_room_and_of_the_memory() {
        let plenty = setting(Profile::Thorough);
        let size = |setting: &Setting| file_size(setting, 3, [1024 * MIB; 3]);
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
        assert_eq!(file_size(&none, 3, [MIB; 3]), MIB);
    }
}
