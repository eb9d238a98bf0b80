//! The layout of charts, which knows neither a terminal nor SVG.

mod levels;
mod matrix;
mod scale;

pub(crate) use levels::{levels, show_level};
pub(crate) use matrix::{Cell, Matrix};
pub(crate) use scale::{Domain, Scale, drawn_centre};
