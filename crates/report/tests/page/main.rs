//! The page as a reader gets it.

#[path = "../fixture/mod.rs"]
mod fixture;

mod charts;
mod document;
mod escaping;
mod packed;
mod size;
