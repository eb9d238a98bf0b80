//! The data that oscope keeps: the run model, the embedded store, export and import.
//!
//! # What it is
//!
//! A [`Run`] is everything measured by one start of oscope. A [`Recorder`](store::Recorder)
//! observes the runner and puts every batch of samples into the [`Store`](store::Store) before the
//! next one is taken; an interrupted run can be read like any other. [`mod@file`] turns a run into
//! one portable document and back; [`mod@csv`] and `parquet`, a cargo feature, turn its samples
//! into a table.
//!
//! # What it uses
//!
//! `instrument` and `platform`, for the types of measurements and of the machine; SQLite for the
//! store.
//!
//! # What it must never do
//!
//! Know any experiment: a run describes itself. Judge a number: estimates are computed from the
//! samples each time a run is read.

pub mod csv;
pub mod file;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod store;

mod blob;
mod checksum;
mod redact;
mod run;
mod table;
mod validation;

pub use checksum::{Part, Proof};
pub use redact::{Redactor, machine_mark};
pub use run::{Closing, ExperimentRecord, Failure, Header, PointRecord, Run, draw_id, now};
pub use validation::Invalid;
