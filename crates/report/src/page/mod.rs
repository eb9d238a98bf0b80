//! Pages: each one self-contained HTML file, painted from a document. The page of a run has a first screen of its own:
//! views turn the analysis into plain text and charts; the templates only place them. The templates
//! escape all text that a user or a system may have supplied.

mod anchor;
mod chart;
mod data;
mod document;
mod experiment;
mod figure;
mod glance;
mod packed;
mod plot;
#[cfg(feature = "png")]
mod png;
mod render;
mod table;

pub use chart::card;
pub use document::paint;
pub use plot::plot;
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use render::render;
