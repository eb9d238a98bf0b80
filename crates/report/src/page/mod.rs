//! The page: one HTML file, complete by itself, made of a run.
//!
//! Views turn the analysis into plain texts and charts; the templates only place them. Everything
//! that a user or a system could have named passes through the templates' escaping.

mod anchor;
mod chart;
mod claim;
mod command;
mod comparison;
mod data;
mod evidence;
mod experiment;
mod facts;
mod figure;
mod finding;
mod packed;
mod plot;
#[cfg(feature = "png")]
mod png;
mod render;
mod setting;
mod table;

pub use comparison::comparison;
pub use plot::plot;
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use render::{Error, render};
