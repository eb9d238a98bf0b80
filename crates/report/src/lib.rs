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
#[cfg(test)]
mod any_input;
pub mod cached;
pub mod changes;
mod chart;
pub mod comparison;
mod consistency;
pub mod document;
pub mod export;
mod first_screen;
pub mod fleet;
pub mod format;
mod glance;
pub mod history;
pub mod json;
pub mod lab;
mod lists;
pub mod machines;
#[cfg(test)]
mod made_up;
pub mod markdown;
pub mod network;
pub mod page;
mod printed;
mod ranking;
pub mod reference;
pub mod reproduce;
pub mod show;
mod surroundings;
pub mod terminal;
mod verdict;
pub mod view;

pub use analysis::{Analysis, ExperimentAnalysis};
pub use first_screen::{Part, parts_of_glance};
pub use ranking::{MOST_FINDINGS, foremost};
pub use surroundings::Surroundings;
pub use verdict::Verdict;
