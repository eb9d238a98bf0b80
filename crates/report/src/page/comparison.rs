//! The page of comparisons: verdicts, then circumstances, then all ratios with their intervals.

use super::anchor::Anchors;
use super::chart::{Curve, XAxis, curves, rows};
use super::render::Error;
use crate::comparison::{Circumstance, Comparison, Row};
use crate::show;
use askama::Template;
use instrument::experiment::Definition;
use instrument::point::{Axis, Level, Point};
use std::collections::{BTreeMap, BTreeSet};

/// Number of undecided rows in the first list; the others are shown with their experiments.
const FIRST_OPEN: usize = 30;
/// Number of differences on the first screen.
const FIRST_DIFFERENCES: usize = 20;
/// Fewer levels do not make a curve.
const LEAST_LEVELS: usize = 4;

/// The page of `comparisons`, which share their first side: a complete HTML document without
/// external references.
///
/// # Errors
/// [`Error`] if a template or the data cannot be written. No such case is known.
pub fn comparison(comparisons: &[Comparison<'_>]) -> Result<String, Error> {
    let mut anchors = Anchors::default();
    let views: Vec<View<'_>> = comparisons
        .iter()
        .map(|comparison| View::new(comparison, &mut anchors))
        .collect();
    let page = Page {
        title: views
            .first()
            .map_or_else(String::new, |view| view.title.clone()),
        comparisons: &views,
        data: serde_json::to_string(&crate::comparison::json(comparisons))?.replace('<', "\\u003c"),
        version: env!("CARGO_PKG_VERSION"),
        css: include_str!("../../assets/page.css"),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct Page<'a> {
    title: String,
    comparisons: &'a [View<'a>],
    data: String,
    version: &'static str,
    css: &'static str,
}

/// One comparison.
struct View<'a> {
    id: String,
    title: String,
    counts: String,
    remarks: &'a [String],
    differences: Vec<RowView>,
    /// Number of differences beyond the first ones.
    further: usize,
    /// The largest undecided rows.
    open: Vec<RowView>,
    /// Number of undecided rows.
    undecided: usize,
    groups: Vec<(String, String)>,
    statements: Vec<String>,
    circumstances: &'a [Circumstance],
    left_out: Vec<String>,
    experiments: Vec<ExperimentView>,
}

/// One row of a table.
struct RowView {
    experiment: String,
    place: String,
    a: String,
    b: String,
    ratio: String,
    interval: String,
    verdict: String,
    class: &'static str,
    doubtful: bool,
}

/// One experiment with its charts and rows.
struct ExperimentView {
    id: String,
    title: String,
    name: String,
    charts: String,
    rows: Vec<RowView>,
}

impl<'a> View<'a> {
    fn new(comparison: &'a Comparison<'a>, anchors: &mut Anchors) -> Self {
        let differences = comparison.differences();
        let open = comparison.open();
        let mut order: Vec<&Definition> = Vec::new();
        for row in &comparison.rows {
            if !order
                .iter()
                .any(|definition| definition.id == row.definition.id)
            {
                order.push(row.definition);
            }
        }
        let groups = comparison.groups().into_iter();
        Self {
            id: anchors.take(&comparison.question.b.label),
            title: format!(
                "{} against {}",
                comparison.question.b.title(),
                comparison.question.a.title()
            ),
            counts: comparison.counts().sentence(),
            remarks: &comparison.remarks,
            further: differences.len().saturating_sub(FIRST_DIFFERENCES),
            differences: differences
                .into_iter()
                .take(FIRST_DIFFERENCES)
                .map(RowView::new)
                .collect(),
            undecided: open.len(),
            open: open
                .into_iter()
                .take(FIRST_OPEN)
                .map(RowView::new)
                .collect(),
            groups: groups
                .map(|(group, counts)| (group.to_owned(), counts.sentence()))
                .collect(),
            statements: comparison.statements(),
            circumstances: &comparison.circumstances,
            left_out: comparison.left_out(),
            experiments: order
                .into_iter()
                .map(|definition| ExperimentView::new(definition, comparison, anchors))
                .collect(),
        }
    }
}

impl RowView {
    fn new(row: &Row<'_>) -> Self {
        Self {
            experiment: row.definition.id.clone(),
            place: row.place(),
            a: row.show(&row.a),
            b: row.show(&row.b),
            ratio: row.shown_ratio(),
            interval: row.shown_interval(),
            verdict: row.verdict.word().text.into(),
            class: row.verdict.word().class,
            doubtful: row.doubtful,
        }
    }
}

impl ExperimentView {
    fn new(definition: &Definition, comparison: &Comparison<'_>, anchors: &mut Anchors) -> Self {
        let rows: Vec<&Row<'_>> = comparison
            .rows
            .iter()
            .filter(|row| row.definition.id == definition.id)
            .collect();
        Self {
            id: anchors.take(&definition.id),
            title: definition.title.clone(),
            name: definition.id.clone(),
            charts: charts(definition, &rows),
            rows: rows.into_iter().map(RowView::new).collect(),
        }
    }
}

/// Curves along the numeric axis with the most levels, else one row for each ratio.
fn charts(definition: &Definition, of_experiment: &[&Row<'_>]) -> String {
    let label = format!("{}: how many times as fast", definition.title);
    let Some(axis) = longest_axis(definition, of_experiment) else {
        let named = of_experiment
            .iter()
            .map(|row| (titled(row, row.shown_point()), *row));
        return rows(&named.collect::<Vec<_>>(), &label);
    };
    let x = XAxis {
        title: axis.title.clone(),
        unit: axis.unit(),
    };
    curves(&families(axis, of_experiment), &x, &label)
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
fn companions<'a>(axis: &Axis, rows: &[&'a Row<'a>]) -> BTreeSet<&'a str> {
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

/// The label of a row at `place`, metric first, because a label that is too long loses its end.
fn titled(row: &Row<'_>, place: String) -> String {
    match (place.is_empty(), row.definition.metrics.len()) {
        (true, _) => row.metric.title.clone(),
        (false, 1) => place,
        (false, _) => format!("{}, {place}", row.metric.title),
    }
}

/// Groups of rows that differ only in their level on `axis` and on its companion axes.
fn families<'a>(axis: &Axis, rows: &[&'a Row<'a>]) -> Vec<Curve<'a>> {
    let companions = companions(axis, rows);
    let mut families: Vec<(String, Curve<'a>)> = Vec::new();
    for &row in rows {
        let Some(x) = row.point.get(&axis.name).and_then(Level::number) else {
            continue;
        };
        let others = row
            .point
            .levels()
            .filter(|(name, _)| *name != axis.name && !companions.contains(name));
        let others = others.fold(Point::new(), |point, (name, level)| {
            point.with(name, level.clone())
        });
        let title = titled(row, show::point(row.definition, &others));
        match families.iter_mut().find(|(known, _)| *known == title) {
            Some((_, curve)) => curve.points.push((x, row)),
            None => families.push((
                title.clone(),
                Curve {
                    title,
                    points: vec![(x, row)],
                },
            )),
        }
    }
    families
        .into_iter()
        .map(|(_, mut curve)| {
            curve.points.sort_by_key(|(x, _)| *x);
            curve
        })
        .collect()
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
            .map(|curve| (curve.title.clone(), curve.points.len()))
            .collect()
    }

    #[test]
    fn what_goes_with_the_axis_parts_no_curve() {
        let parted = curves(|block, _| 100 * block);
        assert_eq!(parted.len(), 2, "{parted:?}");
        assert!(
            parted
                .iter()
                .all(|(title, points)| *points == 4 && !title.contains("file"))
        );
    }

    #[test]
    fn what_is_the_same_everywhere_is_named() {
        let parted = curves(|_, _| 100);
        assert_eq!(parted.len(), 2);
        assert!(
            parted
                .iter()
                .all(|(title, points)| *points == 4 && title.contains("file size"))
        );
    }

    #[test]
    fn what_changes_by_itself_parts_curves() {
        let parted = curves(|block, threads| 100 * block * threads);
        assert_eq!(parted.len(), 8);
    }
}
