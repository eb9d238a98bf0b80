//! One run as one portable file, `….oscope.json`: a JSON document whose schema is
//! `schema/run-1.schema.json` in this crate.
//!
//! After a change of the run model, `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test
//! schema` writes the schema anew. Version 1 may gain optional fields; whatever an older program
//! would misread needs a new version, and [`import`] goes on reading all older ones.

mod document;
mod error;
mod transfer;

pub use document::{VERSION, schema};
pub use error::{ExportError, ImportError};
pub use transfer::{export, import};
