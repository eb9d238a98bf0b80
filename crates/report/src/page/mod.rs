//! The page of a run: one self-contained HTML file.
//!
//! Views turn the analysis into plain text and charts; the templates only place them. The templates
//! escape all text that a user or a system may have supplied.

mod anchor;
mod card;
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
mod fleet;
mod glance;
mod lab;
mod network;
mod packed;
mod plot;
#[cfg(feature = "png")]
mod png;
mod render;
mod reproduction;
mod setting;
mod table;

pub use card::card;
pub use comparison::comparison;
pub use fleet::fleet;
pub use lab::{class, hand_in};
pub use network::network;
pub use plot::plot;
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use render::{Error, render};
pub use reproduction::reproduction;
