//! Figures as SVG.

mod across;
mod annotations;
mod bars;
mod curve;
mod format;
mod labels;
mod marker;
mod panel;
#[cfg(test)]
mod properties;
mod ratio;
mod render;
mod rows;
mod scale;
mod strip;
mod svg;
mod ticks;
mod timeline;

pub(super) use across::{levels, show_level};
pub(super) use format::Format;
pub(super) use marker::{STYLES, swatch};
pub(super) use ratio::{Curve, XAxis, curves, rows};
pub(super) use render::{can_be_logarithmic, render, undrawn};
pub(super) use strip::Strip;
pub(super) use timeline::moments;
