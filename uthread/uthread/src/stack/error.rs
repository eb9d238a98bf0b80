//! Reasons that there is no memory for a stack.

use std::io;

/// Reason that no stack is available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MapError {
    #[error("cannot map {bytes} bytes for stacks")]
    Map { bytes: usize, source: io::Error },
    #[error("cannot install a guard")]
    Guard { source: io::Error },
    #[error("a stack of {bytes} bytes is too large: {most} is the most")]
    TooLarge { bytes: usize, most: usize },
}

impl MapError {
    /// The error of the system behind it.
    pub(crate) fn into_source(self) -> io::Error {
        match self {
            Self::Map { source, .. } | Self::Guard { source } => source,
            Self::TooLarge { .. } => io::ErrorKind::InvalidInput.into(),
        }
    }
}
