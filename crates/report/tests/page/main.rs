//! The page as its reader sees it.

#[path = "../fixture/mod.rs"]
mod fixture;

mod charts;
mod document;
mod escaping;
mod packed;
mod size;
