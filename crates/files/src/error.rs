//! Why something was not done to a file.

use instrument::quantity::Bytes;
use std::io;
use std::path::{Path, PathBuf};

/// Why something was not done to a file, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It holds no bytes of its own.
    #[error("{} is a directory: name the files in it", .0.display())]
    Directory(PathBuf),
    /// It is no file that can be opened.
    #[error("{} is a socket: nothing can be read from it as from a file", .0.display())]
    Socket(PathBuf),
    /// Another program changed it.
    #[error("{} was {how} while it was read: what was read of it means nothing; try again when \
             nobody writes to it", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What happened, as in `cut short`.
        how: &'static str,
    },
    /// The method reads at offsets and in parallel, and this has none.
    #[error("{} is no regular file with a size: it can only be read from start to end, by `read`", .0.display())]
    NoOffsets(PathBuf),
    /// A block of no bytes.
    #[error("the block size is 0: take at least 1 byte; 64 KiB is a good size on most machines")]
    EmptyBlock,
    /// A block that does not fit into the memory there is.
    #[error("a block of {0} is more than this system can address: take a smaller one")]
    HugeBlock(Bytes),
    /// Direct transfers of a length that the device does not do.
    #[error("direct transfers of {} go in multiples of {sector}, and the block size {block} is none: \
             take {suggested}", path.display())]
    Misaligned {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        block: Bytes,
        /// What it must be a multiple of.
        sector: Bytes,
        /// The nearest that is.
        suggested: Bytes,
    },
    /// The target is there.
    #[error("{} is there already; `--force` writes over it", .0.display())]
    Exists(PathBuf),
    /// Source and target are one.
    #[error("{} and {} are the same file", .0.display(), .1.display())]
    SameFile(PathBuf, PathBuf),
    /// There is less in it than was asked for.
    #[error("{} has only {found}, and {wanted} were asked for", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        wanted: Bytes,
        /// What there is.
        found: Bytes,
    },
    /// The file system is full.
    #[error("no space left for {}: free some, or name a file on another file system", .0.display())]
    Full(PathBuf),
    /// It does not leave the page cache.
    #[error("{} cannot be made cold: it stays in the page cache of {file_system}", path.display())]
    StaysWarm {
        /// The file.
        path: PathBuf,
        /// Type of its file system.
        file_system: String,
    },
    /// It does not stay in the page cache.
    #[error("{} cannot be made warm: after reading it, only {resident} of {total} are in the page \
             cache", path.display())]
    StaysCold {
        /// The file.
        path: PathBuf,
        /// What is in the page cache.
        resident: Bytes,
        /// Its size.
        total: Bytes,
    },
    /// The peer is missing.
    #[error("there is no program `dd` here to compare with")]
    NoDd,
    /// The peer failed, with its words.
    #[error("dd failed: {0}")]
    DdFailed(String),
    /// Somebody wants an end.
    #[error("stopped")]
    Stopped,
    /// The system refused something on a file.
    #[error("{}: {reason}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: platform::Error,
    },
    /// The system refused something else.
    #[error(transparent)]
    Platform(#[from] platform::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err`: what the system said about `path`.
    pub(crate) fn on(path: &Path) -> impl Fn(platform::Error) -> Self {
        move |reason| match (reason.io_error().map(io::Error::kind), &reason) {
            (Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded), _) => {
                Self::Full(path.to_owned())
            }
            (Some(io::ErrorKind::AlreadyExists), _) => Self::Exists(path.to_owned()),
            // It names its path itself.
            (_, platform::Error::Path { .. }) => Self::Platform(reason),
            _ => Self::System {
                path: path.to_owned(),
                reason,
            },
        }
    }

    /// For `map_err`: what the standard library said about `path`.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self {
        let on = Self::on(path);
        move |source| on(platform::Error::Os { action, source })
    }
}
