//! Figures as SVG.

mod axes;
mod curves;
mod labels;
mod marker;
mod matrix;
mod picture;
#[cfg(test)]
mod properties;
mod ratio;
mod render;
mod rows;
mod staircase;
mod strip;
mod svg;
mod whole;

pub(super) use marker::swatch;
pub(super) use matrix::STEPS;
pub(super) use picture::picture;
pub(super) use ratio::{Curve, XAxis, curves, rows};
pub(super) use render::{Names, can_be_logarithmic, has_key, render, undrawn};
pub(super) use strip::Strip;
pub(super) use whole::{Lines, whole};
