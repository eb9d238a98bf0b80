//! A machine on one screen: the latency ladder, the memory staircase and files by block size.

use crate::document::{Blocks, Chart, Document, Piece, Table, TableBuilder, Text};
use crate::glance::{self, Picture};
use crate::machines::Nearest;
use crate::{Analysis, show};
use instrument::figure::{Figure, FigurePoint, Series};
use instrument::point::Level;
use instrument::quantity::{Quantity, Unit, counted};
use instrument::results::{Estimate, Verdict};
use record::Failure;

/// The machine that another is shown next to.
#[derive(Clone, Copy)]
pub enum Other<'a> {
    /// That of a run, which has a name.
    Run(&'a str, &'a Analysis<'a>),
    /// The nearest reference machine.
    Nearest,
}

/// The machine of `analysis`, next to `other`. Its ladder may be shown elsewhere.
pub fn glance<'a>(
    analysis: &Analysis<'_>,
    other: Option<Other<'_>>,
    with_ladder: bool,
) -> Document<'a> {
    let run = match other {
        Some(Other::Run(name, there)) => Some((name, glance::ladder(there))),
        _ => None,
    };
    let clock = analysis.surroundings.clock_text();
    let facts = [
        ("machine", Some(show::machine(analysis.run))),
        ("conditions", analysis.surroundings.first().or(clock)),
        ("missing", missing(analysis)),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, words)| Some((name, words?)));
    let mut blocks = Blocks::default().facts(facts);
    let pictures = glance::pictures(analysis).into_iter();
    for picture in pictures.filter(|picture| with_ladder || !picture.is_ladder()) {
        let drawn = match &run {
            Some((name, there)) if picture.is_ladder() => {
                Blocks::default().table(compared(&picture, name, there.as_ref()))
            }
            _ if picture.is_ladder() => bars(&picture),
            _ => Blocks::default().table(sizes(&picture)),
        };
        blocks = blocks.section(picture.title, drawn);
    }
    if matches!(other, Some(Other::Nearest)) {
        let none = "None has the same system and a processor of this family, and was measured at the same \
                    points. `oscope reference add` makes one of a run.";
        let values = nearest(analysis).unwrap_or_else(|| Blocks::default().say([none]));
        blocks = blocks.section(NEAREST, values);
    }
    blocks.document("")
}

/// The title of [`nearest`].
pub(crate) const NEAREST: &str = "Next to the nearest reference machine";

/// The values that the nearest reference machine has, too; `None` if there is none.
pub(crate) fn nearest<'a>(analysis: &Analysis<'_>) -> Option<Blocks<'a>> {
    let Nearest { machine, values } = Nearest::to(analysis)?;
    let on = machine.started.strftime("%Y-%m-%d");
    let name = format!("{}, measured on {on}", machine.machine);
    let table = Table::of("values of both", &values)
        .name("value", |value| value.what.clone())
        .number("here", |value| number(&value.here))
        .number("there", |value| number(&value.there))
        .number("as fast here", |value| ratio(value.speed));
    Some(Blocks::default().say([name]).table(table))
}

/// What a run that is over had too little time for, or has values of that are too wide to be shown.
fn missing(analysis: &Analysis<'_>) -> Option<String> {
    let is_over = analysis.run.header.ended.is_some();
    let experiments = analysis.experiments.iter().filter(|_| is_over);
    let (mut few, mut wide, mut all) = (0, 0, 0);
    for measured in experiments {
        let seldom = |estimate: &Estimate| matches!(estimate.verdict, Verdict::TooFew);
        let points = measured.points.iter();
        few += points.filter(|it| it.estimates.iter().all(seldom)).count();
        let points = measured.points.iter();
        wide += points
            .filter(|it| it.estimates.iter().all(show::is_vague))
            .count();
        let unreached = |failure: &Failure<'_>| matches!(failure, Failure::NotReached);
        let failures = measured.failures.iter();
        few += failures.filter(|(_, failure)| unreached(failure)).count();
        all += measured.points.len() + measured.failures.len();
    }
    let few = (few > 0).then(|| format!("the time was too short for {few}"));
    let wide = (wide > 0).then(|| format!("processes differ too much to show a value at {wide}"));
    let all = counted(all, "point");
    match (few, wide) {
        (Some(few), Some(wide)) => Some(format!("{few} of {all}; {wide}")),
        (only, other) => only.or(other).map(|only| format!("{only} of {all}")),
    }
}

/// The latency ladder alone.
pub fn ladder<'a>(analysis: &Analysis<'_>) -> Document<'a> {
    let ladder = glance::ladder(analysis);
    let sections = ladder.map(|it| Blocks::default().section(it.title, bars(&it)));
    sections.unwrap_or_default().document("")
}

fn bars<'a>(ladder: &Picture) -> Blocks<'a> {
    Blocks::default().charts([Chart::of(ladder.figure.clone(), "", None)])
}

/// The ladders of both machines, rung by rung.
fn compared(here: &Picture, name: &str, there: Option<&Picture>) -> Table {
    let there = there.map_or(&[][..], |it| &it.figure.series[0].points);
    let of_other = |rung: &FigurePoint| there.iter().find(|other| other.x == rung.x);
    let speed = |rung: &FigurePoint| {
        let other = of_other(rung)?.estimate.quantity();
        other.over(rung.estimate.quantity())
    };
    let time = |rung: &FigurePoint| number(&rung.estimate.quantity());
    Table::of("latencies of both", &here.figure.series[0].points)
        .name("", |rung| rung.x.to_string())
        .number("here", time)
        .number(name, |rung| of_other(rung).map(time).unwrap_or_default())
        .number("as fast here", |rung| ratio(speed(rung)))
        .into()
}

/// A column of a picture along sizes: its title, its unit and its values.
type Sizes<'p> = (String, Unit, &'p Series);

/// The values of a picture, one row for each size.
fn sizes(picture: &Picture) -> Table {
    let figures = [Some(&picture.figure), picture.second.as_ref()];
    let columns: Vec<Sizes<'_>> = figures.into_iter().flatten().flat_map(columns).collect();
    let points = columns.iter().flat_map(|(.., series)| &series.points);
    let mut sizes: Vec<&Level> = points.map(|point| &point.x).collect();
    sizes.sort();
    sizes.dedup();
    let mut table: TableBuilder<'_, &Level> = Table::of(picture.title, &sizes).count("", |size| {
        let bytes = size
            .number()
            .map(|bytes| show::round(Unit::Bytes, bytes as f64));
        bytes.unwrap_or_default()
    });
    for (title, unit, series) in columns {
        let at = |size: &Level| {
            let point = series.points.iter().find(|point| point.x == *size)?;
            let estimate = &point.estimate;
            let known = estimate
                .is_sound()
                .then(|| estimate.quantity().in_unit(unit));
            known.as_ref().map(number)
        };
        table = table.number(title, |size| at(size).unwrap_or_default());
    }
    table.into()
}

fn columns(figure: &Figure) -> impl Iterator<Item = Sizes<'_>> {
    let unit = figure.y.unit.unwrap_or(Unit::Count);
    figure.series.iter().map(move |series| {
        let title = match series.label.as_str() {
            "" => figure.y.title.clone(),
            label => label.to_owned(),
        };
        (title, unit, series)
    })
}

/// A ratio with its interval; nothing if there is none.
fn ratio(ratio: Option<Quantity>) -> Text {
    let piece = ratio.map(|ratio| Piece::ratio(ratio.value, ratio.interval));
    piece.map(Text::from).unwrap_or_default()
}

/// A value with half the width of its interval.
fn number(quantity: &Quantity) -> Text {
    let value = show::value(quantity.unit, quantity.value, quantity.interval);
    let spread = show::spread(&(*quantity).into()).map(|spread| format!(" {spread}"));
    Text::from(value).then(Piece::faint(spread.unwrap_or_default()))
}
