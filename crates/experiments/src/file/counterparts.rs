//! The counterparts on another operating system of what is done with files.

use crate::prelude::*;

/// The same point. Both systems read and write by calls of their own at a position or at the file's own.
const OWN_CALLS: &str = "Each system has calls, a cache and file systems of its own: read and write, ReadFile and \
                         WriteFile.";
const COLD: &str = "Each system has calls, a cache and file systems of its own. A file is evicted alone on Linux, and \
                    with the whole standby list on Windows.";
const WAITING: &str = "Each system waits for the device in its own way: fsync and O_SYNC, FlushFileBuffers and \
                       FILE_FLAG_WRITE_THROUGH.";
const STREAM: &str =
    "The calls of the C library are one source, the library is that of each system.";
const VIEW: &str = "MapViewOfFile and FlushViewOfFile stand beside mmap and msync.";
const NAMES: &str = "Each system has calls and a file system of its own: CreateFile, MoveFileEx and DeleteFile stand \
                     beside open, rename and unlink.";

const QUEUES: &str = "Several reads are in flight by io_uring on Linux, and as overlapped reads with a completion port on \
                      Windows.";

/// The way in which a value is found on each system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Calls that read and write a file in the cache.
    OwnCalls,
    /// The same, of a file that is not in the cache.
    Cold,
    /// Writes that wait for the device.
    Waiting,
    /// The streams of the C library.
    Stream,
    /// A view of the file in memory.
    View,
    /// Several reads in flight.
    Queues,
    /// Files as names in a directory.
    Names,
}

/// The value at the same `point` of another system.
pub(super) fn like(point: &Point, by: By) -> Counterpart {
    Counterpart::Like {
        point: point.clone(),
        difference: match by {
            By::OwnCalls => OWN_CALLS,
            By::Cold => COLD,
            By::Waiting => WAITING,
            By::Stream => STREAM,
            By::View => VIEW,
            By::Queues => QUEUES,
            By::Names => NAMES,
        },
    }
}
