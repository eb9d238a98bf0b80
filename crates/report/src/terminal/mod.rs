//! Results as text on a terminal.
//!
//! Each function returns the complete text, including the final line break. [`Style`] describes the
//! terminal's capabilities.

mod advice;
mod catalogue;
mod changes;
mod chart;
mod checks;
mod claims;
mod comparison;
mod experiment;
mod findings;
mod fleet;
mod grid;
mod history;
mod labs;
mod machine;
mod marks;
mod network;
mod opening;
mod proof;
mod references;
mod reproduction;
mod runs;
mod style;
mod summary;
mod table;
mod text;
mod trust;

pub use advice::advice;
pub use catalogue::{explain, list};
pub use changes::changes;
pub use checks::checks;
pub use claims::claims;
pub use comparison::comparison;
pub use experiment::experiment;
pub use fleet::fleet;
pub use history::histories;
pub use labs::labs;
pub use machine::machine;
pub use network::network;
pub use proof::{proof, verification};
pub use references::references;
pub use reproduction::{places, reproduction};
pub use runs::runs;
pub use style::Style;
pub use summary::{brief, summary};
