//! Decodes columns of the store's tables.

use super::error::{Fault, Result};
use crate::checksum::Checksum;
use instrument::plan::Profile;
use jiff::Timestamp;
use rusqlite::{Row, RowIndex};
use serde::de::DeserializeOwned;

/// The checksum in a column; [`Checksum::MISSING`] if it is empty, as only damage makes it.
pub(super) fn checksum(row: &Row<'_>, column: impl RowIndex) -> Result<Checksum> {
    let bytes: Option<[u8; 32]> = row.get(column)?;
    Ok(bytes.map_or(Checksum::MISSING, Checksum::from))
}

/// The value that a column stores as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|error| Fault::Damaged(format!("{column}: {error}")))
}

/// As [`json`], for a column that may be empty.
pub(super) fn optional_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let value = text.map(|text| serde_json::from_str(&text)).transpose();
    value.map_err(|error| Fault::Damaged(format!("JSON of a measurement: {error}")))
}

pub(super) fn timestamp(text: &str) -> Result<Timestamp> {
    text.parse()
        .map_err(|error| Fault::Damaged(format!("time '{text}': {error}")))
}

/// The end time of the run in `row`.
pub(super) fn ended(row: &Row<'_>) -> Result<Option<Timestamp>> {
    let text: Option<String> = row.get("ended")?;
    text.as_deref().map(timestamp).transpose()
}

pub(super) fn profile(name: String) -> Result<Profile> {
    serde_json::from_value(name.into()).map_err(|error| Fault::Damaged(format!("profile: {error}")))
}

pub(super) fn seed(text: &str) -> Result<u64> {
    text.parse()
        .map_err(|error| Fault::Damaged(format!("seed '{text}': {error}")))
}
