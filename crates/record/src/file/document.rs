//! The structure of the exported document.

use crate::checksum::RunChecksums;
use crate::run::Run;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of the document that this program writes and reads.
pub const VERSION: u32 = 5;

/// One run of oscope, with the machine it ran on and every sample.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A run of oscope")]
pub(super) struct Document<'a> {
    /// Identifies the document as a run of oscope.
    pub format: Format,
    /// The version of this schema.
    #[schemars(range(min = 5, max = 5))]
    pub version: u32,
    /// The run.
    pub run: Cow<'a, Run>,
    /// The checksums of its parts. A document that another program made may omit them: its run is unproven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
