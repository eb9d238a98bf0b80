//! Writes and reads the document.

use super::document::{Document, DocumentWithoutChecksums, Envelope, FORMAT, Format, VERSION};
use super::error::{ExportError, ImportError};
use crate::checksum::{Proof, RunChecksums, Standing, check};
use crate::run::Run;
use serde_json::error::Category;
use std::borrow::Cow;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::ops::RangeInclusive;

/// The versions with checksums.
const WITH_CHECKSUMS: RangeInclusive<u32> = 2..=VERSION;
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
        checksums,
    };
    let mut output = BufWriter::new(output);
    serde_json::to_writer(&mut output, &document).map_err(std::io::Error::from)?;
    output.write_all(b"\n")?;
    Ok(output.flush()?)
}

/// Reads a document of this or any older version. The returned run is checked, so it can be stored
/// and analysed. A document of version 1 has no checksums: its run is not proven, and the header
/// says so.
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
    // Nearly always the document is of this version, and its first fields need not be read apart.
    let run = match serde_json::from_str::<Document<'_>>(text) {
        Ok(document) if WITH_CHECKSUMS.contains(&document.version) => checked(document)?,
        _ => of_other_version(text)?,
    };
    run.validate()?;
    Ok(run)
}

/// The run of a document, which must agree with its checksums.
fn checked(document: Document<'_>) -> Result<Run, ImportError> {
    let run = document.run.into_owned();
    match check(&run, &document.checksums) {
        Standing::Agreed => Ok(run),
        Standing::Damaged(parts) => Err(ImportError::DamagedRun(parts)),
        Standing::WithoutChecksums => Err(ImportError::WrongVersion(document.version.into())),
    }
}

/// The run of a document without checksums, or the reason why there is none.
fn of_other_version(text: &str) -> Result<Run, ImportError> {
    let explain = |error: serde_json::Error| match error.classify() {
        _ if !is_run(text.as_bytes()) => ImportError::NotARun,
        Category::Eof => ImportError::Truncated(text.len()),
        _ => ImportError::Damaged(error),
    };
    let envelope: Envelope = serde_json::from_str(text).map_err(explain)?;
    if envelope.format != FORMAT {
        return Err(ImportError::NotARun);
    }
    if envelope.version > u64::from(VERSION) {
        return Err(ImportError::Newer {
            found: envelope.version,
            known: VERSION,
        });
    }
    if envelope.version == 1 && envelope.checksums.is_none() {
        let document: DocumentWithoutChecksums = serde_json::from_str(text).map_err(explain)?;
        let mut run = document.run;
        run.header.proven = false;
        return Ok(run);
    }
    // A version that has them is damaged if it cannot be read as one.
    serde_json::from_str::<Document<'_>>(text).map_err(explain)?;
    Err(ImportError::WrongVersion(envelope.version))
}

/// Verifies the integrity of the run in a document.
///
/// # Errors
/// If the input cannot be read, or is no document of a known version. Damage is a result, not an
/// error.
pub fn verify(input: impl Read) -> Result<Proof, ImportError> {
    match import(input) {
        Ok(run) => Ok(Proof::of(&run)),
        Err(ImportError::DamagedRun(parts)) => Ok(Proof::Damaged { parts }),
        Err(error @ (ImportError::Io(_) | ImportError::NotARun | ImportError::Newer { .. })) => {
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
