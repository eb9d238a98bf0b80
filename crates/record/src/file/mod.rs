//! One run as one portable file, `….oscope.json`: a JSON document whose schema is
//! `schema/run-5.schema.json` in this crate. It contains the store's checksums: one for each batch,
//! point and experiment, and one for the run.
//!
//! After a change of the run model, `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test runs
//! schema` renews the schema. A version may gain optional fields outside batches, which are omitted
//! while they have their default value, so that checksums stay valid. A change that an older program
//! would misread, or of a batch, needs a new version.

mod document;
mod error;
mod transfer;

pub use document::{VERSION, schema};
pub use error::{ExportError, ImportError};
pub(crate) use transfer::write;
pub use transfer::{export, import, parse, verify};
