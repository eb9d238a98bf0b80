//! The cells of a matrix, and their places on the scale of colours.

use super::levels::levels;
use super::scale::{Scale, drawn_centre};
use crate::show::{self, Prefix};
use instrument::figure::{Figure, FigurePoint, FigureScale, Series};
use instrument::point::Level;
use instrument::quantity::Unit;

/// A figure as a matrix: a row for each level, a column for each series.
pub(crate) struct Matrix<'f> {
    /// From top to bottom.
    pub(crate) rows: Vec<&'f Level>,
    /// From left to right.
    pub(crate) columns: &'f [Series],
    /// The range of the colours.
    pub(crate) scale: Scale,
    unit: Unit,
    /// The unit of all cells; `None` if the values lie too far apart for one unit.
    prefix: Option<Prefix>,
}

/// A cell that has a value.
pub(crate) struct Cell<'f> {
    pub(crate) point: &'f FigurePoint,
    /// Place on the scale of colours, from 0 to 1.
    pub(crate) place: f64,
    /// The value; without its unit where all cells share one.
    pub(crate) text: String,
}

impl Cell<'_> {
    /// The index of its colour among `steps`.
    pub(crate) fn step(&self, steps: usize) -> usize {
        ((self.place * steps as f64) as usize).min(steps.saturating_sub(1))
    }
}

impl<'f> Matrix<'f> {
    /// The matrix of `figure`, with its colours scaled by `kind`. They span at least an octave, or
    /// begin at zero, so that noise does not look like a difference.
    pub(crate) fn new(figure: &'f Figure, kind: FigureScale) -> Self {
        let unit = figure.y.unit.unwrap_or(Unit::Count);
        let centres = figure.points().filter_map(|it| drawn_centre(&it.estimate));
        let centres: Vec<f64> = centres.collect();
        Self {
            rows: levels(figure),
            columns: &figure.series,
            scale: Scale::around(centres.iter().copied(), kind),
            unit,
            prefix: Prefix::common(unit, centres.iter().copied()),
        }
    }

    /// The cell of `row` in a column; `None` if it has no value, or none on this scale.
    pub(crate) fn cell(&self, row: &Level, column: &'f Series) -> Option<Cell<'f>> {
        let point = column.points.iter().find(|point| point.x == *row)?;
        let centre = drawn_centre(&point.estimate)?;
        let interval = point.estimate.interval;
        Some(Cell {
            point,
            place: self.scale.position(centre)?,
            text: match &self.prefix {
                _ if show::is_vague(&point.estimate) => show::value(self.unit, centre, interval),
                Some(prefix) => show::in_unit(prefix, self.unit, centre, interval),
                None => show::value(self.unit, centre, interval),
            },
        })
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell<'f>> + '_ {
        let rows = self.rows.iter();
        rows.flat_map(|row| {
            let columns = self.columns.iter();
            columns.filter_map(|column| self.cell(row, column))
        })
    }

    /// `title` with the unit that the cells share.
    pub(crate) fn titled(&self, title: &str) -> String {
        match &self.prefix {
            Some(prefix) if !prefix.symbol.is_empty() => format!("{title}, {}", prefix.symbol),
            _ => title.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Matrix;
    use crate::made_up::{estimate, matrix};
    use instrument::figure::FigureScale::{Linear, Logarithmic};
    use instrument::results::Verdict;

    #[test]
    fn equal_values_share_a_colour_and_what_has_no_value_has_no_cell() {
        let figure = matrix(2, |row, column| {
            (row != column).then(|| estimate(50.0 + row as f64))
        });
        for kind in [Linear, Logarithmic] {
            let matrix = Matrix::new(&figure, kind);
            let steps: Vec<usize> = matrix.cells().map(|cell| cell.step(7)).collect();
            assert_eq!(steps.len(), 2);
            assert_eq!(steps[0], steps[1]);
        }
        let unknown = matrix(2, |_, _| {
            let mut unknown = estimate(1.0);
            unknown.verdict = Verdict::BelowResolution;
            Some(unknown)
        });
        assert_eq!(Matrix::new(&unknown, Logarithmic).cells().count(), 0);
    }
}
