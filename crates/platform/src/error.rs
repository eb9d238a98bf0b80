//! What can go wrong when the system is asked.

use std::io;
use std::path::{Path, PathBuf};

/// A question the system did not answer, or a thing it would not do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This system, this kernel or this file system has no such thing.
    #[error("{what} is not supported here")]
    NotSupported {
        /// What was asked for, as the subject of a sentence.
        what: &'static str,
    },
    /// The process lacks a right.
    #[error("{what} needs {needs}")]
    NotPermitted {
        /// What was asked for, as the subject of a sentence.
        what: &'static str,
        /// The right that is missing, in words.
        needs: &'static str,
    },
    /// The memory cannot be backed by huge pages.
    #[error("no huge pages: {reason}")]
    NoHugePages {
        /// Why, and where that is set.
        reason: String,
    },
    /// More than there is.
    #[error("{what} would be {asked_bytes} bytes, where {available_bytes} are available")]
    TooMuch {
        /// What was asked for, as the subject of a sentence.
        what: &'static str,
        /// How much of it, in bytes.
        asked_bytes: u64,
        /// How much there is, in bytes.
        available_bytes: u64,
    },
    /// Something lies where only this user should have put anything.
    #[error("{} is not to be trusted: {what}", path.display())]
    Planted {
        /// Which.
        path: PathBuf,
        /// The reason, as a sentence.
        what: &'static str,
    },
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    Os {
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A system call on a path failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Path {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Whether a system refused since it has no such thing, or no right to it or no room for it.
pub fn is_lacking(refusal: &io::Error) -> bool {
    matches!(
        refusal.kind(),
        io::ErrorKind::Unsupported
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::OutOfMemory
            | io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
    )
}

/// What the system said, for callers that deal in that.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Os { source, .. } | Error::Path { source, .. } => source,
            other => Self::other(other),
        }
    }
}

impl Error {
    /// Whether the thing does not exist here at all, as opposed to having failed.
    pub fn is_not_supported(&self) -> bool {
        matches!(self, Self::NotSupported { .. })
    }

    /// Whether this system has not what was asked for, or not for this process, as opposed to its
    /// having gone wrong.
    pub fn is_lacking(&self) -> bool {
        match self {
            Self::Os { source, .. } | Self::Path { source, .. } => is_lacking(source),
            _ => true,
        }
    }

    /// What the system said, where it was the system that refused.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Os { source, .. } | Self::Path { source, .. } => Some(source),
            _ => None,
        }
    }

    pub(crate) fn os<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Os {
            action,
            source: source.into(),
        }
    }

    pub(crate) fn path<E: Into<io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Path {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }
}
