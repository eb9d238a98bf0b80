//! A matrix of coloured cells, with the value in each where there is room.

use super::axes::{Room, widest};
use super::labels::shortened;
use super::svg::{Anchor, BOLD, FONT, LINE, Svg, px, text_width};
use crate::chart::{Matrix, show_level, ticks};
use instrument::figure::{Figure, FigureScale, Series};

/// The colours of the page and of a chart of its own: `h0` to `h6`.
pub(in crate::page) const STEPS: usize = 7;
/// The largest cell: few cells need not fill the page.
const LARGEST: (f64, f64) = (96.0, 44.0);
/// Narrower cells have a thinner line between them.
const DENSE: f64 = 20.0;
/// Length of the names of columns that are written upwards.
const LONGEST: f64 = 120.0;
/// Size of the bar of colours.
const LEGEND_WIDTH: f64 = 300.0;
const LEGEND_HEIGHT: f64 = 12.0;

/// Positions of the cells.
struct Layout {
    left: f64,
    top: f64,
    cell: (f64, f64),
    /// True if the names of columns are written upwards, for want of width.
    is_upright: bool,
    /// True if each cell has room for its value.
    has_text: bool,
}

/// Draws `figure` with its colours scaled by `kind`; returns the height of the chart.
pub(super) fn draw(svg: &mut Svg, figure: &Figure, kind: FigureScale, room: Room) -> f64 {
    let matrix = Matrix::new(figure, kind);
    let rows = matrix.rows.iter();
    let names: Vec<String> = rows.map(|level| show_level(&figure.x, level)).collect();
    let title = text_width(&figure.x.title) * BOLD;
    let left = widest(names.iter().map(String::as_str)).max(title);
    let left = left.min(room.width * 0.3) + 12.0;
    let width = (room.width - left - 2.0) / matrix.columns.len().max(1) as f64;
    let width = width.min(LARGEST.0);
    let columns = widest(matrix.columns.iter().map(|column| column.label.as_str()));
    let is_upright = columns > width * every(width) as f64 - 4.0;
    let names_height = if is_upright {
        columns.min(LONGEST)
    } else {
        FONT
    };
    let top = FONT * 2.0 + LEGEND_HEIGHT + 34.0 + names_height;
    let height = (room.height - top - 4.0) / matrix.rows.len().max(1) as f64;
    let height = width.min(LARGEST.1).min(height);
    let texts: Vec<String> = matrix.cells().map(|cell| cell.text).collect();
    let layout = Layout {
        left,
        top,
        cell: (width, height),
        is_upright,
        has_text: widest(texts.iter().map(String::as_str)) + 6.0 <= width && FONT + 2.0 <= height,
    };
    legend(svg, figure, &matrix, (left, room.width));
    row_names(svg, figure, &names, &layout);
    column_names(svg, &matrix, &layout);
    for (index, series) in matrix.columns.iter().enumerate() {
        column(svg, &matrix, (index, series), &layout);
    }
    layout.top + layout.cell.1 * matrix.rows.len() as f64 + 4.0
}

/// The title, the colours, and their values.
fn legend(svg: &mut Svg, figure: &Figure, matrix: &Matrix<'_>, (left, right): (f64, f64)) {
    let title = matrix.titled(&figure.y.title);
    svg.label("axis-title", &title, (left, FONT * 0.65, Anchor::Start));
    let width = LEGEND_WIDTH.min(right - left - 2.0);
    let step = width / STEPS as f64;
    let top = FONT + 8.0;
    for index in 0..STEPS {
        let area = [left + step * index as f64, top, step, LEGEND_HEIGHT];
        svg.rectangle(&format!("h{index}"), area);
    }
    for tick in ticks(
        &matrix.scale,
        figure.y.unit,
        (width / (FONT * 5.0)) as usize,
    ) {
        if let (Some(place), Some(label)) = (matrix.scale.position(tick.value), tick.label) {
            let half = text_width(&label) / 2.0;
            let x = (left + width * place)
                .max(left + half)
                .min(left + width - half);
            let middle = top + LEGEND_HEIGHT + FONT * 0.65 + 2.0;
            svg.label("x-tick", &label, (x, middle, Anchor::Middle));
        }
    }
}

/// Every name if rows are high enough, else every second and so on.
fn row_names(svg: &mut Svg, figure: &Figure, names: &[String], layout: &Layout) {
    let Layout {
        left, top, cell, ..
    } = layout;
    let mut write = |class: &str, name: &str, middle: f64| {
        let at = (left - 8.0, middle, Anchor::End);
        svg.label(class, &shortened(name, left - 10.0), at);
    };
    write("axis-title", &figure.x.title, top - 8.0 - FONT * 0.35);
    let every = ((FONT + 2.0) / cell.1).ceil().max(1.0) as usize;
    for (index, name) in names.iter().enumerate().step_by(every) {
        write("name", name, top + cell.1 * (index as f64 + 0.5));
    }
}

fn column_names(svg: &mut Svg, matrix: &Matrix<'_>, layout: &Layout) {
    let Layout {
        left, top, cell, ..
    } = layout;
    let every = if layout.is_upright {
        (LINE / cell.0).ceil().max(1.0) as usize
    } else {
        every(cell.0)
    };
    for (index, column) in matrix.columns.iter().enumerate().step_by(every) {
        let middle = left + cell.0 * (index as f64 + 0.5);
        let bottom = top - 8.0;
        if layout.is_upright {
            let at = format!(
                "translate({} {}) rotate(-90)",
                px(middle + FONT * 0.35),
                px(bottom)
            );
            let name = shortened(&column.label, LONGEST);
            svg.text("text", &[("class", &"name"), ("transform", &at)], &name);
        } else {
            let at = (middle, bottom - FONT * 0.35, Anchor::Middle);
            svg.label("name", &column.label, at);
        }
    }
}

/// Every second column has a name, every third and so on, if columns of this width are too narrow for names side by
/// side.
fn every(width: f64) -> usize {
    (FONT * 2.2 / width).ceil().max(1.0) as usize
}

/// Draws the cells of a column as a panel of rows, in which the page's script finds them.
fn column<'f>(
    svg: &mut Svg,
    matrix: &Matrix<'f>,
    (index, series): (usize, &'f Series),
    layout: &Layout,
) {
    let (width, height) = layout.cell;
    let x = layout.left + width * index as f64;
    let y = |row: usize| layout.top + height * row as f64;
    let rows = matrix.rows.len();
    let place = [x, layout.top, width, y(rows) - layout.top];
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
                ("x", &px(x)),
                ("y", &px(y(row))),
                ("width", &px(width)),
                ("height", &px(height)),
            ],
        );
        if layout.has_text {
            let at = (x + width / 2.0, y(row) + height / 2.0, Anchor::Middle);
            svg.label(&format!("on{step}"), &cell.text, at);
        }
    }
    svg.close("g");
}

#[cfg(test)]
mod tests {
    use super::super::axes::Room;
    use super::super::render::{Names, render, undrawn};
    use super::super::svg::Svg;
    use super::{STEPS, draw};
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

    #[test]
    fn a_pair_has_a_coloured_cell_with_its_value_and_the_diagonal_none() {
        let figure = times(2);
        let drawn = render(&figure, Logarithmic, Names::InChart);
        let count = |part: &str| drawn.matches(part).count();
        assert_eq!(count("class=\"m cell h"), 2);
        assert_eq!(count(" doubtful\""), 1);
        assert_eq!((count("class=\"on"), count(">21.0</text>")), (2, 2));
        assert_eq!(count("class=\"h"), STEPS);
        assert_eq!(undrawn(&figure), 0);
    }

    #[test]
    fn long_names_of_columns_are_written_upwards_and_whole() {
        let mut figure = times(12);
        for series in &mut figure.series {
            series.label = format!("compute-node-{}", series.label);
        }
        let drawn = render(&figure, Logarithmic, Names::InChart);
        assert_eq!(drawn.matches("rotate(-90)").count(), 12);
        assert!(!drawn.contains('…'), "{drawn}");
        assert!(drawn.contains(">compute-node-11</text>"), "{drawn}");
    }

    #[test]
    fn cells_too_small_for_a_value_have_none_and_not_every_row_is_named() {
        let drawn = render(&times(64), Logarithmic, Names::InChart);
        let count = |part: &str| drawn.matches(part).count();
        assert_eq!(count("class=\"m cell h"), 64 * 63);
        assert_eq!(count("class=\"on"), 0);
        let names = count("class=\"name\"");
        assert!((2..=64 + 32).contains(&names), "{names}");
        assert_eq!(count("class=\"panel rows cells dense\""), 64);
    }

    #[test]
    fn eight_processors_fit_a_picture_with_their_names_and_values() {
        let room = Room {
            width: 340.0,
            height: 250.0,
        };
        let mut figure = times(8);
        figure.x.title.clear();
        let mut svg = Svg::new(room.width);
        assert!(draw(&mut svg, &figure, Logarithmic, room) <= room.height);
        let drawn = svg.finish();
        assert_eq!(drawn.matches("class=\"m cell").count(), 8 * 7);
        assert_eq!(drawn.matches("class=\"on").count(), 8 * 7);
        assert_eq!(drawn.matches(">7</text>").count(), 2, "{drawn}");
    }
}
