//! Ratios on a logarithmic axis centred on 1, with the margin shaded: small multiples with shared
//! axes along a numeric axis, else one row per ratio.

use super::axes::{YAxis, band};
use super::format::Format;
use super::labels::shortened;
use super::svg::{Path, Px, Svg, text_width};
use crate::chart::{Domain, Scale, ticks};
use crate::comparison::Row;
use instrument::figure::FigureScale::Logarithmic;
use instrument::quantity::Unit;
use std::ops::Range;

/// Ratios along a numeric axis.
pub(crate) struct Curve<'a> {
    pub(crate) title: String,
    /// The points, in ascending order of x.
    pub(crate) points: Vec<(u64, &'a Row<'a>)>,
}

/// The x axis of the curves.
pub(crate) struct XAxis {
    pub(crate) title: String,
    pub(crate) unit: Option<Unit>,
}

const RADIUS: f64 = 3.2;
/// Height of a row with its padding.
const ROW: f64 = 22.0;

/// Draws curves as small multiples.
pub(crate) fn curves(curves: &[Curve<'_>], x: &XAxis, label: &str, format: Format) -> String {
    const GAP: f64 = 14.0;
    /// Width of bold title text over regular text.
    const BOLD: f64 = 1.1;
    let font = format.font_size();
    let (most_columns, height) = format.panels();
    let rows = || curves.iter().flat_map(|curve| &curve.points);
    let domain = reach(rows().map(|(_, row)| *row));
    let y = domain.between(Logarithmic, height, 0.0);
    let left = y_axis(&y, format).label_width() + 12.0;
    let width_of = |columns: usize| (format.width() - left) / columns as f64 - GAP;
    // Shortened titles might become indistinguishable.
    let widest = curves
        .iter()
        .map(|curve| text_width(&curve.title, font) * BOLD);
    let widest = widest.fold(0.0, f64::max);
    let columns = (1..=most_columns)
        .rev()
        .find(|columns| widest <= width_of(*columns));
    let columns = columns.unwrap_or(1);
    let width = width_of(columns);
    let step = height + font + 36.0;
    let numbers = rows().map(|(x, _)| *x as f64);
    let along = Domain::around(numbers, Logarithmic);
    let mut svg = Svg::default();
    for (index, curve) in curves.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let from = left + (width + GAP) * column as f64;
        let top = step * row as f64 + font + 6.0;
        let x_scale = along.between(Logarithmic, from + 4.0, from + width - 4.0);
        let y_scale = domain.between(Logarithmic, top + height, top);
        svg.text(
            "text",
            &[
                ("class", &"panel-title"),
                ("x", &Px(from)),
                ("y", &Px(top - 6.0)),
            ],
            &shortened(&curve.title, font, width),
        );
        let margin = curve
            .points
            .iter()
            .map(|(_, row)| row.margin)
            .fold(0.0, f64::max);
        let band = [1.0 / (1.0 + margin), 1.0 + margin].map(|end| y_scale.position(end));
        if let [Some(low), Some(high)] = band {
            rectangle(&mut svg, from, high, width, low - high);
        }
        y_axis(&y_scale, format).draw(&mut svg, (from, width), column == 0);
        unity(&mut svg, &y_scale, from, width);
        x_ticks(
            &mut svg,
            &x_scale,
            x.unit,
            top + height,
            from..from + width,
            format,
        );
        curve.draw(&mut svg, &x_scale, &y_scale);
    }
    let bottom = step * curves.len().div_ceil(columns) as f64 + font + 12.0;
    svg.text(
        "text",
        &[
            ("class", &"axis-title"),
            ("x", &Px(format.width())),
            ("y", &Px(bottom)),
            ("text-anchor", &"end"),
        ],
        &x.title,
    );
    framed(&svg.finish(), bottom + 8.0, label, format)
}

/// Draws one row for each ratio.
pub(crate) fn rows(rows: &[(String, &Row<'_>)], label: &str, format: Format) -> String {
    let font = format.font_size();
    let widest = rows
        .iter()
        .map(|(name, _)| text_width(name, font))
        .fold(0.0, f64::max);
    let left = widest.min(format.width() * 0.42) + 12.0;
    let bottom = ROW * rows.len() as f64 + 6.0;
    let domain = reach(rows.iter().map(|(_, row)| *row));
    let x_scale = domain.between(Logarithmic, left, format.width() - 16.0);
    let mut svg = Svg::default();
    for (index, (name, row)) in rows.iter().enumerate() {
        let middle = ROW * (index as f64 + 0.5) + 3.0;
        svg.text(
            "text",
            &[
                ("class", &"name"),
                ("x", &Px(left - 10.0)),
                ("y", &Px(middle + font * 0.35)),
                ("text-anchor", &"end"),
            ],
            &shortened(name, font, left - 12.0),
        );
        let ends = [1.0 / (1.0 + row.margin), 1.0 + row.margin].map(|end| x_scale.position(end));
        if let [Some(low), Some(high)] = ends {
            rectangle(&mut svg, low, middle - ROW / 2.0, high - low, ROW);
        }
        let ends = row.interval.and_then(|interval| {
            Some((
                x_scale.position(interval.low)?,
                x_scale.position(interval.high)?,
            ))
        });
        if let Some((low, high)) = ends {
            let line = format!("M{} {}H{}", Px(low), Px(middle), Px(high));
            svg.element(
                "path",
                &[
                    ("class", &format!("reach {}", row.verdict.word().class)),
                    ("d", &line),
                ],
            );
        }
        if let Some(at) = x_scale.position(row.ratio) {
            dot(&mut svg, at, middle, row);
        }
    }
    if let Some(one) = x_scale.position(1.0) {
        let line = format!("M{} 0V{}", Px(one), Px(bottom));
        svg.element("path", &[("class", &"unity"), ("d", &line)]);
    }
    x_ticks(
        &mut svg,
        &x_scale,
        Some(Unit::Ratio),
        bottom,
        left..format.width(),
        format,
    );
    framed(&svg.finish(), bottom + font + 14.0, label, format)
}

impl Curve<'_> {
    fn draw(&self, svg: &mut Svg, x: &Scale, y: &Scale) {
        let at = |(level, row): &(u64, &Row<'_>)| {
            Some((x.position(*level as f64)?, y.position(row.ratio)?))
        };
        let ends = |(level, row): &(u64, &Row<'_>)| {
            let interval = row.interval?;
            let x = x.position(*level as f64)?;
            Some((x, y.position(interval.low)?, y.position(interval.high)?))
        };
        let band = band(&self.points.iter().map(ends).collect::<Vec<_>>());
        svg.element("path", &[("class", &"ratio-band"), ("d", &band)]);
        let mut line = Path::default();
        line.line(self.points.iter().filter_map(at));
        svg.element("path", &[("class", &"ratio-line"), ("d", &line)]);
        for point in &self.points {
            if let Some((x, y)) = at(point) {
                dot(svg, x, y, point.1);
            }
        }
    }
}

fn framed(body: &str, height: f64, label: &str, format: Format) -> String {
    let mut svg = Svg::default();
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &format!("chart ratio {}", format.class())),
            (
                "viewBox",
                &format!("0 0 {} {}", Px(format.width()), Px(height)),
            ),
            ("role", &"img"),
            ("aria-label", &label),
            ("font-size", &format.font_size()),
        ],
    );
    format!("{}{body}</svg>", svg.finish())
}

fn rectangle(svg: &mut Svg, x: f64, y: f64, width: f64, height: f64) {
    svg.element(
        "rect",
        &[
            ("class", &"margin"),
            ("x", &Px(x)),
            ("y", &Px(y)),
            ("width", &Px(width.max(0.0))),
            ("height", &Px(height.max(0.0))),
        ],
    );
}

fn dot(svg: &mut Svg, x: f64, y: f64, row: &Row<'_>) {
    svg.element(
        "circle",
        &[
            (
                "class",
                &format!("verdict-dot {}", row.verdict.word().class),
            ),
            ("cx", &Px(x)),
            ("cy", &Px(y)),
            ("r", &RADIUS),
        ],
    );
}

/// Symmetric range around 1 that includes all ratios, and their intervals as far as they leave the
/// ratios distinguishable.
fn reach<'a>(rows: impl Iterator<Item = &'a Row<'a>> + Clone) -> Domain {
    const LEAST: f64 = 0.1;
    let size = |value: f64| value.ln().abs();
    let centres = rows
        .clone()
        .map(|row| size(row.ratio))
        .filter(|size| size.is_finite());
    let furthest = centres.fold(LEAST, f64::max);
    let ends = rows.filter_map(|row| row.interval);
    let ends = ends.flat_map(|interval| [size(interval.low), size(interval.high)]);
    let furthest_end = ends
        .filter(|end| *end <= 2.0 * furthest)
        .fold(furthest, f64::max);
    let high = (furthest_end * 1.05).min(200.0).exp();
    Domain {
        low: 1.0 / high,
        high,
    }
}

fn y_axis(scale: &Scale, format: Format) -> YAxis<'_> {
    YAxis {
        scale,
        unit: Some(Unit::Ratio),
        room: ((scale.from - scale.to) / (format.font_size() * 2.0)) as usize,
        format,
    }
}

fn unity(svg: &mut Svg, y: &Scale, left: f64, width: f64) {
    if let Some(one) = y.position(1.0) {
        let line = format!("M{} {}H{}", Px(left), Px(one), Px(left + width));
        svg.element("path", &[("class", &"unity"), ("d", &line)]);
    }
}

/// Ticks whose labels fit within their panel, because the next panel begins right beside it.
fn x_ticks(
    svg: &mut Svg,
    x: &Scale,
    unit: Option<Unit>,
    at: f64,
    within: Range<f64>,
    format: Format,
) {
    let font = format.font_size();
    let most = (within.end - within.start) / (font * 4.8);
    for tick in ticks(x, unit, most as usize) {
        if let (Some(x), Some(label)) = (x.position(tick.value), tick.label) {
            let half = text_width(&label, font) / 2.0;
            let x = x.min(within.end - half).max(within.start + half);
            svg.text(
                "text",
                &[
                    ("class", &"x-tick"),
                    ("x", &Px(x)),
                    ("y", &Px(at + font + 3.0)),
                ],
                &label,
            );
        }
    }
}
