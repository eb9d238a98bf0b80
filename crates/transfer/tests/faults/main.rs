//! Whatever goes wrong, no file is there under its name that is not whole.

mod changed;
#[path = "../common/mod.rs"]
mod common;
mod crowds;
mod lost;
mod peers;
mod places;
mod planted;
mod resumed;
