//! What oscope keeps: the run model, the embedded store, export and import.
//!
//! # What it is
//!
//! A [`Run`] is everything measured by one start of oscope. A [`Recorder`](store::Recorder) watches
//! the runner and puts every batch of samples into the [`Store`](store::Store) before the next one
//! is taken; a run that was cut off at any moment is read like any other. [`mod@file`] turns a run into
//! one portable document and back, [`mod@csv`] its samples into a table, as does `parquet`, a cargo
//! feature.
//!
//! # What it uses
//!
//! `instrument` and `platform`, for the types of what was measured and of the machine; SQLite for
//! the store.
//!
//! # What it must never do
//!
//! Know any experiment: a run is read by what it says of itself. Judge a number: estimates are made
//! of the samples each time a run is read.

pub mod csv;
pub mod file;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod store;

mod checksum;
mod reading;
mod redact;
mod run;
mod table;
mod validation;

pub use checksum::{Part, Proof};
pub use redact::Redactor;
pub use run::{Closing, ExperimentRecord, Header, NOT_REACHED, PointRecord, Run, draw_id, now};
pub use validation::Invalid;
