//! The page as its reader sees it.

mod charts;
mod document;
mod escaping;
mod packed;
mod recorded;
