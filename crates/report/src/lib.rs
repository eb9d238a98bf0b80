//! What oscope shows: findings and figures made of records, for the terminal and as a page.
//!
//! # What it uses
//!
//! `record` for runs, `experiments` for what their results mean, `instrument` for the types of both.
//!
//! # What it must never do
//!
//! Touch the machine: a report is the same wherever and whenever it is made of a run.

pub mod advice;
mod analysis;
pub mod comparison;
pub mod export;
pub mod history;
pub mod json;
pub mod page;
pub mod reference;
pub mod show;
pub mod terminal;

pub use analysis::{Analysis, ExperimentAnalysis};
