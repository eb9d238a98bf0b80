//! No matter what fails, every file under its own name is complete.

mod changed;
#[path = "../common/mod.rs"]
mod common;
mod crowds;
mod lost;
mod overlapping;
mod pauses;
mod peers;
mod places;
mod planted;
mod resumed;
mod rights;
mod trees;
mod trust;
