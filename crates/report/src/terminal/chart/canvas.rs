//! A canvas of braille dots, eight per character, with an overlay of marks.

use super::super::style::{Role, Style};
use crate::show::Tone;

/// Dots per character, horizontally and vertically.
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// The bit of each dot of a braille character, row by row
/// (Unicode Standard, chapter 21.1: dots 1 to 8 in the order of their bits).
const BITS: [[u8; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

#[derive(Clone, Debug)]
pub(super) struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Debug)]
struct Cell {
    dots: u8,
    mark: Option<char>,
    role: Role,
}

/// A position on the canvas: x to the right and y upwards, each from 0 to 1.
pub(super) type Position = (f64, f64);

impl Canvas {
    /// An empty canvas of at least one character.
    pub fn new(columns: usize, rows: usize) -> Self {
        let cell = Cell {
            dots: 0,
            mark: None,
            role: Role::Toned(Tone::Plain),
        };
        Self {
            columns: columns.max(1),
            cells: vec![cell; columns.max(1) * rows.max(1)],
        }
    }

    /// The column that contains `x`.
    pub fn column(&self, x: f64) -> usize {
        self.dot_column(x) / ACROSS
    }

    /// The row that contains `y`, counted from the top.
    pub fn row(&self, y: f64) -> usize {
        self.dot_row(y) / DOWN
    }

    pub fn line(&mut self, from: Position, to: Position, role: Role) {
        let (x0, y0) = (self.dot_column(from.0), self.dot_row(from.1));
        let (x1, y1) = (self.dot_column(to.0), self.dot_row(to.1));
        let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
        let between = |a: usize, b: usize, step: usize| {
            let part = step as f64 / steps as f64;
            (a as f64 + (b as f64 - a as f64) * part).round() as usize
        };
        for step in 0..=steps {
            self.dot(between(x0, x1, step), between(y0, y1, step), role);
        }
    }

    /// Puts a character in place of the dots.
    pub fn mark(&mut self, at: Position, mark: char, role: Role) {
        let index = self.row(at.1) * self.columns + self.column(at.0);
        let cell = &mut self.cells[index];
        cell.mark = Some(mark);
        cell.role = role;
    }

    /// Puts a character in each row of a column that is still empty there.
    pub fn vertical(&mut self, x: f64, mark: char) {
        let column = self.column(x);
        for cell in self.cells.iter_mut().skip(column).step_by(self.columns) {
            if cell.dots == 0 && cell.mark.is_none() {
                cell.mark = Some(mark);
                cell.role = Role::Toned(Tone::Faint);
            }
        }
    }

    pub fn rows(&self, style: &Style) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns).map(|row| {
            let mut text = String::new();
            for run in row.chunk_by(|a, b| a.role == b.role) {
                let characters: String = run.iter().map(|cell| cell.character(style)).collect();
                text += &style.paint(run[0].role, &characters);
            }
            text.trim_end().to_owned()
        })
    }

    fn dot(&mut self, x: usize, y: usize, role: Role) {
        let cell = &mut self.cells[y / DOWN * self.columns + x / ACROSS];
        cell.dots |= BITS[y % DOWN][x % ACROSS];
        cell.role = role;
    }

    fn dot_column(&self, x: f64) -> usize {
        nearest(x, self.columns * ACROSS)
    }

    fn dot_row(&self, y: f64) -> usize {
        nearest(1.0 - y, self.cells.len() / self.columns * DOWN)
    }
}

impl Cell {
    fn character(&self, style: &Style) -> char {
        match self.mark {
            Some(mark) => mark,
            None if self.dots == 0 => ' ',
            None if style.unicode => {
                char::from_u32(0x2800 + u32::from(self.dots)).expect("all 256 are characters")
            }
            None => '.',
        }
    }
}

/// Index of the step nearest to `part`, for `count` steps at equal distances from 0 to 1.
fn nearest(part: f64, count: usize) -> usize {
    (part.clamp(0.0, 1.0) * (count - 1) as f64).round() as usize
}
