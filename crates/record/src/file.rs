//! One run as one portable file, `….oscope.json`: a JSON document whose schema is
//! `schema/run-6.schema.json` in this crate. It contains the store's checksums: one for each batch,
//! point and experiment, and one for the run.
//!
//! After a change of the run model, `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test runs
//! schema` renews the schema. A version may gain optional fields outside batches, which are omitted
//! while they have their default value, so that checksums stay valid. A change to a batch, or one
//! that an older program would misread, needs a new version.

use crate::checksum::{Part, Proof, RunChecksums, check_document, disagreeing};
use crate::run::Run;
use crate::store;
use crate::validation::Invalid;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

/// The version of the document that this program writes and reads.
pub const VERSION: u32 = 6;

/// One run of oscope, with the machine it ran on and every sample.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A run of oscope")]
struct Document<'a> {
    /// Identifies the document as a run of oscope.
    pub format: Format,
    /// The version of this schema.
    #[schemars(range(min = 6, max = 6))]
    pub version: u32,
    /// The run.
    pub run: Cow<'a, Run>,
    /// The checksums of its parts. A document that another program made may omit them: its run is unproven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<RunChecksums>,
}

/// Identifies the document as a run of oscope.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Format {
    /// A run of oscope.
    #[serde(rename = "oscope-run")]
    OscopeRun,
}

/// The first fields of a document of any version.
#[derive(Debug, Deserialize)]
struct Envelope {
    pub format: String,
    pub version: u64,
}

/// The value of `format` in documents of every version.
const FORMAT: &str = "oscope-run";

/// The JSON schema of the document.
pub fn schema() -> Schema {
    schema_for!(Document<'_>)
}

/// Some ten million samples: more than any profile takes, but still within a machine's memory.
const MAX_BYTES: u64 = 4 << 30;

/// Writes `run` as one document, which [`import`] turns into an equal run.
///
/// # Errors
/// If the run contains an invalid value, or the output cannot be written.
pub fn export(run: &Run, output: impl Write) -> Result<(), ExportError> {
    run.validate()?;
    write(run, RunChecksums::of(run), output)
}

/// Writes `run` with `checksums`, which must agree with it.
pub(crate) fn write(
    run: &Run,
    checksums: RunChecksums,
    output: impl Write,
) -> Result<(), ExportError> {
    let document = Document {
        format: Format::OscopeRun,
        version: VERSION,
        run: Cow::Borrowed(run),
        checksums: Some(checksums),
    };
    let mut output = BufWriter::new(output);
    serde_json::to_writer(&mut output, &document).map_err(io::Error::from)?;
    output.write_all(b"\n")?;
    Ok(output.flush()?)
}

/// Reads a document. The returned run is checked, so it can be stored and analysed. A document
/// without checksums is read if it does not call its run proven.
///
/// # Errors
/// If the input cannot be read, is not such a document, is damaged, or contains an invalid value.
pub fn import(input: impl Read) -> Result<Run, ImportError> {
    parse(&read(input)?)
}

/// As [`import`], of a document that is in memory.
///
/// # Errors
/// As for [`import`].
pub fn parse(bytes: &[u8]) -> Result<Run, ImportError> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) if !is_run(bytes) => return Err(ImportError::NotARun),
        // A character cut in two.
        Err(error) if error.error_len().is_none() => {
            return Err(ImportError::Truncated(bytes.len()));
        }
        Err(error) => return Err(ImportError::NotText(error.valid_up_to())),
    };
    let explain = |error: serde_json::Error| match error.classify() {
        _ if !is_run(bytes) => ImportError::NotARun,
        Category::Eof => ImportError::Truncated(bytes.len()),
        _ => ImportError::Damaged(error),
    };
    // Nearly every document is readable, so its first fields are not parsed separately.
    let run = match serde_json::from_str::<Document<'_>>(text) {
        Ok(document) => checked(document)?,
        Err(error) => {
            let envelope: Envelope = serde_json::from_str(text).map_err(explain)?;
            if envelope.format != FORMAT {
                return Err(ImportError::NotARun);
            }
            ensure_version(envelope.version)?;
            return Err(explain(error));
        }
    };
    run.validate()?;
    Ok(run)
}

/// The run of a document, which must agree with its checksums.
fn checked(document: Document<'_>) -> Result<Run, ImportError> {
    let Document {
        format: Format::OscopeRun,
        version,
        run,
        checksums,
    } = document;
    ensure_version(version.into())?;
    let damaged = match checksums {
        Some(checksums) => check_document(&run, &checksums),
        None if run.header.proven => return Err(ImportError::NoChecksums),
        None => Vec::new(),
    };
    if damaged.is_empty() {
        Ok(run.into_owned())
    } else {
        Err(ImportError::DamagedRun(damaged))
    }
}

fn ensure_version(found: u64) -> Result<(), ImportError> {
    if found == u64::from(VERSION) {
        return Ok(());
    }
    Err(ImportError::OtherVersion(found))
}

/// Verifies the integrity of the run in a document.
///
/// # Errors
/// If the input cannot be read, or is no document of this version. Damage is a result, not an
/// error.
pub fn verify(input: impl Read) -> Result<Proof, ImportError> {
    match import(input) {
        Ok(run) => Ok(Proof::of(&run)),
        Err(ImportError::DamagedRun(parts)) => Ok(Proof::Damaged { parts }),
        Err(error @ (ImportError::Io(_) | ImportError::NotARun | ImportError::OtherVersion(_))) => {
            Err(error)
        }
        Err(damage) => Ok(Proof::Unreadable {
            reason: damage.to_string(),
        }),
    }
}

/// Reads all of the input, unless its first bytes show that it is not a JSON object: there is no
/// need to read a whole disk or video.
fn read(input: impl Read) -> Result<Vec<u8>, ImportError> {
    let mut input = BufReader::new(input).take(MAX_BYTES + 1);
    if input
        .fill_buf()?
        .trim_ascii_start()
        .first()
        .is_some_and(|byte| *byte != b'{')
    {
        return Err(ImportError::NotARun);
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ImportError::TooLarge);
    }
    Ok(bytes)
}

/// True if these bytes, damaged or not, began as one of this program's documents.
fn is_run(bytes: &[u8]) -> bool {
    const BEGINNING_BYTES: usize = 200;
    let beginning = &bytes[..bytes.len().min(BEGINNING_BYTES)];
    beginning
        .windows(FORMAT.len())
        .any(|window| window == FORMAT.as_bytes())
}

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
    /// Another version of oscope wrote the file, in this version of the format.
    #[error(
        "the file has version {0} of the format, and this oscope reads version {VERSION}: read it \
         with the oscope that wrote it, or measure again"
    )]
    OtherVersion(u64),
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
    #[error("the file is larger than {MAX_BYTES} bytes: no run is")]
    TooLarge,
}
