//! What oscope keeps: the run model, the embedded store, export and import.
//!
//! # What it uses
//!
//! `instrument` and `platform`, for the types of what was measured and of the machine.
//!
//! # What it must never do
//!
//! Know any experiment: a run is read by what it says of itself.

mod run;

pub use run::{Closing, ExperimentRecord, Header, PointRecord, Run};
