//! A machine on one screen: the latency ladder, the memory staircase and files by block size.

use crate::document::{Blocks, Chart, Document, Piece, Table, TableBuilder, Text};
use crate::glance::{Glance, Picture, Rung};
use crate::{Analysis, show};
use instrument::figure::{Figure, Series};
use instrument::point::Level;
use instrument::quantity::{Quantity, Unit};

/// The machine of `analysis`; next to it that of `other`, which has a name.
pub fn glance<'a>(analysis: &Analysis<'_>, other: Option<(&str, &Analysis<'_>)>) -> Document<'a> {
    let here = Glance::of(analysis);
    let other = other.map(|(name, analysis)| (name, Glance::of(analysis)));
    let clock = analysis.surroundings.clock_text();
    let facts = [
        ("machine", Some(show::machine(analysis.run))),
        ("conditions", analysis.surroundings.first().or(clock)),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, words)| Some((name, words?)));
    let mut blocks = Blocks::default().facts(facts);
    for picture in &here.pictures {
        let drawn = match &other {
            Some((name, there)) if picture.is_ladder() => {
                Blocks::default().table(compared(&here.ladder, name, &there.ladder))
            }
            _ if picture.is_ladder() => {
                let figure = picture.figure.clone();
                Blocks::default().charts([Chart::of(figure, "", None)])
            }
            _ => Blocks::default().table(sizes(picture)),
        };
        blocks = blocks.section(picture.title, drawn);
    }
    blocks.document("")
}

/// Both machines, rung by rung.
fn compared(here: &[Rung], name: &str, there: &[Rung]) -> Table {
    let of_other = |rung: &Rung| there.iter().find(|other| other.label == rung.label);
    let ratio = |rung: &Rung| {
        let ratio = of_other(rung)?.time.over(rung.time)?;
        Some(Piece::ratio(ratio.value, ratio.interval).into())
    };
    let time = |rung: &Rung| number(&rung.time);
    Table::of("latencies of both", here)
        .name("", |rung| rung.label)
        .number("here", time)
        .number(name, |rung| of_other(rung).map(time).unwrap_or_default())
        .number("as fast here", |rung| {
            ratio(rung).unwrap_or_else(Text::default)
        })
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

/// A value with half the width of its interval.
fn number(quantity: &Quantity) -> Text {
    let value = show::value(quantity.unit, quantity.value, quantity.interval);
    let spread = show::spread(&(*quantity).into()).map(|spread| format!(" {spread}"));
    Text::from(value).then(Piece::faint(spread.unwrap_or_default()))
}
