//! A matrix of coloured cells, with the value in each where there is room.

use super::format::Room;
use super::labels::shortened;
use super::svg::{Attributes, Px, Svg, text_width};
use crate::chart::{Matrix, show_level, ticks};
use instrument::figure::{Figure, FigureScale, Series};
use std::fmt::Display;

/// The colours of the page and of a chart of its own: `h0` to `h6`.
pub(in crate::page) const STEPS: usize = 7;
/// The largest cell: few cells need not fill the page.
const LARGEST: (f64, f64) = (96.0, 44.0);
/// Narrower cells have a thinner line between them.
const DENSE: f64 = 20.0;
/// Size of the bar of colours.
const LEGEND_WIDTH: f64 = 300.0;
const LEGEND_HEIGHT: f64 = 12.0;

/// Positions of the cells.
struct Layout {
    left: f64,
    top: f64,
    cell: (f64, f64),
}

/// Draws `figure` with its colours scaled by `kind`; returns the height of the chart.
pub(super) fn draw(svg: &mut Svg, figure: &Figure, kind: FigureScale, room: Room) -> f64 {
    /// Width of bold text over regular text.
    const BOLD: f64 = 1.1;
    let font = room.font;
    let matrix = Matrix::new(figure, kind);
    let rows = matrix.rows.iter();
    let names: Vec<String> = rows.map(|level| show_level(&figure.x, level)).collect();
    let widest = |texts: &mut dyn Iterator<Item = &str>| {
        texts.map(|text| text_width(text, font)).fold(0.0, f64::max)
    };
    let title = text_width(&figure.x.title, font) * BOLD;
    let left = widest(&mut names.iter().map(String::as_str))
        .max(title)
        .min(room.width * 0.3)
        + 12.0;
    let width = (room.width - left - 2.0) / matrix.columns.len().max(1) as f64;
    let width = width.min(LARGEST.0);
    let top = font * 3.0 + LEGEND_HEIGHT + 34.0;
    let height = (room.height - top - 4.0) / matrix.rows.len().max(1) as f64;
    let layout = Layout {
        left,
        top,
        cell: (width, width.min(LARGEST.1).min(height)),
    };
    legend(svg, figure, &matrix, kind, (left, room));
    row_names(svg, figure, &names, &layout, font);
    column_names(svg, &matrix, &layout, room);
    let texts: Vec<String> = matrix.cells().map(|cell| cell.text).collect();
    let has_text =
        widest(&mut texts.iter().map(String::as_str)) + 6.0 <= width && font + 2.0 <= layout.cell.1;
    for (index, series) in matrix.columns.iter().enumerate() {
        let text_size = has_text.then_some(font);
        column(svg, &matrix, (index, series), &layout, text_size);
    }
    layout.top + layout.cell.1 * matrix.rows.len() as f64 + 4.0
}

/// The title, the colours, and the values at which they stand.
fn legend(
    svg: &mut Svg,
    figure: &Figure,
    matrix: &Matrix<'_>,
    kind: FigureScale,
    (left, room): (f64, Room),
) {
    let font = room.font;
    let title: Attributes<'_> = &[("class", &"axis-title"), ("x", &Px(left)), ("y", &Px(font))];
    svg.text("text", title, &matrix.titled(&figure.y.title));
    let width = LEGEND_WIDTH.min(room.width - left - 2.0);
    let step = width / STEPS as f64;
    let top = font + 8.0;
    for index in 0..STEPS {
        svg.element(
            "rect",
            &[
                ("class", &format!("h{index}")),
                ("x", &Px(left + step * index as f64)),
                ("y", &Px(top)),
                ("width", &Px(step)),
                ("height", &Px(LEGEND_HEIGHT)),
            ],
        );
    }
    let scale = matrix.domain.between(kind, left, left + width);
    for tick in ticks(&scale, figure.y.unit, (width / (font * 5.0)) as usize) {
        if let (Some(x), Some(label)) = (scale.position(tick.value), tick.label) {
            let half = text_width(&label, font) / 2.0;
            svg.text(
                "text",
                &[
                    ("class", &"x-tick"),
                    ("x", &Px(x.max(left + half).min(left + width - half))),
                    ("y", &Px(top + LEGEND_HEIGHT + font + 2.0)),
                ],
                &label,
            );
        }
    }
}

/// Every name if rows are high enough, else every second and so on.
fn row_names(svg: &mut Svg, figure: &Figure, names: &[String], layout: &Layout, font: f64) {
    let Layout { left, top, cell } = layout;
    let x = Px(left - 8.0);
    let end: (&str, &dyn Display) = ("text-anchor", &"end");
    let title = shortened(&figure.x.title, font, left - 10.0);
    let at: Attributes<'_> = &[
        ("class", &"axis-title"),
        ("x", &x),
        ("y", &Px(top - 8.0)),
        end,
    ];
    svg.text("text", at, &title);
    let every = ((font + 2.0) / cell.1).ceil().max(1.0) as usize;
    for (index, name) in names.iter().enumerate().step_by(every) {
        let y = Px(top + cell.1 * (index as f64 + 0.5) + font * 0.35);
        let at: Attributes<'_> = &[("class", &"name"), ("x", &x), ("y", &y), end];
        svg.text("text", at, &shortened(name, font, left - 10.0));
    }
}

fn column_names(svg: &mut Svg, matrix: &Matrix<'_>, layout: &Layout, room: Room) {
    let font = room.font;
    let Layout { left, top, cell } = layout;
    let every = (font * 2.2 / cell.0).ceil().max(1.0) as usize;
    for (index, column) in matrix.columns.iter().enumerate().step_by(every) {
        let name = shortened(&column.label, font, cell.0 * every as f64 - 4.0);
        let middle = left + cell.0 * (index as f64 + 0.5);
        let last = room.width - text_width(&name, font) / 2.0;
        svg.text(
            "text",
            &[
                ("class", &"name"),
                ("x", &Px(middle.min(last))),
                ("y", &Px(top - 8.0)),
                ("text-anchor", &"middle"),
            ],
            &name,
        );
    }
}

/// Draws the cells of a column as a panel of rows, in which the page's script finds them.
fn column<'f>(
    svg: &mut Svg,
    matrix: &Matrix<'f>,
    (index, series): (usize, &'f Series),
    layout: &Layout,
    text_size: Option<f64>,
) {
    let Layout { left, top, cell } = layout;
    let (width, height) = *cell;
    let x = left + width * index as f64;
    let y = |row: usize| top + height * row as f64;
    let rows = matrix.rows.len();
    let place = [x, *top, width, y(rows) - top];
    let middles = (0..rows).map(|row| Some(y(row) + height / 2.0));
    let dense = if width < DENSE { " dense" } else { "" };
    let class = format!("panel rows cells{dense}");
    svg.open_panel(&class, place, middles, Some(index));
    for (row, level) in matrix.rows.iter().enumerate() {
        let Some(cell) = matrix.cell(level, series) else {
            continue;
        };
        let step = cell.step(STEPS);
        let doubt = if cell.point.doubtful { " doubtful" } else { "" };
        svg.element(
            "rect",
            &[
                ("class", &format!("m cell h{step}{doubt}")),
                ("data-i", &row),
                ("x", &Px(x)),
                ("y", &Px(y(row))),
                ("width", &Px(width)),
                ("height", &Px(height)),
            ],
        );
        if let Some(font) = text_size {
            svg.text(
                "text",
                &[
                    ("class", &format!("on{step}")),
                    ("x", &Px(x + width / 2.0)),
                    ("y", &Px(y(row) + height / 2.0 + font * 0.35)),
                    ("text-anchor", &"middle"),
                ],
                &cell.text,
            );
        }
    }
    svg.close("g");
}

#[cfg(test)]
mod tests {
    use super::super::format::Format;
    use super::super::render::{render, undrawn};
    use super::STEPS;
    use crate::made_up::{estimate, matrix};
    use instrument::figure::Figure;
    use instrument::figure::FigureScale::Logarithmic;

    /// Times between `size` processors, the first pair doubtful.
    fn times(size: usize) -> Figure {
        let mut figure = matrix(size, |row, column| {
            (row != column).then(|| estimate(20.0 + (row + column) as f64))
        });
        figure.series[0].points[0].doubtful = true;
        figure
    }

    /// The classes and the texts of the drawn elements.
    fn drawn(figure: &Figure, format: Format) -> Vec<(String, String)> {
        let chart = render(figure, Logarithmic, format);
        let chart = roxmltree::Document::parse(&chart).expect("well-formed");
        let told = |node: roxmltree::Node<'_, '_>| {
            let class = node.attribute("class")?.to_owned();
            Some((class, node.text().unwrap_or_default().to_owned()))
        };
        chart.descendants().filter_map(told).collect()
    }

    fn count(drawn: &[(String, String)], is_one: impl Fn(&str) -> bool) -> usize {
        drawn.iter().filter(|(class, _)| is_one(class)).count()
    }

    #[test]
    fn a_pair_has_a_coloured_cell_with_its_value_and_the_diagonal_none() {
        let figure = times(2);
        for format in Format::ALL {
            let drawn = drawn(&figure, format);
            assert_eq!(count(&drawn, |class| class.starts_with("m cell h")), 2);
            assert_eq!(count(&drawn, |class| class.ends_with(" doubtful")), 1);
            let values = drawn.iter().filter(|(class, _)| class.starts_with("on"));
            let values: Vec<&str> = values.map(|(_, text)| text.as_str()).collect();
            assert_eq!(values, ["21.0", "21.0"]);
            assert_eq!(
                count(&drawn, |class| class.len() == 2 && class.starts_with('h')),
                STEPS
            );
        }
        assert_eq!(undrawn(&figure), 0);
    }

    #[test]
    fn cells_too_small_for_a_value_have_none_and_not_every_row_is_named() {
        for format in Format::ALL {
            let drawn = drawn(&times(64), format);
            assert_eq!(
                count(&drawn, |class| class.starts_with("m cell h")),
                64 * 63
            );
            assert_eq!(count(&drawn, |class| class.starts_with("on")), 0);
            let names = count(&drawn, |class| class == "name");
            assert!((2..=64 + 32).contains(&names), "{names}");
            assert_eq!(count(&drawn, |class| class == "panel rows cells dense"), 64);
        }
    }
}
