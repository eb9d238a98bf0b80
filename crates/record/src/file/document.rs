//! The structure of the exported document.

use crate::checksum::RunChecksums;
use crate::run::Run;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of the document that this program writes, and the newest that it reads.
pub const VERSION: u32 = 3;

/// One run of oscope, with the machine it ran on and every sample.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A run of oscope")]
pub(super) struct Document<'a> {
    /// Identifies the document as a run of oscope.
    pub format: Format,
    /// The version of this schema.
    #[schemars(range(min = 2, max = 3))]
    pub version: u32,
    /// The run.
    pub run: Cow<'a, Run>,
    /// The checksums of its parts.
    pub checksums: RunChecksums,
}

/// A document of any version that this program reads. Version 1 had no checksums.
#[derive(Debug, Deserialize)]
pub(super) struct AnyDocument {
    pub format: Format,
    pub version: u32,
    pub run: Run,
    pub checksums: Option<RunChecksums>,
}

/// Identifies the document as a run of oscope.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) enum Format {
    /// A run of oscope.
    #[serde(rename = "oscope-run")]
    OscopeRun,
}

/// The first fields of a document of any version.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope {
    pub format: String,
    pub version: u64,
}

/// The value of `format` in documents of every version.
pub(super) const FORMAT: &str = "oscope-run";

/// The JSON schema of the document.
pub fn schema() -> Schema {
    schema_for!(Document<'_>)
}
