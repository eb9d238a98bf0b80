//! Runs that are kept, exported, imported and damaged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checksums;
mod common;
mod csv;
mod file_faults;
mod fixtures;
mod flips;
mod killed;
#[cfg(feature = "parquet")]
mod parquet;
mod redact;
mod round_trip;
mod schema;
mod store;
mod store_faults;
mod together;
mod vocabulary;
