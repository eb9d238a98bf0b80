//! Decodes columns of the store's tables.

use super::error::{Fault, OrFault};
use crate::checksum::Checksum;
use rusqlite::types::ValueRef;
use rusqlite::{Row, RowIndex};
use serde::de::DeserializeOwned;

/// The checksum in a column; [`Checksum::MISSING`] if it is empty, as only damage makes it.
pub(super) fn checksum(row: &Row<'_>, column: impl RowIndex) -> OrFault<Checksum> {
    let bytes: Option<[u8; 32]> = row.get(column)?;
    Ok(bytes.map_or(Checksum::MISSING, Checksum::from))
}

/// The value that a column stores as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> OrFault<T> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|error| Fault::Damaged(format!("a content: {error}")))
}

/// The bytes that a column stores.
pub(super) fn blob<'r>(row: &'r Row<'_>, column: usize) -> OrFault<&'r [u8]> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(bytes),
        _ => Err(Fault::Damaged("a batch is no blob".into())),
    }
}
