//! The ratios of a comparison as a figure: curves along the axis with the most levels, or a bar for each.

use crate::comparison::{Row, Verdict};
use crate::lists::by_key;
use crate::show;
use instrument::experiment::Definition;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::{Axis, Level};
use instrument::quantity::{Quantity, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer levels do not make a curve.
const LEAST_LEVELS: usize = 4;

/// Curves along the numeric axis with the most levels, else a bar for each ratio.
pub(super) fn ratios(definition: &Definition, rows: &[&Row<'_>]) -> Figure {
    let (kind, title, unit, series) = if let Some(along) = longest_axis(definition, rows) {
        let (title, series) = (along.title.as_str(), families(along, rows));
        (FigureKind::Curve, title, along.unit(), series)
    } else {
        let points = rows
            .iter()
            .map(|row| point(Level::Choice(row.place()), row));
        let series = Series {
            label: String::new(),
            points: points.collect(),
        };
        (FigureKind::Bars, "", None, vec![series])
    };
    Figure {
        key: "ratios".into(),
        title: format!("{}: how many times as fast", definition.title),
        kind,
        x: FigureAxis::new(title, unit, FigureScale::Logarithmic),
        y: FigureAxis::new("B as fast", Some(Unit::Ratio), FigureScale::Logarithmic),
        series,
        marks: Vec::new(),
    }
}

/// The ratio of a row. A marker that is not filled is of no clear difference.
fn point(x: Level, row: &Row<'_>) -> FigurePoint {
    let ratio = Quantity::new(row.ratio, row.interval, Unit::Ratio);
    FigurePoint {
        x,
        estimate: ratio.into(),
        doubtful: !matches!(row.verdict, Verdict::Faster | Verdict::Slower),
    }
}

fn longest_axis<'d>(definition: &'d Definition, rows: &[&Row<'_>]) -> Option<&'d Axis> {
    let levels = |axis: &Axis| {
        let numbers = rows
            .iter()
            .filter_map(|row| row.point.get(&axis.name)?.number());
        numbers.collect::<BTreeSet<u64>>().len()
    };
    let longest = definition.axes.iter().max_by_key(|axis| levels(axis));
    longest.filter(|axis| levels(axis) >= LEAST_LEVELS)
}

/// Axes whose level is a function of the level on `axis`: for example a file size that grows with
/// the block size.
fn companions<'a>(axis: &Axis, rows: &[&'a Row<'_>]) -> BTreeSet<&'a str> {
    let mut levels: BTreeMap<&str, BTreeMap<Option<&Level>, BTreeSet<&Level>>> = BTreeMap::new();
    for row in rows {
        let numbers = row
            .point
            .levels()
            .filter(|(_, level)| level.number().is_some());
        for (name, level) in numbers.filter(|(name, _)| *name != axis.name) {
            let along = levels.entry(name).or_default();
            let here = along.entry(row.point.get(&axis.name)).or_default();
            here.insert(level);
        }
    }
    levels.retain(|_, along| {
        let all: BTreeSet<_> = along.values().flatten().collect();
        all.len() > 1 && along.values().all(|here| here.len() == 1)
    });
    levels.into_keys().collect()
}

/// A series for the rows that differ only in their level on `axis` and on its companion axes.
fn families(axis: &Axis, rows: &[&Row<'_>]) -> Vec<Series> {
    let companions = companions(axis, rows);
    let points = rows.iter().filter_map(|&row| {
        let x = row
            .point
            .get(&axis.name)
            .filter(|level| level.number().is_some())?;
        let is_other = |name: &str| name != axis.name && !companions.contains(name);
        let others = row.point.only(is_other);
        let label = row.at(show::point(row.definition, &others));
        Some((label, point(x.clone(), row)))
    });
    let families = by_key(points).into_iter().map(|(label, mut points)| {
        points.sort_by_key(|point| point.x.number());
        Series { label, points }
    });
    families.collect()
}

#[cfg(test)]
mod tests {
    use super::families;
    use crate::comparison::Row;
    use instrument::experiment::{Better, Definition, Metric};
    use instrument::point::{Axis, Point};
    use instrument::quantity::Unit;

    fn definition() -> Definition {
        let metric = Metric::new("read", "read", Unit::BytesPerSecond, Better::Higher);
        Definition {
            id: "file.made_up".into(),
            axes: vec![
                Axis::bytes("block_size", "block size"),
                Axis::bytes("file_size", "file size"),
                Axis::bytes("threads", "threads"),
            ],
            metrics: vec![metric],
            ..Definition::default()
        }
    }

    /// Titles and lengths of the curves over blocks of 1, 2, 4 and 8, with one and two threads, and
    /// with files of `file_size(block, threads)`.
    fn curves(file_size: fn(u64, u64) -> u64) -> Vec<(String, usize)> {
        let definition = definition();
        let both = [1_u64, 2, 4, 8].map(|block| [1_u64, 2].map(|threads| (block, threads)));
        let points = both.concat().into_iter().map(|(block, threads)| {
            Point::new()
                .with("block_size", block)
                .with("file_size", file_size(block, threads))
                .with("threads", threads)
        });
        let points: Vec<_> = points.collect();
        let rows: Vec<_> = points
            .iter()
            .map(|point| Row::made_up(&definition, point, 1.0))
            .collect();
        let rows: Vec<_> = rows.iter().collect();
        let families = families(&definition.axes[0], &rows);
        let counted = families.iter();
        counted
            .map(|series| (series.label.clone(), series.points.len()))
            .collect()
    }

    #[test]
    fn only_what_changes_by_itself_parts_curves() {
        let with_the_axis = curves(|block, _| 100 * block);
        let same_everywhere = curves(|_, _| 100);
        for (curves, is_named) in [(with_the_axis, false), (same_everywhere, true)] {
            assert_eq!(curves.len(), 2, "{curves:?}");
            for (title, points) in curves {
                assert_eq!((title.contains("file"), points), (is_named, 4), "{title}");
            }
        }
        assert_eq!(curves(|block, threads| 100 * block * threads).len(), 8);
    }
}
