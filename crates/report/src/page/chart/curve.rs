//! Curves along a numeric axis: one panel for a few series, small multiples with shared axes for
//! many.

use super::across::{Across, levels};
use super::format::Format;
use super::labels::{Placed, rows, shortened, spread};
use super::marker::{STYLES, class, outline};
use super::scale::{Domain, Scale, drawn_centre};
use super::svg::{Path, Px, Svg, text_width};
use super::ticks::ticks;
use instrument::figure::{Figure, FigurePoint, FigureScale, MarkOrigin, Series};

/// Widest label beside the end of a curve.
const DIRECT_LABEL: f64 = 150.0;
/// From the plot's lower edge to the baseline of the tick labels, and to that of the axis title.
const TICK_LABELS: f64 = 18.0;
const AXIS_TITLE: f64 = 40.0;

/// A plot within a chart.
struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    /// The one series that it is about; `None` for all.
    subject: Option<usize>,
    /// Whether the y axis is labelled here.
    is_first: bool,
    /// Whether the x axis is labelled here.
    is_lowest: bool,
}

/// A figure on its way into SVG.
struct Chart<'a> {
    figure: &'a Figure,
    kind: FigureScale,
    format: Format,
    y: Domain,
    svg: &'a mut Svg,
}

/// Draws `figure` with its y axis divided as `kind` says; gives the height of the chart.
pub(super) fn draw(svg: &mut Svg, figure: &Figure, kind: FigureScale, format: Format) -> f64 {
    let y = Domain::of_estimates(&figure.series, kind);
    let mut chart = Chart { figure, kind, format, y, svg };
    if figure.series.len() <= STYLES { chart.single() } else { chart.multiples() }
}

impl Chart<'_> {
    fn single(&mut self) -> f64 {
        let font = self.format.font_size();
        let left = self.y_label_width() + 12.0;
        let labels = self.direct_labels();
        let widest = labels.iter().map(|label| text_width(label, font)).fold(0.0, f64::max);
        let right = if widest > 0.0 { widest + 24.0 } else { 12.0 };
        let width = self.format.width() - left - right;
        let across = Across::new(self.figure, left, left + width);
        let marks = self.place_marks(&across, left);
        let row_count = marks.iter().map(|(_, _, placed)| placed.row + 1).max().unwrap_or(0);
        let row_height = font + 3.0;
        let panel = Panel {
            left,
            top: font + 12.0 + row_height * row_count as f64,
            width,
            height: self.format.plot_height(),
            subject: None,
            is_first: true,
            is_lowest: true,
        };
        self.svg.text(
            "text",
            &[("class", &"axis-title"), ("x", &0), ("y", &Px(font))],
            &self.figure.y.title,
        );
        let y = self.panel(&panel, &across);
        for (index, x, placed) in marks {
            let (shift, anchor) = if placed.leftwards { (-4.0, "end") } else { (4.0, "start") };
            let baseline = panel.top - 6.0 - row_height * placed.row as f64;
            let stem = format!("M{} {}V{}", Px(x), Px(panel.top), Px(baseline - font + 3.0));
            let mark = &self.figure.marks[index];
            let class = format!("mark {}", origin_class(mark.origin));
            self.svg.element("path", &[("class", &class), ("d", &stem)]);
            self.svg.text(
                "text",
                &[
                    ("class", &"mark-label"),
                    ("x", &Px(x + shift)),
                    ("y", &Px(baseline)),
                    ("text-anchor", &anchor),
                ],
                &mark.label,
            );
        }
        self.draw_direct_labels(&labels, &panel, &across, y);
        panel.top + panel.height + AXIS_TITLE + 6.0
    }

    fn multiples(&mut self) -> f64 {
        const GAP: f64 = 14.0;
        let font = self.format.font_size();
        let (columns, height) = self.format.panels();
        let count = self.figure.series.len();
        let left = self.y_label_width() + 12.0;
        let room = self.format.width() - left - 12.0;
        let width = (room - GAP * (columns - 1) as f64) / columns as f64;
        let step = height + font + 22.0;
        self.svg.text(
            "text",
            &[("class", &"axis-title"), ("x", &0), ("y", &Px(font))],
            &self.figure.y.title,
        );
        let first = font + 12.0;
        for index in 0..count {
            let (row, column) = (index / columns, index % columns);
            let panel = Panel {
                left: left + (width + GAP) * column as f64,
                top: first + step * row as f64 + font + 4.0,
                width,
                height,
                subject: Some(index),
                is_first: column == 0,
                is_lowest: index + columns >= count,
            };
            let across = Across::new(self.figure, panel.left, panel.left + width);
            self.panel(&panel, &across);
            let title = shortened(&self.figure.series[index].label, font, width);
            self.svg.text(
                "text",
                &[
                    ("class", &"panel-title"),
                    ("x", &Px(panel.left)),
                    ("y", &Px(panel.top - 6.0)),
                ],
                &title,
            );
        }
        first + step * count.div_ceil(columns) as f64 + AXIS_TITLE
    }

    /// One plot: grid, marks, curves, axes. Gives its y scale.
    fn panel(&mut self, panel: &Panel, across: &Across<'_>) -> Scale {
        let bottom = panel.top + panel.height;
        let y = self.y.between(self.kind, bottom, panel.top);
        let positions: Vec<String> = levels(self.figure)
            .into_iter()
            .map(|level| across.position(level).map_or("-".into(), |x| Px(x).to_string()))
            .collect();
        let place = [panel.left, panel.top, panel.width, panel.height].map(|v| Px(v).to_string());
        let subject = panel.subject.map_or(String::new(), |index| index.to_string());
        self.svg.open(
            "g",
            &[
                ("class", &"panel"),
                ("data-box", &place.join(" ")),
                ("data-at", &positions.join(" ")),
                ("data-subject", &subject),
            ],
        );
        self.y_axis(panel, &y);
        self.x_axis(panel, across);
        self.marks(panel, across);
        for (index, series) in self.figure.series.iter().enumerate() {
            if panel.subject.is_some_and(|subject| subject != index) {
                let places = series.points.iter().filter_map(|point| place_of(point, across, &y));
                let mut line = Path::default();
                line.line(places);
                self.svg.element("path", &[("class", &"other"), ("d", &line)]);
            }
        }
        for (index, series) in self.figure.series.iter().enumerate() {
            if panel.subject.is_none_or(|subject| subject == index) {
                self.series(series, index, panel, across, &y);
            }
        }
        self.svg.close("g");
        y
    }

    fn y_axis(&mut self, panel: &Panel, y: &Scale) {
        let font = self.format.font_size();
        let mut grid = Path::default();
        for tick in ticks(y, self.figure.y.unit, self.y_room(panel.height)) {
            let (Some(at), Some(label)) = (y.position(tick.value), tick.label) else { continue };
            grid.line([(panel.left, at), (panel.left + panel.width, at)]);
            if panel.is_first {
                self.svg.text(
                    "text",
                    &[
                        ("class", &"y-tick"),
                        ("x", &Px(panel.left - 8.0)),
                        ("y", &Px(at + font * 0.35)),
                        ("text-anchor", &"end"),
                    ],
                    &label,
                );
            }
        }
        self.svg.element("path", &[("class", &"grid"), ("d", &grid)]);
    }

    fn x_axis(&mut self, panel: &Panel, across: &Across<'_>) {
        let font = self.format.font_size();
        let bottom = panel.top + panel.height;
        let room = (panel.width / (font * 4.8)) as usize;
        let found = across.ticks(room);
        let labelled = found.iter().filter(|(_, tick)| tick.label.is_some()).count().max(1);
        let widest = panel.width / labelled as f64 - 4.0;
        let mut axis = Path::default();
        axis.line([(panel.left, bottom), (panel.left + panel.width, bottom)]);
        for (x, tick) in found {
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            axis.line([(x, bottom), (x, bottom + length)]);
            if let (Some(label), true) = (tick.label, panel.is_lowest) {
                self.svg.text(
                    "text",
                    &[
                        ("class", &"x-tick"),
                        ("x", &Px(x)),
                        ("y", &Px(bottom + TICK_LABELS)),
                        ("text-anchor", &"middle"),
                    ],
                    &shortened(&label, font, widest),
                );
            }
        }
        self.svg.element("path", &[("class", &"axis"), ("d", &axis)]);
        if panel.is_lowest {
            self.svg.text(
                "text",
                &[
                    ("class", &"axis-title"),
                    ("x", &Px(panel.left + panel.width)),
                    ("y", &Px(bottom + AXIS_TITLE)),
                    ("text-anchor", &"end"),
                ],
                &self.figure.x.title,
            );
        }
    }

    fn marks(&mut self, panel: &Panel, across: &Across<'_>) {
        for mark in &self.figure.marks {
            let Some(x) = across.mark(mark.at) else { continue };
            let ends = mark.interval.and_then(|interval| {
                Some((across.mark_end(interval.low)?, across.mark_end(interval.high)?))
            });
            if let Some((from, to)) = ends {
                self.svg.element(
                    "rect",
                    &[
                        ("class", &"mark-band"),
                        ("x", &Px(from)),
                        ("y", &Px(panel.top)),
                        ("width", &Px((to - from).max(1.0))),
                        ("height", &Px(panel.height)),
                    ],
                );
            }
            let class = format!("mark {}", origin_class(mark.origin));
            let line = format!("M{} {}v{}", Px(x), Px(panel.top), Px(panel.height));
            self.svg.element("path", &[("class", &class), ("d", &line)]);
        }
    }

    fn series(
        &mut self,
        series: &Series,
        index: usize,
        panel: &Panel,
        across: &Across<'_>,
        y: &Scale,
    ) {
        let style = if panel.subject.is_some() { 0 } else { index };
        let of_series = class(style);
        self.svg.open("g", &[("class", &format!("series {of_series}")), ("data-series", &index)]);
        self.svg.element("path", &[("class", &"band"), ("d", &band(series, across, y))]);
        self.svg.element("path", &[("class", &"dots"), ("d", &dots(series, across, y))]);
        let mut line = Path::default();
        line.line(series.points.iter().filter_map(|point| place_of(point, across, y)));
        self.svg.element("path", &[("class", &"line"), ("d", &line)]);
        let radius = if panel.subject.is_some() { 2.5 } else { 3.8 };
        let levels = levels(self.figure);
        for point in &series.points {
            let Some((x, at)) = place_of(point, across, y) else { continue };
            let row = levels.iter().position(|level| **level == point.x).unwrap_or_default();
            let class = if point.doubtful { "m doubtful" } else { "m" };
            self.svg.element(
                "path",
                &[("class", &class), ("data-i", &row), ("d", &outline(style, x, at, radius))],
            );
        }
        self.svg.close("g");
    }

    /// The names of the series beside their ends; empty where a legend has to do.
    fn direct_labels(&self) -> Vec<String> {
        if self.format == Format::Narrow || self.figure.series.len() < 2 {
            return Vec::new();
        }
        let font = self.format.font_size();
        let labels = self.figure.series.iter();
        labels.map(|series| shortened(&series.label, font, DIRECT_LABEL)).collect()
    }

    fn draw_direct_labels(
        &mut self,
        labels: &[String],
        panel: &Panel,
        across: &Across<'_>,
        y: Scale,
    ) {
        let font = self.format.font_size();
        let ends: Vec<(usize, (f64, f64))> = self
            .figure
            .series
            .iter()
            .enumerate()
            .take(labels.len())
            .filter_map(|(index, series)| {
                let places = series.points.iter().filter_map(|point| place_of(point, across, &y));
                Some((index, places.last()?))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let placed = spread(&wanted, font + 3.0, panel.top, panel.top + panel.height);
        for ((index, (x, at)), label_y) in ends.into_iter().zip(placed) {
            let edge = panel.left + panel.width;
            let mut leader = Path::default();
            leader.line([(x + 6.0, at), (edge + 2.0, label_y), (edge + 8.0, label_y)]);
            let class = format!("series {}", class(index));
            self.svg.open("g", &[("class", &class), ("data-series", &index)]);
            self.svg.element("path", &[("class", &"leader"), ("d", &leader)]);
            self.svg.text(
                "text",
                &[
                    ("class", &"direct"),
                    ("x", &Px(edge + 12.0)),
                    ("y", &Px(label_y + font * 0.35)),
                ],
                &labels[index],
            );
            self.svg.close("g");
        }
    }

    /// The marks that have a place on the axis: index, position, and where the label goes.
    fn place_marks(&self, across: &Across<'_>, left: f64) -> Vec<(usize, f64, Placed)> {
        let font = self.format.font_size();
        let mut found: Vec<(usize, f64)> = (self.figure.marks.iter().enumerate())
            .filter_map(|(index, mark)| Some((index, across.mark(mark.at)?)))
            .collect();
        found.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let width = |index: usize| text_width(&self.figure.marks[index].label, font) + 4.0;
        let places: Vec<_> = found.iter().map(|&(index, x)| (x, width(index))).collect();
        let placed = rows(&places, left, self.format.width());
        found.into_iter().zip(placed).map(|((index, x), placed)| (index, x, placed)).collect()
    }

    fn y_label_width(&self) -> f64 {
        let height = match self.figure.series.len() {
            0..=STYLES => self.format.plot_height(),
            _ => self.format.panels().1,
        };
        let scale = self.y.between(self.kind, height, 0.0);
        ticks(&scale, self.figure.y.unit, self.y_room(height))
            .into_iter()
            .filter_map(|tick| tick.label)
            .map(|label| text_width(&label, self.format.font_size()))
            .fold(0.0, f64::max)
    }

    fn y_room(&self, height: f64) -> usize {
        (height / (self.format.font_size() * 3.0)) as usize
    }
}

fn origin_class(origin: MarkOrigin) -> &'static str {
    match origin {
        MarkOrigin::Found => "found",
        MarkOrigin::Documented => "documented",
    }
}

/// Where the centre of `point` stands.
fn place_of(point: &FigurePoint, across: &Across<'_>, y: &Scale) -> Option<(f64, f64)> {
    Some((across.position(&point.x)?, y.position(drawn_centre(&point.estimate)?)?))
}

/// The intervals of neighbouring points, joined; broken where a point has none.
fn band(series: &Series, across: &Across<'_>, y: &Scale) -> Path {
    let ends = |point: &FigurePoint| {
        let interval = point.estimate.interval?;
        let (x, _) = place_of(point, across, y)?;
        // On a logarithmic scale an interval that reaches zero reaches the lower edge.
        let low = y.position(interval.low).unwrap_or(y.from);
        Some((x, low, y.position(interval.high)?))
    };
    let mut path = Path::default();
    let known: Vec<_> = series.points.iter().map(ends).collect();
    for run in known.split(Option::is_none) {
        let run: Vec<_> = run.iter().flatten().collect();
        let upper = run.iter().map(|(x, _, high)| (*x, *high));
        let lower = run.iter().rev().map(|(x, low, _)| (*x, *low));
        if let [(x, low, high)] = run.as_slice() {
            path.area([(x - 2.0, *low), (x + 2.0, *low), (x + 2.0, *high), (x - 2.0, *high)]);
        } else if !run.is_empty() {
            path.area(upper.chain(lower));
        }
    }
    path
}

/// A dot for each process.
fn dots(series: &Series, across: &Across<'_>, y: &Scale) -> Path {
    let mut path = Path::default();
    for point in &series.points {
        let Some(x) = across.position(&point.x) else { continue };
        for value in &point.estimate.by_process {
            if let Some(at) = y.position(*value) {
                path.dot(x, at);
            }
        }
    }
    path
}
