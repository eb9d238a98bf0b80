//! The rectangle of a plot with its axes, and small multiples of it.

use super::labels::wrapped;
use super::svg::{Anchor, BOLD, FONT, LINE, Path, Svg, text_width};
use crate::chart::{Scale, ticks};
use instrument::quantity::Unit;

/// Space at either end of an x axis, as a part of it.
const AIR: f64 = 0.02;
/// Room for the labels of an x axis, and for its title below them.
pub(super) const X_LABELS: f64 = 22.0;
pub(super) const X_TITLE: f64 = 22.0;
/// Gap between a plot and the labels of its y axis.
const Y_GAP: f64 = 8.0;

/// The room of a chart, in its own pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) width: f64,
    /// Infinite if the chart may be as high as it needs.
    pub(super) height: f64,
}

/// Position of a plot in its chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Left, top, width and height.
    pub(super) fn area(&self) -> [f64; 4] {
        [self.left, self.top, self.width, self.height]
    }

    /// The pixel of a place on the x axis.
    pub(super) fn x(&self, place: f64) -> f64 {
        self.left + self.width * (AIR + (1.0 - 2.0 * AIR) * place)
    }

    /// The pixel of a place on the y axis.
    pub(super) fn y(&self, place: f64) -> f64 {
        self.bottom() - self.height * place
    }

    /// Draws a line across the plot at each labelled tick, and the labels, in the style of a class, at the left
    /// ([`Anchor::End`]) or at the right, where they have no lines.
    pub(super) fn y_axis(
        &self,
        svg: &mut Svg,
        scale: &Scale,
        unit: Option<Unit>,
        labels: Option<(Anchor, &str)>,
    ) {
        let mut grid = Path::default();
        for (place, label) in y_labels(scale, unit, self.height) {
            let y = self.y(place);
            match labels {
                Some((Anchor::Start, class)) => {
                    let at = (self.right() + Y_GAP, y, Anchor::Start);
                    svg.label(class, &label, at);
                    continue;
                }
                Some((_, class)) => {
                    svg.label(class, &label, (self.left - Y_GAP, y, Anchor::End));
                }
                None => {}
            }
            grid.line([(self.left, y), (self.right(), y)]);
        }
        svg.path("grid", &grid);
        if let Some(one) = no_difference(scale, unit) {
            let mut unity = Path::default();
            unity.line([(self.left, self.y(one)), (self.right(), self.y(one))]);
            svg.path("unity", &unity);
        }
    }

    /// Draws the x axis with its ticks, and their labels if it `is_labelled`.
    pub(super) fn x_axis(
        &self,
        svg: &mut Svg,
        scale: &Scale,
        unit: Option<Unit>,
        is_labelled: bool,
    ) {
        /// Labels reach so far beyond the plot.
        const BEYOND: f64 = 7.0;
        let bottom = self.bottom();
        let mut axis = Path::default();
        axis.line([(self.left, bottom), (self.right(), bottom)]);
        for tick in ticks(scale, unit, (self.width / (FONT * 4.8)) as usize) {
            let Some(place) = scale.position(tick.value) else {
                continue;
            };
            let x = self.x(place);
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            axis.line([(x, bottom), (x, bottom + length)]);
            if let Some(label) = tick.label.filter(|_| is_labelled) {
                let half = text_width(&label) / 2.0 - BEYOND;
                let within = x.min(self.right() - half).max(self.left + half);
                svg.label("x-tick", &label, (within, bottom + 14.0, Anchor::Middle));
            }
        }
        svg.path("axis", &axis);
    }

    /// Writes the title of the x axis below its labels; returns the lower edge of both.
    pub(super) fn x_title(&self, svg: &mut Svg, title: &str) -> f64 {
        let below = self.bottom() + X_LABELS;
        let at = (self.right(), below + 12.0, Anchor::End);
        svg.label("axis-title", title, at);
        if title.is_empty() {
            below
        } else {
            below + X_TITLE
        }
    }
}

/// The place of 1 on an axis of ratios, which is no difference.
pub(super) fn no_difference(scale: &Scale, unit: Option<Unit>) -> Option<f64> {
    let has_one = unit == Some(Unit::Ratio) && scale.contains(1.0);
    scale.position(1.0).filter(|_| has_one)
}

/// The labels of a y axis of this height, with their places.
fn y_labels(scale: &Scale, unit: Option<Unit>, height: f64) -> Vec<(f64, String)> {
    let ticks = ticks(scale, unit, (height / (FONT * 2.5)) as usize).into_iter();
    ticks
        .filter_map(|tick| Some((scale.position(tick.value)?, tick.label?)))
        .collect()
}

pub(super) fn y_room(scale: &Scale, unit: Option<Unit>, height: f64) -> f64 {
    let labels = y_labels(scale, unit, height);
    widest(labels.iter().map(|(_, label)| label.as_str())) + Y_GAP + 4.0
}

pub(super) fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> f64 {
    texts.map(text_width).fold(0.0, f64::max)
}

/// Small multiples: plots of the same size, whose axes are labelled at the left and below.
pub(super) struct Panels {
    pub(super) left: f64,
    pub(super) width: f64,
    /// The lines of the title of each plot.
    titles: Vec<Vec<String>>,
    /// Height of a plot with its title and the space below.
    step: f64,
}

impl Panels {
    /// Height of a plot.
    pub(super) const HEIGHT: f64 = 110.0;
    const GAP: f64 = 14.0;
    const COLUMNS: usize = 2;

    /// A plot for each title in columns, right of the labels of their y axis.
    pub(super) fn new<'t>(width: f64, left: f64, titles: impl Iterator<Item = &'t str>) -> Self {
        let width = (width - left) / Self::COLUMNS as f64 - Self::GAP;
        let titles = titles.map(|title| wrapped(title, width / BOLD));
        let titles: Vec<Vec<String>> = titles.collect();
        let lines = titles.iter().map(Vec::len).max().unwrap_or(0).max(1);
        Self {
            left,
            width,
            titles,
            step: Self::HEIGHT + LINE * lines as f64 + 20.0,
        }
    }

    /// The plot `index`, below its title.
    pub(super) fn plot(&self, svg: &mut Svg, index: usize) -> Frame {
        let (row, column) = (index / Self::COLUMNS, index % Self::COLUMNS);
        let title = &self.titles[index];
        let room = self.step - Self::HEIGHT;
        let frame = Frame {
            left: self.left + (self.width + Self::GAP) * column as f64,
            top: self.step * row as f64 + room + FONT - 6.0,
            width: self.width,
            height: Self::HEIGHT,
        };
        let middle = frame.top - 11.0 - LINE * title.len().saturating_sub(1) as f64 / 2.0;
        svg.lines("panel-title", title, (frame.left, middle, Anchor::Start));
        frame
    }

    /// The labels of the y axis of plot `index`.
    pub(super) fn y_labels(index: usize) -> Option<(Anchor, &'static str)> {
        index
            .is_multiple_of(Self::COLUMNS)
            .then_some((Anchor::End, "y-tick"))
    }

    /// True if nothing is below the plot `index`.
    pub(super) fn is_lowest(&self, index: usize) -> bool {
        index + Self::COLUMNS >= self.titles.len()
    }
}
