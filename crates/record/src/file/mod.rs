//! One run as one portable file, `….oscope.json`: a JSON document whose schema is
//! `schema/run-2.schema.json` in this crate. Since version 2 it has a checksum for each batch, point
//! and experiment and for the run, those that the store has.
//!
//! After a change of the run model, `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test
//! schema` writes the schema anew. A version may gain optional fields, which are left out where they
//! have their default value, so that checksums stay true. Whatever an older program would misread
//! needs a new version, and [`import`] goes on reading all older ones.

mod document;
mod error;
mod transfer;

pub use document::{VERSION, schema};
pub use error::{ExportError, ImportError};
pub(crate) use transfer::write;
pub use transfer::{export, import, verify};
