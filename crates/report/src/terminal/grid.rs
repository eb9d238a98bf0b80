//! Tables of text, split into several if the terminal is too narrow.

use super::style::Style;
use super::text::wrapped;
use crate::document::Table;
use crate::show::Tone;
use std::iter;
use textwrap::core::display_width;

/// Width of the separator: a line with a space on each side.
const BETWEEN: usize = 3;
/// Words wrap to no less than this.
const LEAST_WRAPPED: usize = 14;

/// A column as it is laid out.
struct Column {
    heading: Cell,
    cells: Vec<Cell>,
    is_number: bool,
    begins_group: bool,
}

/// A cell, line by line.
struct Cell {
    lines: Vec<String>,
    tone: Tone,
}

/// The table, or as many tables as the width requires, separated by blank lines. Words wrap so that all columns
/// fit, as far as that leaves them readable; columns that do not fit move to a further table, which repeats the names
/// of the rows.
pub(super) fn paint(table: &Table, style: &Style) -> String {
    let mut names = columns(table, style);
    let is_name = |column: &crate::document::Column| column.is_name();
    let values = names.split_off(table.columns.iter().take_while(|it| is_name(it)).count());
    let tables = divided(&names, &values, style);
    let tables = tables.into_iter().map(|values| {
        let columns: Vec<&Column> = names.iter().chain(values).collect();
        lines(&columns, table.rows(), style)
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// The columns with their words wrapped.
fn columns(table: &Table, style: &Style) -> Vec<Column> {
    let cell = |text: &str, tone| Cell {
        lines: style.text(text).lines().map(str::to_owned).collect(),
        tone,
    };
    let column = |of: &crate::document::Column| Column {
        heading: cell(&of.title, Tone::Plain),
        cells: of
            .cells
            .iter()
            .map(|text| cell(&text.plain(), text.tone()))
            .collect(),
        is_number: of.is_number(),
        begins_group: of.begins_group,
    };
    let mut columns: Vec<Column> = table.columns.iter().map(column).collect();
    let (mut wide, narrow): (Vec<_>, Vec<_>) = columns
        .iter_mut()
        .partition(|column| !column.is_number && column.width() > column.least());
    let taken: usize = narrow.iter().map(|column| column.width() + BETWEEN).sum();
    let room = style.width.saturating_sub(taken + wide.len() * BETWEEN);
    let least: usize = wide.iter().map(|column| column.least()).sum();
    if room < least {
        // Further tables take the columns that have no room.
        for column in wide {
            column.wrap(style.width / 2);
        }
        return columns;
    }
    let mut spare = room - least;
    wide.sort_by_key(|column| column.width() - column.least());
    // The narrow ones leave what they do not need to the wide ones.
    let count = wide.len();
    for (place, column) in wide.into_iter().enumerate() {
        let wanted = column.width() - column.least();
        let more = wanted.min(spare / (count - place));
        column.wrap(column.least() + more);
        spare -= more;
    }
    columns
}

/// The columns of each table, apart from the names: groups stay together if each has room.
fn divided<'c>(names: &[Column], values: &'c [Column], style: &Style) -> Vec<&'c [Column]> {
    let total = |columns: &[Column]| -> usize {
        columns.iter().map(|column| column.width() + BETWEEN).sum()
    };
    let room = style.width.saturating_sub(total(names));
    let groups: Vec<&[Column]> = values.chunk_by(|_, next| !next.begins_group).collect();
    let parts: Vec<&[Column]> = if groups.iter().all(|group| total(group) <= room) {
        groups
    } else {
        values.chunks(1).collect()
    };
    let mut tables = Vec::new();
    let (mut start, mut end) = (0, 0);
    for part in parts {
        if end > start && total(&values[start..end + part.len()]) > room {
            tables.push(&values[start..end]);
            start = end;
        }
        end += part.len();
    }
    tables.push(&values[start..end]);
    tables
}

/// The lines of one table, with a rule below the headings and between the columns.
fn lines(columns: &[&Column], rows: usize, style: &Style) -> String {
    let bar = style.choose("│", "|");
    let row = |cells: Vec<&Cell>| -> String {
        let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
        let line = |index: usize| {
            let parts = cells.iter().zip(columns).map(|(cell, column)| {
                let text = cell.lines.get(index).map_or("", String::as_str);
                let blank = " ".repeat(column.width() - display_width(text));
                let text = style.paint(cell.tone, text);
                if column.is_number {
                    format!(" {blank}{text} ")
                } else {
                    format!(" {text}{blank} ")
                }
            });
            parts.collect::<Vec<_>>().join(bar).trim_end().to_owned() + "\n"
        };
        (0..height.max(1)).map(line).collect()
    };
    let rule = columns
        .iter()
        .map(|column| style.choose("─", "-").repeat(column.width() + 2));
    let rule = rule.collect::<Vec<_>>().join(style.choose("┼", "+")) + "\n";
    let heading = row(columns.iter().map(|column| &column.heading).collect());
    let rows = (0..rows).map(|index| row(columns.iter().map(|it| &it.cells[index]).collect()));
    iter::once(heading).chain([rule]).chain(rows).collect()
}

impl Column {
    /// Width of the heading, or of the narrowest words that are easy to read.
    fn least(&self) -> usize {
        self.heading.width().max(LEAST_WRAPPED)
    }

    fn wrap(&mut self, width: usize) {
        for cell in &mut self.cells {
            let lines = cell.lines.iter();
            cell.lines = lines.flat_map(|line| wrapped(line, width)).collect();
        }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(Cell::width);
        cells.fold(self.heading.width(), usize::max)
    }
}

impl Cell {
    fn width(&self) -> usize {
        let widths = self.lines.iter().map(|line| display_width(line));
        widths.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::paint;
    use crate::document::Table;
    use crate::made_up;
    use crate::terminal::Style;

    const STYLE: Style = made_up::terminal(80);

    fn table() -> Table {
        let value = |_: &&str| "12345";
        let filling = Table::of("a table", &["a", "b"])
            .name("row", |name| *name)
            .group()
            .number("w1", value)
            .number("w2", value)
            .group()
            .number("r1", value)
            .number("r2", value);
        filling.into()
    }

    fn headings(width: usize) -> Vec<String> {
        let text = paint(&table(), &Style { width, ..STYLE });
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= width.max(14)),
            "{text}"
        );
        let heads = text.lines().filter(|line| line.contains("row"));
        heads
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn a_table_is_divided_between_groups_where_it_can_be_and_within_them_where_it_must() {
        assert_eq!(headings(80), ["row │ w1 │ w2 │ r1 │ r2"]);
        assert_eq!(headings(30), ["row │ w1 │ w2", "row │ r1 │ r2"]);
        let each = ["row │ w1", "row │ w2", "row │ r1", "row │ r2"];
        assert_eq!(headings(16), each);
    }
}
