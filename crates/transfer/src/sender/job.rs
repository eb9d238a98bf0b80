//! Files to send, and the way to send them.

use crate::outcome::Timing;
use platform::directory::Directory;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A file to send, and its name at the receiver.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name at the receiver, with `/` behind each directory that the file lies in.
    pub name: Vec<u8>,
    /// Source of the bytes.
    pub source: Source,
}

/// The source of a file to send.
#[derive(Clone, Debug)]
pub enum Source {
    /// The file at a path.
    Path {
        /// The path.
        path: PathBuf,
        /// Its size in bytes when the files were listed; `None` for anything but a regular file.
        size: Option<u64>,
    },
    /// A file below a directory. No component of its path is followed if it is a link.
    Beneath {
        /// The directory.
        root: Arc<Directory>,
        /// The path from there.
        path: PathBuf,
        /// Its size in bytes when the directory was read.
        size: Option<u64>,
    },
    /// A directory, with these permissions and times.
    Directory(Box<Metadata>),
    /// A symbolic link with this target.
    Link(Vec<u8>),
    /// Something in a directory that cannot be sent, for this reason.
    Skipped(String),
    /// Standard input.
    StandardInput,
    /// This number of zero bytes from memory.
    Zeros(u64),
}

/// Connections to use and attributes to keep.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of connections, at least 1; fewer if the receiver has no room for all of them.
    pub streams: u16,
    /// True to keep what the receiver already has of a file, where it agrees.
    pub resume: bool,
    /// True to keep permission bits.
    pub keep_mode: bool,
    /// True to keep modification times.
    pub keep_times: bool,
}

/// The outcome of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of files that arrived.
    pub files: u64,
    /// Number of files that failed.
    pub failed: u64,
    /// Total size in bytes of the files that arrived.
    pub bytes: u64,
    /// From the start until the last byte was received and until it was stored.
    pub timing: Timing,
    /// CPU time of both sides.
    pub farewell: Farewell,
}

/// The CPU cost of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Farewell {
    /// CPU time of the sender's threads.
    pub sender_cpu: Duration,
    /// CPU time of the receiver's threads.
    pub receiver_cpu: Duration,
}

impl Source {
    /// True if the bytes can be read a second time.
    pub(super) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Path { path, .. } => path.metadata().is_ok_and(|metadata| metadata.is_file()),
            Self::Beneath { .. } | Self::Zeros(_) => true,
            _ => false,
        }
    }
}
