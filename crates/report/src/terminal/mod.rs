//! Results as text on a terminal.
//!
//! Each function returns the complete text, including the final line break. [`Style`] describes the
//! terminal's capabilities.

mod chart;
mod document;
mod grid;
mod style;
mod summary;
mod text;

pub use document::paint;
pub use style::Style;
pub use summary::brief;
pub use text::wrapped;
