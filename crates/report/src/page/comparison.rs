//! The page of comparisons: verdicts first, then what differs, then every ratio with its band.

use super::anchor::Anchors;
use super::chart::{Curve, Format, XAxis, curves, rows};
use super::render::Error;
use crate::comparison::{Circumstance, Comparison, Row, Verdict};
use crate::show;
use askama::Template;
use instrument::experiment::Definition;
use instrument::point::{Axis, Level, Point};
use std::collections::BTreeSet;

/// Of what is not decided, so much stands in one list; the rest is with its experiments.
const FIRST_OPEN: usize = 30;
/// So many differences stand on the first screen.
const FIRST_DIFFERENCES: usize = 20;
/// Fewer levels than this make no curve.
const LEAST_LEVELS: usize = 4;

/// The page of `comparisons`, which share their first side: a whole HTML document without any
/// reference to another place.
///
/// # Errors
/// None is known; the types of the layers below allow for one.
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
    /// Differences that are not among the first.
    further: usize,
    /// Of what is not decided, the largest.
    open: Vec<RowView>,
    /// How much is not decided.
    undecided: usize,
    groups: Vec<(String, String)>,
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

/// One experiment with its charts and all its rows.
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
            verdict: row.shown_verdict(),
            class: match row.verdict {
                Verdict::Faster => "faster",
                Verdict::Slower => "slower",
                _ => "open",
            },
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

/// Curves along the numeric axis with the most levels, or a row for each ratio.
fn charts(definition: &Definition, of_experiment: &[&Row<'_>]) -> String {
    let label = format!("{}: how many times as fast", definition.title);
    let along = longest_axis(definition, of_experiment);
    let draw = |format: Format| {
        let Some(axis) = along else {
            let named = of_experiment.iter().map(|row| {
                let place = show::point(row.definition, row.point);
                (titled(row, place), *row)
            });
            return rows(&named.collect::<Vec<_>>(), &label, format);
        };
        let x = XAxis {
            title: axis.title.clone(),
            unit: axis.unit(),
        };
        curves(&families(axis, of_experiment), &x, &label, format)
    };
    Format::ALL.map(draw).concat()
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

/// What a chart calls a row at `place`: its metric first, since the end is cut off where room is short.
fn titled(row: &Row<'_>, place: String) -> String {
    match (place.is_empty(), row.definition.metrics.len()) {
        (true, _) => row.metric.title.clone(),
        (false, 1) => place,
        (false, _) => format!("{}, {place}", row.metric.title),
    }
}

/// The rows that differ in nothing but their level on `axis`, together.
fn families<'a>(axis: &Axis, rows: &[&'a Row<'a>]) -> Vec<Curve<'a>> {
    let mut families: Vec<(String, Curve<'a>)> = Vec::new();
    for &row in rows {
        let Some(x) = row.point.get(&axis.name).and_then(Level::number) else {
            continue;
        };
        let others = row.point.levels().filter(|(name, _)| *name != axis.name);
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
