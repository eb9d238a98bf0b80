//! Errors of exporting and importing runs.

use crate::checksum::{Part, disagreeing};
use crate::store;
use crate::validation::Invalid;
use std::io;

/// The reason why a run was not exported. The file's contents are then unusable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The run contains an invalid value.
    #[error("the run cannot be exported: {0}")]
    Invalid(#[from] Invalid),
    /// The store could not read the run.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The file could not be written.
    #[error("the run could not be written: {0}")]
    Io(#[from] io::Error),
}

/// The reason why a file was not imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file could not be read.
    #[error("the file could not be read: {0}")]
    Io(#[from] io::Error),
    /// The file is not a run of oscope.
    #[error("this is not a run of oscope, which begins with {{\"format\":\"oscope-run\"")]
    NotARun,
    /// Another version of oscope wrote the file.
    #[error(
        "the file has version {found} of the format, and this oscope reads version {known}: read it \
         with the oscope that wrote it, or measure again"
    )]
    OtherVersion {
        /// The version of the document.
        found: u64,
        /// The version that this program reads.
        known: u32,
    },
    /// The file ends early.
    #[error("the file is cut off after {0} bytes: fetch it again")]
    Truncated(usize),
    /// The file is not in the format that oscope writes.
    #[error("the file is damaged: {0}")]
    Damaged(serde_json::Error),
    /// Parts of the run differ from what oscope wrote.
    #[error("the file is damaged: {}; fetch it again", disagreeing(.0))]
    DamagedRun(Vec<Part>),
    /// The run was exported with checksums, and the file has none.
    #[error("the file is damaged: its checksums are missing; fetch it again")]
    NoChecksums,
    /// The file contains text that is not UTF-8.
    #[error("the file is damaged: it is not UTF-8 from byte {0} on")]
    NotText(usize),
    /// The run contains an invalid value.
    #[error("the file contains values that cannot have been measured: {0}")]
    Invalid(#[from] Invalid),
    /// The file is larger than any run.
    #[error("the file is larger than {0} bytes: no run is")]
    TooLarge(u64),
}
