//! Tables, made column by column of the things in their rows.

use super::{Piece, Text};

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The contents in words, for readers who do not see it.
    pub title: String,
    /// The columns, all of one length.
    pub columns: Vec<Column>,
    /// Rows to show at first.
    pub first: usize,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The heading.
    pub title: String,
    /// The kind of its cells.
    pub kind: ColumnKind,
    /// One cell for each row.
    pub cells: Vec<Text>,
    /// True if the columns from here on belong together.
    pub begins_group: bool,
}

impl Column {
    /// True if its cells are numbers.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, ColumnKind::Count | ColumnKind::Number)
    }

    /// True if its cells name their rows.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, ColumnKind::Name | ColumnKind::Count)
    }
}

/// The kind of the cells in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// The name of the row.
    Name,
    /// The name of the row, a number.
    Count,
    /// Words.
    Words,
    /// Numbers.
    Number,
}

/// A table that gets its columns one by one.
#[derive(Debug)]
pub struct TableBuilder<'t, T> {
    things: &'t [T],
    table: Table,
    begins_group: bool,
}

impl Table {
    /// A table with a row for each of `things`.
    pub fn of<T>(title: impl Into<String>, things: &[T]) -> TableBuilder<'_, T> {
        let table = Self {
            title: title.into(),
            columns: Vec::new(),
            first: usize::MAX,
        };
        TableBuilder {
            things,
            table,
            begins_group: false,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// The rows to show at first, and the others if there are any.
    pub fn divided(&self) -> (Self, Option<Self>) {
        let at = self.first.min(self.rows());
        let part = |range: std::ops::Range<usize>| {
            let column = |column: &Column| Column {
                title: column.title.clone(),
                kind: column.kind,
                cells: column.cells[range.clone()].to_vec(),
                begins_group: column.begins_group,
            };
            Self {
                title: self.title.clone(),
                columns: self.columns.iter().map(column).collect(),
                first: usize::MAX,
            }
        };
        let others = (at < self.rows()).then(|| part(at..self.rows()));
        (part(0..at), others)
    }
}

impl<'t, T> TableBuilder<'t, T> {
    /// Adds a column.
    #[must_use]
    pub fn column<C: Into<Text>>(
        mut self,
        kind: ColumnKind,
        title: impl Into<String>,
        cell: impl Fn(&'t T) -> C,
    ) -> Self {
        self.table.columns.push(Column {
            title: title.into(),
            kind,
            cells: self.things.iter().map(|thing| cell(thing).into()).collect(),
            begins_group: std::mem::take(&mut self.begins_group),
        });
        self
    }

    /// Adds a column with the name of each row: a backquote in it is a letter.
    #[must_use]
    pub fn name<C: Into<Piece>>(self, title: impl Into<String>, cell: impl Fn(&'t T) -> C) -> Self {
        self.column(ColumnKind::Name, title, |row| cell(row).into())
    }

    /// Adds a column with the number that names each row.
    #[must_use]
    pub fn count<C: Into<Text>>(self, title: impl Into<String>, cell: impl Fn(&'t T) -> C) -> Self {
        self.column(ColumnKind::Count, title, cell)
    }

    /// Adds a column of words.
    #[must_use]
    pub fn words<C: Into<Text>>(self, title: impl Into<String>, cell: impl Fn(&'t T) -> C) -> Self {
        self.column(ColumnKind::Words, title, cell)
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn number<C: Into<Text>>(
        self,
        title: impl Into<String>,
        cell: impl Fn(&'t T) -> C,
    ) -> Self {
        self.column(ColumnKind::Number, title, cell)
    }

    /// Lets the columns that are added next stay together where a table is divided.
    #[must_use]
    pub fn group(mut self) -> Self {
        self.begins_group = true;
        self
    }

    /// Shows only the first rows at first.
    #[must_use]
    pub fn first(mut self, rows: usize) -> Self {
        self.table.first = rows;
        self
    }
}

impl<T> From<TableBuilder<'_, T>> for Table {
    fn from(filling: TableBuilder<'_, T>) -> Self {
        filling.table
    }
}
