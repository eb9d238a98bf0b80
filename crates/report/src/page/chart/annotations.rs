//! Labels around a plot: names of marks above it, names of series at the ends of their curves.

use super::across::Across;
use super::format::Format;
use super::labels::{Placed, rows, shortened, spread};
use super::marker::class;
use super::panel::{Panel, mark_class};
use super::svg::{Path, Px, Svg, text_width};
use instrument::figure::{Figure, Mark};

/// Maximum width of a series name at the end of its curve.
const WIDEST_NAME: f64 = 150.0;
/// Gap between the end of a curve's plot and the name.
const NAME_GAP: f64 = 12.0;

/// The names of marks, in rows above the plot.
pub(super) struct MarkLabels<'a> {
    labels: Vec<MarkLabel<'a>>,
    font: f64,
}

struct MarkLabel<'a> {
    mark: &'a Mark,
    name: &'a str,
    x: f64,
    place: Placed,
}

impl<'a> MarkLabels<'a> {
    /// Places the names of the marks of `figure` that lie on an x axis of `width` from `left`.
    pub(super) fn new(figure: &'a Figure, format: Format, left: f64, width: f64) -> Self {
        let font = format.font_size();
        let across = Across::new(figure, left, left + width);
        let mut found: Vec<(&Mark, f64)> = (figure.marks.iter())
            .filter_map(|mark| Some((mark, across.mark(mark.at)?)))
            .collect();
        found.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let name = |mark: &'a Mark| match format {
            Format::Wide => mark.label.as_str(),
            // The list below the chart has the full names.
            Format::Narrow => mark.label.split(',').next().unwrap_or_default(),
        };
        let wanted = found
            .iter()
            .map(|(mark, x)| (*x, text_width(name(mark), font) + 4.0));
        let places = rows(&wanted.collect::<Vec<_>>(), left, format.width());
        let labels = found.into_iter().zip(places);
        Self {
            labels: labels
                .map(|((mark, x), place)| MarkLabel {
                    mark,
                    name: name(mark),
                    x,
                    place,
                })
                .collect(),
            font,
        }
    }

    /// The height of all rows.
    pub(super) fn height(&self) -> f64 {
        let rows = self.labels.iter().map(|label| label.place.row + 1).max();
        self.row_height() * rows.unwrap_or(0) as f64
    }

    /// Draws them above a plot whose upper edge is at `top`.
    pub(super) fn draw(&self, svg: &mut Svg, top: f64) {
        for MarkLabel {
            mark,
            name,
            x,
            place,
        } in &self.labels
        {
            let baseline = top - 6.0 - self.row_height() * place.row as f64;
            let stem = format!("M{} {}V{}", Px(*x), Px(top), Px(baseline - self.font + 3.0));
            svg.element("path", &[("class", &mark_class(mark)), ("d", &stem)]);
            let (shift, anchor) = if place.leftwards {
                (-4.0, "end")
            } else {
                (4.0, "start")
            };
            svg.text(
                "text",
                &[
                    ("class", &"mark-label"),
                    ("x", &Px(x + shift)),
                    ("y", &Px(baseline)),
                    ("text-anchor", &anchor),
                ],
                name,
            );
        }
    }

    fn row_height(&self) -> f64 {
        self.font + 3.0
    }
}

/// Width of the series names at the ends of their curves; zero if the figure has a legend instead.
pub(super) fn direct_label_width(figure: &Figure, format: Format) -> f64 {
    let names = direct_labels(figure, format).into_iter();
    // The names are bold, and therefore wider than other text.
    let widths = names.map(|name| text_width(&name, format.font_size()) * 1.2 + NAME_GAP + 8.0);
    widths.fold(0.0, f64::max)
}

/// Writes the names of the series at the ends of their curves.
pub(super) fn draw_direct_labels(svg: &mut Svg, panel: &Panel<'_>) {
    let (figure, frame) = (panel.figure, &panel.frame);
    let font = panel.format.font_size();
    let names = direct_labels(figure, panel.format);
    let mut ends: Vec<(usize, String, (f64, f64))> = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let mut places = figure.series[index].points.iter().rev();
        if let Some(end) = places.find_map(|point| panel.place(point)) {
            ends.push((index, name, end));
        }
    }
    let wanted: Vec<f64> = ends.iter().map(|(_, _, (_, y))| *y).collect();
    let heights = spread(&wanted, font + 3.0, frame.top, frame.bottom());
    let edge = frame.left + frame.width;
    for ((index, name, (x, y)), label_y) in ends.into_iter().zip(heights) {
        let mut leader = Path::default();
        leader.line([(x + 6.0, y), (edge + 2.0, label_y), (edge + 8.0, label_y)]);
        let class = format!("series {}", class(index));
        svg.open("g", &[("class", &class), ("data-series", &index)]);
        svg.element("path", &[("class", &"leader"), ("d", &leader)]);
        svg.text(
            "text",
            &[
                ("class", &"direct"),
                ("x", &Px(edge + NAME_GAP)),
                ("y", &Px(label_y + font * 0.35)),
            ],
            &name,
        );
        svg.close("g");
    }
}

fn direct_labels(figure: &Figure, format: Format) -> Vec<String> {
    if format == Format::Narrow || figure.series.len() < 2 {
        return Vec::new();
    }
    let series = figure.series.iter();
    series
        .map(|series| shortened(&series.label, format.font_size(), WIDEST_NAME))
        .collect()
}
