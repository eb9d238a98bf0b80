//! The layout of charts, which knows neither a terminal nor SVG. Places on an axis are from 0 to 1.

mod bars;
mod curves;
mod levels;
mod matrix;
mod scale;
mod ticks;
mod timeline;

pub(crate) use bars::{Bar, Bars};
pub(crate) use curves::{Curve, Curves, PlacedMark, Spot};
pub(crate) use levels::{levels, show_level};
pub(crate) use matrix::{Cell, Matrix};
pub(crate) use scale::{Scale, drawn_centre, is_wide};
pub(crate) use ticks::{Tick, in_one_unit, ticks};
pub(crate) use timeline::{Block, Timeline, moments};
