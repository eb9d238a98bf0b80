//! Writes and reads the document.

use super::document::{Document, Envelope, FORMAT, Format, VERSION};
use super::error::{ExportError, ImportError};
use crate::checksum::{Proof, RunChecksums, check_document};
use crate::run::Run;
use serde_json::error::Category;
use std::borrow::Cow;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};

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
    serde_json::to_writer(&mut output, &document).map_err(std::io::Error::from)?;
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
    // Nearly always it is readable, and its first fields need not be read apart.
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
    Err(ImportError::OtherVersion {
        found,
        known: VERSION,
    })
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
        Err(
            error @ (ImportError::Io(_) | ImportError::NotARun | ImportError::OtherVersion { .. }),
        ) => Err(error),
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
        return Err(ImportError::TooLarge(MAX_BYTES));
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
