//! What can go wrong with files of runs.

use crate::checksum::{Part, disagreeing};
use crate::store;
use crate::validation::Invalid;
use std::io;

/// Why a run was not exported. What was written of the file is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The run holds something that cannot be.
    #[error("the run cannot be exported: {0}")]
    Invalid(#[from] Invalid),
    /// The run could not be had from the store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The file could not be written.
    #[error("the run could not be written: {0}")]
    Io(#[from] io::Error),
}

/// Why a file was not imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file could not be read.
    #[error("the file could not be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("this is no run of oscope, which begins with {{\"format\":\"oscope-run\"")]
    NotARun,
    /// A later version wrote it.
    #[error(
        "the file was written by a newer oscope (version {found} of the format; this one reads up \
         to {known}): use that oscope"
    )]
    Newer {
        /// The version of the document.
        found: u64,
        /// The newest that this program reads.
        known: u32,
    },
    /// It ends in the middle.
    #[error("the file is cut off after {0} bytes: fetch it again")]
    Truncated(usize),
    /// It is not as oscope writes it.
    #[error("the file is damaged: {0}")]
    Damaged(serde_json::Error),
    /// Parts of it are not as oscope wrote them.
    #[error("the file is damaged: {}; fetch it again", disagreeing(.0))]
    DamagedRun(Vec<Part>),
    /// It has no such version, or lacks what a file of its version has.
    #[error("the file is damaged: it is not what version {0} of the format is; fetch it again")]
    WrongVersion(u64),
    /// It holds text that is none.
    #[error("the file is damaged: it is not UTF-8 from byte {0} on")]
    NotText(usize),
    /// It holds something that cannot be.
    #[error("the file holds what cannot have been measured: {0}")]
    Invalid(#[from] Invalid),
    /// It is larger than any run.
    #[error("the file is larger than {0} bytes, which no run is")]
    TooLarge(u64),
}
