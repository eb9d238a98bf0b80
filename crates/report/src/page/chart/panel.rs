//! One plot: grid, axes, marks and curves.

use super::across::Across;
use super::axes::{YAxis, band};
use super::format::Format;
use super::labels::shortened;
use super::line::draw;
use super::marker::{class, outline};
use super::svg::{Dots, Path, Px, Svg};
use crate::chart::{Domain, Lines, Place, Scale, drawn_centre, levels};
use instrument::figure::{Figure, FigurePoint, FigureScale, Mark, MarkOrigin, Series};

/// Distance between the lower edge of a plot and the baseline of its axis title.
pub(super) const AXIS_TITLE: f64 = 40.0;
/// Distance between the lower edge of a plot and the baseline of its tick labels.
const TICK_LABELS: f64 = 18.0;

/// Position of a plot in its chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A plot.
pub(super) struct Panel<'a> {
    pub(super) figure: &'a Figure,
    pub(super) format: Format,
    pub(super) frame: Frame,
    /// The only series to draw; `None` for all.
    pub(super) subject: Option<usize>,
    /// True if this panel has the labels of the y axis.
    pub(super) is_first: bool,
    /// True if this panel has the labels of the x axis.
    pub(super) is_lowest: bool,
    pub(super) across: Across<'a>,
    pub(super) y: Scale,
}

/// Number of labels that fit on a y axis of `height`.
pub(super) fn y_room(format: Format, height: f64) -> usize {
    (height / (format.font_size() * 3.0)) as usize
}

/// The CSS classes of a mark's line.
pub(super) fn mark_class(mark: &Mark) -> &'static str {
    match mark.origin {
        MarkOrigin::Found => "mark found",
        MarkOrigin::Documented => "mark documented",
    }
}

impl<'a> Panel<'a> {
    /// A plot of all series of `figure`, without axis labels.
    pub(super) fn new(
        figure: &'a Figure,
        format: Format,
        frame: Frame,
        y: Domain,
        kind: FigureScale,
    ) -> Self {
        Self {
            figure,
            format,
            frame,
            subject: None,
            is_first: false,
            is_lowest: false,
            across: Across::new(figure, frame.left, frame.left + frame.width),
            y: y.between(kind, frame.bottom(), frame.top),
        }
    }

    /// Pixel position of the centre of `point`; `None` if it has no place.
    pub(super) fn place(&self, point: &FigurePoint) -> Option<(f64, f64)> {
        let centre = drawn_centre(&point.estimate)?;
        Some((self.across.position(&point.x)?, self.y.position(centre)?))
    }

    /// Draws the panel.
    pub(super) fn draw(&self, svg: &mut Svg) {
        let Frame {
            left,
            top,
            width,
            height,
        } = self.frame;
        let levels = levels(self.figure).into_iter();
        let positions = levels.map(|level| self.across.position(level));
        svg.open_panel("panel", [left, top, width, height], positions, self.subject);
        self.y_axis(svg);
        self.x_axis(svg);
        self.marks(svg);
        let (own, others): (Vec<_>, Vec<_>) = (self.figure.series.iter().enumerate())
            .partition(|(index, _)| self.subject.is_none_or(|subject| subject == *index));
        for (_, series) in others {
            let Lines { solid, .. } = self.lines(series);
            svg.element("path", &[("class", &"other"), ("d", &Path::lines(solid))]);
        }
        for (index, series) in own {
            self.series(svg, series, index);
        }
        svg.close("g");
    }

    fn y_axis(&self, svg: &mut Svg) {
        let axis = YAxis {
            scale: &self.y,
            unit: self.figure.y.unit,
            room: y_room(self.format, self.frame.height),
            format: self.format,
        };
        axis.draw(svg, (self.frame.left, self.frame.width), self.is_first);
    }

    fn x_axis(&self, svg: &mut Svg) {
        let Frame { left, width, .. } = self.frame;
        let bottom = self.frame.bottom();
        let font = self.format.font_size();
        let found = self.across.ticks((width / (font * 4.8)) as usize);
        let labelled = found
            .iter()
            .filter(|(_, tick)| tick.label.is_some())
            .count();
        let widest = width / labelled.max(1) as f64 - 4.0;
        let mut axis = Path::default();
        axis.line([(left, bottom), (left + width, bottom)]);
        for (x, tick) in found {
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            axis.line([(x, bottom), (x, bottom + length)]);
            if let (Some(label), true) = (tick.label, self.is_lowest) {
                svg.text(
                    "text",
                    &[
                        ("class", &"x-tick"),
                        ("x", &Px(x)),
                        ("y", &Px(bottom + TICK_LABELS)),
                    ],
                    &shortened(&label, font, widest),
                );
            }
        }
        svg.element("path", &[("class", &"axis"), ("d", &axis)]);
        if self.is_lowest {
            svg.text(
                "text",
                &[
                    ("class", &"axis-title"),
                    ("x", &Px(left + width)),
                    ("y", &Px(bottom + AXIS_TITLE)),
                    ("text-anchor", &"end"),
                ],
                &self.figure.x.title,
            );
        }
    }

    fn marks(&self, svg: &mut Svg) {
        let Frame { top, height, .. } = self.frame;
        for mark in &self.figure.marks {
            let Some(x) = self.across.mark(mark.at) else {
                continue;
            };
            let ends = mark.interval.and_then(|interval| {
                Some((
                    self.across.mark_end(interval.low)?,
                    self.across.mark_end(interval.high)?,
                ))
            });
            if let Some((from, to)) = ends {
                svg.element(
                    "rect",
                    &[
                        ("class", &"mark-band"),
                        ("x", &Px(from)),
                        ("y", &Px(top)),
                        ("width", &Px((to - from).max(1.0))),
                        ("height", &Px(height)),
                    ],
                );
            }
            let line = format!("M{} {}v{}", Px(x), Px(top), Px(height));
            svg.element("path", &[("class", &mark_class(mark)), ("d", &line)]);
        }
    }

    fn series(&self, svg: &mut Svg, series: &Series, index: usize) {
        // A panel with one subject has no other series to distinguish it from.
        let (style, radius) = if self.subject.is_some() {
            (0, 2.5)
        } else {
            (index, 3.8)
        };
        let class = format!("series {}", class(style));
        svg.open("g", &[("class", &class), ("data-series", &index)]);
        svg.element("path", &[("class", &"band"), ("d", &self.band(series))]);
        svg.element("path", &[("class", &"dots"), ("d", &self.dots(series))]);
        let lines = self.lines(series);
        draw(svg, lines);
        let levels = levels(self.figure);
        for point in &series.points {
            let Some((x, y)) = self.place(point) else {
                continue;
            };
            let row = levels
                .iter()
                .position(|level| **level == point.x)
                .unwrap_or_default();
            let class = if point.doubtful { "m doubtful" } else { "m" };
            let shape = outline(style, x, y, radius);
            svg.element(
                "path",
                &[("class", &class), ("data-i", &row), ("d", &shape)],
            );
        }
        svg.close("g");
    }

    /// The line through the points of `series`, interrupted where a point has no place.
    fn lines(&self, series: &Series) -> Lines {
        let places = series.points.iter().map(|point| {
            let value = drawn_centre(&point.estimate)?;
            Some(Place {
                // Names have no distance.
                value: (point.x.number().unwrap_or_default() as f64, value),
                at: self.place(point)?,
            })
        });
        Lines::through(&places.collect::<Vec<_>>())
    }

    /// The intervals of neighbouring points as one band, interrupted at points without an interval.
    fn band(&self, series: &Series) -> Path {
        let ends = |point: &FigurePoint| {
            let interval = point.estimate.interval?;
            let (x, _) = self.place(point)?;
            // On a logarithmic scale an interval that includes zero extends to the lower edge.
            let low = self.y.position(interval.low).unwrap_or(self.y.from);
            Some((x, low, self.y.position(interval.high)?))
        };
        band(&series.points.iter().map(ends).collect::<Vec<_>>())
    }

    /// One dot for each process.
    fn dots(&self, series: &Series) -> Dots {
        let mut dots = Dots::default();
        for point in &series.points {
            let Some(x) = self.across.position(&point.x) else {
                continue;
            };
            for value in &point.estimate.by_process {
                if let Some(y) = self.y.position(*value) {
                    dots.add(x, y);
                }
            }
        }
        dots
    }
}
