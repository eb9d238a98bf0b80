//! Tables of text, split into several if the terminal is too narrow.

use super::style::{Role, Style};
use comfy_table::{
    Attribute, Cell as TableCell, CellAlignment, Color, ContentArrangement, Table, TableComponent,
};

/// A table. Its cells wrap only with [`Column::wrapped`]: columns that do not fit move to a further table.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// The columns that identify a row, repeated in each table.
    pub lead: Vec<Column>,
    /// Groups of related columns, kept in one table if it is wide enough.
    pub groups: Vec<Vec<Column>>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The header; may have several lines.
    pub header: String,
    pub cells: Vec<Cell>,
    pub alignment: CellAlignment,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub text: String,
    pub role: Role,
}

/// Width of the separator: a line with a space on each side.
pub(super) const BETWEEN: usize = 3;

impl Cell {
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            role: Role::Plain,
        }
    }
}

impl Column {
    /// A left-aligned column, for names.
    pub fn left(header: &str, cells: Vec<Cell>) -> Self {
        Self {
            header: header.into(),
            cells,
            alignment: CellAlignment::Left,
        }
    }

    /// A right-aligned column, for numbers.
    pub fn right(header: &str, cells: Vec<Cell>) -> Self {
        Self {
            header: header.into(),
            cells,
            alignment: CellAlignment::Right,
        }
    }

    /// The column with its cells broken into lines of at most `width`.
    pub fn wrapped(mut self, width: usize) -> Self {
        for cell in &mut self.cells {
            cell.text = textwrap::fill(&cell.text, width);
        }
        self
    }

    pub fn width(&self, style: &Style) -> usize {
        let cells = self.cells.iter().flat_map(|cell| cell.text.lines());
        let lines = cells.chain(self.header.lines());
        lines
            .map(|line| textwrap::core::display_width(&style.text(line)))
            .max()
            .unwrap_or(0)
    }
}

impl Grid {
    /// The table, or as many tables as the width requires, separated by blank lines.
    pub fn render(&self, style: &Style) -> String {
        let tables = self
            .divided(style)
            .into_iter()
            .map(|columns| self.table(&columns, style));
        tables.collect::<Vec<_>>().join("\n")
    }

    /// The columns of each table, without the leading columns.
    fn divided(&self, style: &Style) -> Vec<Vec<&Column>> {
        let total = |columns: &[&Column]| -> usize {
            columns
                .iter()
                .map(|column| column.width(style) + BETWEEN)
                .sum()
        };
        let lead: Vec<&Column> = self.lead.iter().collect();
        let room = style.width.saturating_sub(total(&lead));
        let groups = self
            .groups
            .iter()
            .map(|group| group.iter().collect::<Vec<_>>());
        let parts: Vec<Vec<&Column>> = if groups.clone().all(|group| total(&group) <= room) {
            groups.collect()
        } else {
            groups.flatten().map(|column| vec![column]).collect()
        };
        let mut tables: Vec<Vec<&Column>> = Vec::new();
        for part in parts {
            match tables.last_mut() {
                Some(table) if total(table) + total(&part) <= room => table.extend(part),
                _ => tables.push(part),
            }
        }
        if tables.is_empty() {
            tables.push(Vec::new());
        }
        tables
    }

    fn table(&self, columns: &[&Column], style: &Style) -> String {
        let columns: Vec<&Column> = self.lead.iter().chain(columns.iter().copied()).collect();
        let mut table = Table::new();
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.force_no_tty();
        if style.colour {
            table.enforce_styling();
        }
        draw_lines(&mut table, style);
        table.set_header(columns.iter().map(|column| {
            TableCell::new(style.text(&column.header)).set_alignment(column.alignment)
        }));
        let rows = columns
            .iter()
            .map(|column| column.cells.len())
            .max()
            .unwrap_or(0);
        for row in 0..rows {
            table.add_row(columns.iter().map(|column| match column.cells.get(row) {
                Some(cell) => styled(cell, style).set_alignment(column.alignment),
                None => TableCell::new(""),
            }));
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
        lines.collect()
    }
}

/// Draws a line below the header and between the columns, without a border.
fn draw_lines(table: &mut Table, style: &Style) {
    let (vertical, horizontal, crossing) = if style.unicode {
        ('│', '─', '┼')
    } else {
        ('|', '-', '+')
    };
    table
        .load_preset(comfy_table::presets::NOTHING)
        .set_style(TableComponent::VerticalLines, vertical)
        .set_style(TableComponent::HeaderLines, horizontal)
        .set_style(TableComponent::MiddleHeaderIntersections, crossing);
}

fn styled(cell: &Cell, style: &Style) -> TableCell {
    let shown = TableCell::new(style.text(&cell.text));
    match cell.role {
        Role::Plain | Role::Series(_) | Role::Heat(_) => shown,
        Role::Strong => shown.add_attribute(Attribute::Bold),
        Role::Faint => shown.add_attribute(Attribute::Dim),
        Role::Accent => shown.fg(Color::DarkCyan),
        Role::Doubtful => shown.fg(Color::DarkYellow),
        Role::Broken => shown.fg(Color::DarkRed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let column = |name: &str| Column::right(name, vec![Cell::plain("12345"); 2]);
        Grid {
            lead: vec![Column::left(
                "row",
                vec![Cell::plain("a"), Cell::plain("b")],
            )],
            groups: vec![
                vec![column("w1"), column("w2")],
                vec![column("r1"), column("r2")],
            ],
        }
    }

    fn headers(width: usize) -> Vec<String> {
        let style = Style {
            width,
            colour: false,
            unicode: true,
        };
        let text = grid().render(&style);
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
        assert_eq!(headers(80), ["row │ w1 │ w2 │ r1 │ r2"]);
        assert_eq!(headers(30), ["row │ w1 │ w2", "row │ r1 │ r2"]);
        assert_eq!(
            headers(16),
            ["row │ w1", "row │ w2", "row │ r1", "row │ r2"]
        );
    }

    #[test]
    fn a_table_without_columns_shows_its_rows() {
        let grid = Grid {
            groups: Vec::new(),
            ..grid()
        };
        let text = grid.render(&Style {
            width: 80,
            colour: false,
            unicode: false,
        });
        assert_eq!(text, " row\n-----\n a\n b\n");
    }
}
