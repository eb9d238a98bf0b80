//! The table of an experiment: one row for each level of its longest axis, series side by side.

use super::marks;
use crate::ExperimentAnalysis;
use crate::document::{Blocks, Column, ColumnKind, Piece, Table, Text};
use crate::lists::{distinct, joined};
use crate::show::{self, Prefix, Tone};
use instrument::experiment::{Better, Metric};
use instrument::point::{Axis, AxisKind, Level, Point};
use instrument::results::{Estimate, PointResult, Verdict};
use record::Failure;

/// Beyond this number, series side by side are harder to read than below each other.
const MAX_SERIES: usize = 4;

/// The estimates of an experiment with their intervals and warnings. Levels common to all points
/// are listed above the table. Metrics without a better direction appear only in the details.
pub(super) fn table<'a>(experiment: &ExperimentAnalysis<'_>) -> Blocks<'a> {
    let layout = Layout::new(experiment);
    let axes = layout.rows_axes.iter().enumerate();
    let mut columns: Vec<Column> = axes
        .map(|(index, axis)| axis_column(axis, index, &layout.rows))
        .collect();
    let metrics = experiment.definition.metrics.iter();
    for metric in metrics.filter(|metric| metric.better != Better::Neither) {
        let series = layout.series.iter();
        let group = series.filter_map(|series| value_column(experiment, &layout, metric, series));
        columns.extend(group.enumerate().map(|(index, column)| Column {
            begins_group: index == 0,
            ..column
        }));
    }
    let table = Table {
        title: format!("estimates of {}", experiment.definition.id),
        columns,
        first: usize::MAX,
    };
    Blocks::default().say(layout.constants()).table(table)
}

/// Levels of some axes.
type Levels<'a> = Vec<(&'a Axis, Level)>;

/// The division of the axes into rows and columns.
struct Layout<'a> {
    rows_axes: Vec<&'a Axis>,
    rows: Vec<Levels<'a>>,
    series: Vec<Levels<'a>>,
    /// Axes that were not varied in this run.
    constant: Levels<'a>,
}

impl<'a> Layout<'a> {
    /// Uses the axis with the most levels for the rows, and as many other axes for the columns as
    /// the table stays readable with.
    fn new(experiment: &'a ExperimentAnalysis) -> Self {
        let failed = experiment.failures.iter().map(|(point, _)| *point);
        let measured = experiment.points.iter().map(|result| &result.point);
        let points: Vec<&Point> = measured.chain(failed).collect();
        let axes = &experiment.definition.axes;
        let count = |axis: &Axis| combinations(&[axis], &points).len();
        let (varied, constant): (Vec<&Axis>, Vec<&Axis>) = axes
            .iter()
            .partition(|axis| count(axis) > 1 || axes.len() == 1);
        let mut by_length = varied.clone();
        by_length.sort_by_key(|axis| (count(axis), axis.kind != AxisKind::Choice));
        let mut across: Vec<&str> = Vec::new();
        let mut width = 1;
        for axis in by_length.iter().rev().skip(1).rev() {
            width *= count(axis).max(1);
            if width <= MAX_SERIES {
                across.push(&axis.name);
            }
        }
        let (series_axes, rows_axes): (Vec<&Axis>, Vec<&Axis>) = varied
            .into_iter()
            .partition(|axis| across.contains(&axis.name.as_str()));
        let constant = combinations(&constant, &points).into_iter().next();
        Self {
            rows: combinations(&rows_axes, &points),
            series: combinations(&series_axes, &points),
            rows_axes,
            constant: constant.unwrap_or_default(),
        }
    }

    /// The levels common to all points, if there are any.
    fn constants(&self) -> Option<String> {
        let constants = self.constant.iter();
        let constants =
            constants.map(|(axis, level)| format!("{} {}", axis.title, axis.show(level)));
        let constants = joined(", ", constants);
        (!constants.is_empty()).then(|| format!("Throughout: {constants}"))
    }
}

/// All combinations of levels on `axes` that occur: numbers in ascending order, choices in order of
/// appearance.
fn combinations<'a>(axes: &[&'a Axis], points: &[&Point]) -> Vec<Levels<'a>> {
    let mut found = distinct(points.iter().map(|point| {
        let level = |axis: &&'a Axis| point.get(&axis.name).map(|level| (*axis, level.clone()));
        axes.iter().filter_map(level).collect::<Levels<'a>>()
    }));
    let numbers = |levels: &Levels<'_>| {
        let numbers = levels.iter().map(|(_, level)| level.number());
        numbers.collect::<Vec<_>>()
    };
    found.sort_by_cached_key(numbers);
    found
}

fn axis_column(axis: &Axis, index: usize, rows: &[Levels]) -> Column {
    let cell = |row: &Levels| {
        let level = row.get(index);
        level.map_or_else(Text::default, |(axis, level)| {
            Piece::from(axis.show(level)).into()
        })
    };
    Column {
        title: axis.title.clone(),
        kind: match axis.kind {
            AxisKind::Choice => ColumnKind::Name,
            AxisKind::Bytes | AxisKind::Count => ColumnKind::Count,
        },
        cells: rows.iter().map(cell).collect(),
        begins_group: false,
    }
}

/// An estimate and its point, or the words in its place.
type Content<'a> = Result<(&'a PointResult, &'a Estimate), (&'static str, Tone)>;

/// A column of one metric in one series; `None` if no point was measured or tried.
fn value_column(
    experiment: &ExperimentAnalysis,
    layout: &Layout,
    metric: &Metric,
    series: &Levels,
) -> Option<Column> {
    let content = |row: &Levels| {
        let levels: Vec<_> = row
            .iter()
            .chain(series)
            .map(|(axis, level)| (axis.name.as_str(), level.clone()))
            .collect();
        let measured = experiment.points.iter().find_map(|result| {
            let estimate = result.estimate(&metric.name)?;
            let is_here = result.point.matches(&levels);
            is_here.then_some((result, estimate))
        });
        measured.ok_or_else(|| {
            let mut failures = experiment.failures.iter();
            match failures.find(|(point, _)| point.matches(&levels)) {
                Some((_, Failure::NotReached)) => ("no time", Tone::Doubtful),
                Some(_) => ("failed", Tone::Bad),
                None => ("", Tone::Plain),
            }
        })
    };
    let contents: Vec<Content<'_>> = layout.rows.iter().map(content).collect();
    if contents.iter().all(|it| matches!(it, Err(("", _)))) {
        return None;
    }
    let (unit, cells) = cells(metric, &contents);
    let mut header = vec![metric.title.clone()];
    header.extend(series.iter().map(|(axis, level)| show::level(axis, level)));
    header.extend(unit);
    Some(Column {
        title: header.join("\n"),
        kind: ColumnKind::Number,
        cells,
        begins_group: false,
    })
}

/// The common unit of the column, if any, and its cells, with numbers, intervals and letters
/// aligned.
fn cells(metric: &Metric, contents: &[Content<'_>]) -> (Option<String>, Vec<Text>) {
    let shown = contents.iter().flatten();
    let sound = shown.filter(|(_, it)| it.is_sound() && !show::is_vague(it));
    let common = Prefix::common(metric.unit, sound.map(|(_, it)| it.centre));
    let parts = contents.iter();
    let parts: Vec<Parts> = parts
        .map(|it| Parts::new(metric, common.as_ref(), it))
        .collect();
    let width = |part: fn(&Parts) -> &str| {
        let widths = parts.iter().map(|parts| part(parts).chars().count());
        widths.max().unwrap_or(0)
    };
    let [whole, fraction, unit, spread, letters] = [
        width(|parts| &parts.whole),
        width(|parts| &parts.fraction),
        width(|parts| &parts.unit),
        width(|parts| &parts.spread),
        width(|parts| &parts.letters),
    ];
    let cell = |parts: &Parts| {
        let number = format!("{:>whole$}{:<fraction$}", parts.whole, parts.fraction);
        let value = format!("{number}{:<unit$}{:>spread$}", parts.unit, parts.spread);
        let text = if parts.words.is_empty() {
            value
        } else {
            format!("{:>width$}", parts.words, width = value.chars().count())
        };
        let text = format!("{text}{:<letters$}", parts.letters);
        Text::from(Piece::toned(parts.tone, text))
    };
    let unit = common
        .map(|prefix| prefix.symbol)
        .filter(|symbol| !symbol.is_empty());
    (unit, parts.iter().map(cell).collect())
}

/// The parts of a cell, each with its leading space.
#[derive(Default)]
struct Parts {
    whole: String,
    fraction: String,
    unit: String,
    spread: String,
    letters: String,
    /// Text in place of a number.
    words: String,
    tone: Tone,
}

impl Parts {
    fn new(metric: &Metric, common: Option<&Prefix>, content: &Content<'_>) -> Self {
        let mut parts = Self::default();
        let (point, estimate) = match content {
            Ok(measured) => measured,
            Err((words, tone)) => {
                return Self {
                    words: (*words).to_owned(),
                    tone: *tone,
                    ..parts
                };
            }
        };
        let letters = marks::letters(point, &metric.name);
        if !letters.is_empty() {
            parts.tone = Tone::Doubtful;
            parts.letters = format!(" {letters}");
        }
        match &estimate.verdict {
            Verdict::Sound if !show::is_vague(estimate) => {
                parts.put_number(metric, common, estimate);
            }
            Verdict::Sound | Verdict::TooFew => {
                parts.words = show::centre(metric.unit, estimate);
                parts.tone = Tone::Doubtful;
            }
            verdict @ Verdict::BelowResolution => parts.words = show::verdict(verdict).text.into(),
            verdict @ Verdict::Broken(_) => {
                parts.words = show::verdict(verdict).text.into();
                parts.tone = show::verdict(verdict).tone;
            }
        }
        parts
    }

    fn put_number(&mut self, metric: &Metric, common: Option<&Prefix>, estimate: &Estimate) {
        let (unit, centre) = (metric.unit, estimate.centre);
        let own = Prefix::fitting(unit, centre);
        let number = show::in_unit(common.unwrap_or(&own), unit, centre, estimate.interval);
        if common.is_none() && !own.symbol.is_empty() {
            self.unit = format!(" {}", own.symbol);
        }
        match number.split_once('.') {
            // Decimal points are aligned only within a common unit: only there does their position
            // compare magnitudes.
            Some((whole, fraction)) if common.is_some() => {
                self.whole = whole.into();
                self.fraction = format!(".{fraction}");
            }
            _ => self.whole = number,
        }
        self.spread =
            show::spread(estimate).map_or_else(String::new, |spread| format!(" {spread}"));
    }
}
