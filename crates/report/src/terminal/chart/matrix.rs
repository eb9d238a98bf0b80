//! A matrix of coloured cells: with numbers where they fit, else one or two characters each.

use super::super::style::{HEAT, Role, Style};
use crate::chart::{Cell, Matrix, show_level};
use crate::show::{self, Tone};
use instrument::figure::{Figure, Series};
use instrument::quantity::Unit;

/// The shades of cells without colour, from low to high, in Unicode and in ASCII.
const SHADES: [(&str, &str); 4] = [("░", "."), ("▒", ":"), ("▓", "+"), ("█", "#")];

/// The rows of `figure` below the names of its columns, with a legend; `None` if no cell has a value.
/// Columns that do not fit side by side follow below.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    let matrix = Matrix::new(figure, figure.y.scale);
    let cells: Vec<Cell<'_>> = matrix.cells().collect();
    if cells.is_empty() {
        return None;
    }
    let rows = matrix.rows.iter();
    let names: Vec<String> = rows.map(|level| show_level(&figure.x, level)).collect();
    let length = |text: &str| text.chars().count();
    let lead = names.iter().map(|name| length(name)).max().unwrap_or(0);
    let lead = lead.max(length(&figure.x.title));
    let room = style.width.saturating_sub(lead + 2).max(10);

    let columns = matrix.columns.iter();
    let label = columns.map(|column| length(&column.label)).max();
    let number = cells
        .iter()
        .map(|cell| length(&numbered(cell, style)))
        .max();
    let numbered_width = label.max(number).unwrap_or(0) + 1;
    let has_numbers = numbered_width * matrix.columns.len() <= room;
    let width = match (has_numbers, 2 * matrix.columns.len() <= room) {
        (true, _) => numbered_width,
        (false, true) => 2,
        (false, false) => 1,
    };

    let mut text = String::new();
    for columns in matrix.columns.chunks((room / width).max(1)) {
        let titles = titles(columns, width, has_numbers);
        let title = format!("{:<lead$}  {titles}", figure.x.title);
        text += &(style.paint(Tone::Faint, title.trim_end()) + "\n");
        for (name, row) in names.iter().zip(&matrix.rows) {
            let drawn = columns.iter().map(|column| {
                let cell = matrix.cell(row, column);
                let known = column.points.iter().any(|point| point.x == **row);
                let content = match (&cell, known) {
                    (Some(cell), _) if has_numbers => numbered(cell, style),
                    (Some(cell), _) => shade(cell, style).repeat(width),
                    (None, true) => "-".into(),
                    (None, false) => String::new(),
                };
                painted(cell.as_ref(), &format!("{content:>width$}"), style)
            });
            let line = format!("{name:<lead$}  {}", drawn.collect::<String>());
            text.extend([line.trim_end(), "\n"]);
        }
    }
    text.extend([legend(figure, &matrix, style), "\n".into()]);
    Some(text)
}

/// The names of columns: each above its own, or as many as fit, each from its column on.
fn titles(columns: &[Series], width: usize, has_numbers: bool) -> String {
    let mut titles = String::new();
    for (index, column) in columns.iter().enumerate() {
        if has_numbers {
            titles.extend([format!("{:>width$}", column.label)]);
            continue;
        }
        let (start, end) = (index * width, titles.chars().count());
        let fits = start + column.label.chars().count() <= columns.len() * width;
        if fits && (end == 0 || end < start) {
            titles.extend([" ".repeat(start - end), column.label.clone()]);
        }
    }
    titles
}

/// The number of a cell, with its shade where there is no colour.
fn numbered(cell: &Cell<'_>, style: &Style) -> String {
    let doubt = if cell.point.doubtful { "?" } else { "" };
    let number = format!("{}{doubt}", cell.text);
    if style.colour {
        format!(" {number}")
    } else {
        format!(" {} {number}", shade(cell, style))
    }
}

fn shade(cell: &Cell<'_>, style: &Style) -> &'static str {
    if style.colour {
        " "
    } else {
        let (unicode, ascii) = SHADES[cell.step(SHADES.len())];
        style.choose(unicode, ascii)
    }
}

fn painted(cell: Option<&Cell<'_>>, content: &str, style: &Style) -> String {
    let role = cell.map_or(Tone::Plain.into(), |cell| Role::Heat(cell.step(HEAT)));
    style.paint(role, content)
}

/// The shades or colours between the lowest and the highest value.
fn legend(figure: &Figure, matrix: &Matrix<'_>, style: &Style) -> String {
    let unit = figure.y.unit.unwrap_or(Unit::Count);
    let [low, high] = [matrix.scale.low, matrix.scale.high].map(|end| show::value(unit, end, None));
    let shades: String = if style.colour {
        let block = |step| style.paint(Role::Heat(step), "  ");
        (0..HEAT).map(block).collect()
    } else {
        let shade = |(unicode, ascii): (&str, &str)| style.choose(unicode, ascii).repeat(2);
        SHADES.into_iter().map(shade).collect()
    };
    format!("{}: {low} {shades} {high}", matrix.titled(&figure.y.title))
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::made_up::{self, estimate, matrix};
    use crate::terminal::Style;
    use instrument::figure::Figure;

    const STYLE: Style = made_up::terminal(80);

    /// Times between processors, of which each four share a cache.
    fn times(size: usize) -> Figure {
        matrix(size, |row, column| {
            let near = row / 4 == column / 4;
            (row != column).then(|| estimate(if near { 24.3 } else { 96.0 }))
        })
    }

    /// The drawn figure, after a check of its width.
    fn drawn(figure: &Figure, style: &Style) -> String {
        let text = draw(figure, style).expect("it has values");
        if !style.colour {
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest.is_some_and(|widest| widest <= style.width), "{text}");
        }
        text
    }

    #[test]
    fn cells_have_their_value_where_it_fits_else_a_shade_or_a_colour() {
        let mut doubtful = times(2);
        doubtful.series[0].points[0].doubtful = true;
        let (colour, ascii) = (
            Style {
                colour: true,
                ..STYLE
            },
            Style {
                unicode: false,
                ..STYLE
            },
        );
        for (name, figure, style) in [
            ("two_by_two", doubtful, &STYLE),
            ("six_with_numbers", times(6), &STYLE),
            ("six_in_colour", times(6), &colour),
            ("twelve_in_ascii", times(12), &ascii),
        ] {
            let text = drawn(&figure, style);
            assert!(style.unicode || text.is_ascii(), "{text}");
            insta::assert_snapshot!(name, text.replace('\u{1b}', "ESC"));
        }
    }

    #[test]
    fn sixty_four_processors_are_shades() {
        insta::assert_snapshot!(drawn(&times(64), &STYLE));
        let narrow = drawn(&times(64), &Style { width: 40, ..STYLE });
        assert_eq!(narrow.lines().count(), 3 * 65 + 1);
    }

    #[test]
    fn a_matrix_without_values_is_not_drawn() {
        assert_eq!(draw(&matrix(3, |_, _| None), &STYLE), None);
    }
}
