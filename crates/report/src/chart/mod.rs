//! The layout of charts, which knows neither a terminal nor SVG.

mod gaps;
mod levels;
mod matrix;
mod scale;
mod ticks;

pub(crate) use gaps::{Lines, Place};
pub(crate) use levels::{levels, show_level};
pub(crate) use matrix::{Cell, Matrix};
pub(crate) use scale::{Domain, Scale, drawn_centre};
pub(crate) use ticks::{Tick, in_one_unit, ticks};
