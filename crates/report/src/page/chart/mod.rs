//! Figures as SVG.

mod axes;
mod caption;
mod card;
mod curves;
mod labels;
mod marker;
mod matrix;
mod picture;
mod render;
mod rows;
mod staircase;
mod strip;
mod svg;

pub(super) use caption::captioned;
pub use card::card;
pub(super) use marker::swatch;
pub(super) use matrix::STEPS;
pub(super) use picture::picture;
pub(super) use render::{Names, can_be_logarithmic, has_key, render, undrawn};
pub(super) use strip::Strip;
pub(super) use svg::escaped;
