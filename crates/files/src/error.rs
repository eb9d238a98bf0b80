//! Errors of file operations.

use instrument::quantity::Bytes;
use std::io;
use std::path::{Path, PathBuf};

/// The reason for a failed file operation, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path is a directory.
    #[error("{} is a directory: name a file in it", .0.display())]
    Directory(PathBuf),
    /// The target ends in a slash, and there is no such directory.
    #[error("there is no directory {}: make it, or name a file without the `/` at the end", .0.display())]
    NoDirectory(PathBuf),
    /// A socket cannot be opened.
    #[error("{} is a socket, which cannot be read like a file", .0.display())]
    Socket(PathBuf),
    /// Another program changed the file.
    #[error("{} was {how} while it was read, so the result would be wrong; try again when no program \
             writes to it", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The change, e.g. `cut short`.
        how: &'static str,
    },
    /// The method needs offsets and parallel reads, and this file has no offsets.
    #[error("{} is not a regular file with a size: only `read` works, from start to end", .0.display())]
    NoOffsets(PathBuf),
    /// The method writes at offsets or shares blocks, and this target is no new file.
    #[error("{} takes bytes from start to end only: name a new file or another method", .0.display())]
    InOrderOnly(PathBuf),
    /// The block size is 0.
    #[error("the block size is 0: take at least 1 byte; 64 KiB is a good size on most machines")]
    EmptyBlock,
    /// The block does not fit into memory.
    #[error("a block of {0} is more than this system can address: take a smaller one")]
    HugeBlock(Bytes),
    /// The buffers do not fit into the memory that is available.
    #[error("blocks of {block} need too much memory: take blocks of at most {most}")]
    NoRoom {
        /// The requested block size.
        block: Bytes,
        /// The largest that fits.
        most: Bytes,
    },
    /// The device cannot transfer this length directly.
    #[error("direct transfers of {} need a multiple of {sector}, and {length} is not one: \
             take {suggested}", path.display())]
    Misaligned {
        /// The file.
        path: PathBuf,
        /// The requested length.
        length: Bytes,
        /// The required divisor of the length.
        sector: Bytes,
        /// The nearest valid length.
        suggested: Bytes,
    },
    /// The target exists.
    #[error("{} is there already; `--force` writes over it", .0.display())]
    Exists(PathBuf),
    /// Source and target are the same file.
    #[error("{} and {} are the same file", .0.display(), .1.display())]
    SameFile(PathBuf, PathBuf),
    /// The file is shorter than requested.
    #[error("{} has only {found}, and {wanted} were asked for", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// The requested length.
        wanted: Bytes,
        /// The actual length.
        found: Bytes,
    },
    /// The file system is full.
    #[error("no space left for {}: free some, or name a file on another file system", .0.display())]
    Full(PathBuf),
    /// The file stays in the page cache.
    #[error("{} cannot be made cold: it stays in the page cache of {file_system}", path.display())]
    StaysWarm {
        /// The file.
        path: PathBuf,
        /// Type of its file system.
        file_system: String,
    },
    /// The kernel does not keep the file in the page cache.
    #[error("{} cannot be made warm: after reading it, only {resident} of {total} are in the page \
             cache", path.display())]
    StaysCold {
        /// The file.
        path: PathBuf,
        /// Bytes in the page cache.
        resident: Bytes,
        /// Its size.
        total: Bytes,
    },
    /// dd is not installed.
    #[error("there is no program `dd` here to compare with")]
    NoDd,
    /// dd failed, with this message.
    #[error("dd failed: {0}")]
    DdFailed(String),
    /// The caller requested a stop.
    #[error("stopped")]
    Stopped,
    /// The system refused an operation on two files, and does not report on which.
    #[error("{} to {}: {reason}", from.display(), to.display())]
    Between {
        /// The source.
        from: PathBuf,
        /// The target.
        to: PathBuf,
        /// The system's error.
        reason: platform::Error,
    },
    /// The system refused an operation on a file.
    #[error("{}: {reason}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: platform::Error,
    },
    /// The system refused another operation.
    #[error(transparent)]
    Platform(#[from] platform::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// [`Error::Misaligned`], unless `length` is a multiple of `sector`.
    pub(crate) fn ensure_aligned(path: &Path, length: u64, sector: u64) -> Result<()> {
        if length.is_multiple_of(sector) {
            return Ok(());
        }
        let rounded_up = length.checked_next_multiple_of(sector);
        Err(Self::Misaligned {
            path: path.to_owned(),
            length: Bytes(length),
            sector: Bytes(sector),
            suggested: Bytes(rounded_up.unwrap_or(length / sector * sector)),
        })
    }

    /// For `map_err`: adds `path` to the system's error.
    pub(crate) fn on(path: &Path) -> impl Fn(platform::Error) -> Self {
        move |reason| match (reason.kind(), &reason) {
            (Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded), _) => {
                Self::Full(path.to_owned())
            }
            (Some(io::ErrorKind::AlreadyExists), _) => Self::Exists(path.to_owned()),
            // This error names its path already.
            (_, platform::Error::Path { .. }) => Self::Platform(reason),
            _ => Self::System {
                path: path.to_owned(),
                reason,
            },
        }
    }

    /// For `map_err`: adds both files of a copy to the system's error.
    pub(crate) fn between(from: &Path, to: &Path) -> impl Fn(platform::Error) -> Self {
        move |reason| match Self::on(to)(reason) {
            Self::System { reason, .. } => Self::Between {
                from: from.to_owned(),
                to: to.to_owned(),
                reason,
            },
            other => other,
        }
    }

    /// The system's error, if the system refused.
    pub fn refusal(&self) -> Option<&platform::Error> {
        match self {
            Self::Between { reason, .. } | Self::System { reason, .. } | Self::Platform(reason) => {
                Some(reason)
            }
            _ => None,
        }
    }

    /// For `map_err`: adds `path` and `action` to the standard library's error.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self {
        let on = Self::on(path);
        move |source| on(platform::Error::Os { action, source })
    }
}
