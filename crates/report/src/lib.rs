//! The output of oscope: findings and figures derived from records, for the terminal and as a page.
//!
//! # What it uses
//!
//! `record` for runs, `experiments` for the meaning of their results, `instrument` for the types of
//! both.
//!
//! # What it must never do
//!
//! Access the machine: the report of a run is the same on every machine and at any time.

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
