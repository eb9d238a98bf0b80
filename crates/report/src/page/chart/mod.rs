//! Figures as SVG.

mod across;
mod annotations;
mod axes;
mod bars;
mod card;
mod curve;
mod format;
mod labels;
mod line;
mod marker;
mod matrix;
mod panel;
#[cfg(test)]
mod properties;
mod ratio;
mod render;
mod rows;
mod strip;
mod svg;
mod timeline;

pub(super) use card::{Lines, Picture, whole};
pub(super) use format::Format;
pub(super) use marker::{STYLES, swatch};
pub(super) use matrix::STEPS;
pub(super) use ratio::{Curve, XAxis, curves, rows};
pub(super) use render::{can_be_logarithmic, render, undrawn};
pub(super) use strip::Strip;
pub(super) use timeline::moments;
