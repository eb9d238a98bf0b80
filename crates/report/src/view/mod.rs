//! Views: each makes the document of a typed result.

pub(crate) mod advice;
mod catalogue;
mod checks;
pub(crate) mod claims;
mod comparison;
mod experiment;
mod export;
mod fleet;
mod glance;
mod history;
mod lab;
pub(crate) mod machine;
mod marks;
mod network;
mod ratios;
mod reproduction;
mod results;
pub(crate) mod run;
mod summary;

pub use advice::advice;
pub use catalogue::{explain, list, machines, references};
pub use checks::{checks, proof, verification};
pub use claims::claims;
pub use comparison::comparison;
pub use experiment::experiment;
pub use export::export;
pub use fleet::fleet;
pub(crate) use glance::{NEAREST, nearest};
pub use glance::{Other, glance, ladder};
pub use history::{changes, histories, runs};
pub use lab::{class, hand_in, labs};
pub use network::network;
pub use reproduction::{places, reproduction};
pub(crate) use summary::brief;
pub use summary::summary;

use crate::comparison::Circumstance;
use crate::document::{Blocks, Piece, Section, Table, TableBuilder, Text};

/// A list of lines, of which only the `first` are shown at first.
fn listed<'a>(lines: &[String], first: usize) -> Blocks<'a> {
    let (first, others) = lines.split_at(lines.len().min(first));
    let title = format!("{} more", others.len());
    Blocks::default()
        .list(first)
        .fold(title, Blocks::default().list(others))
}

/// The heading of a side, and its value of a fact.
type Sided<'h> = (&'h str, fn(&Circumstance) -> &String);

/// The facts that differ between two sides.
fn differing<'t>(
    facts: &'t [Circumstance],
    [left, right]: [Sided<'_>; 2],
) -> TableBuilder<'t, Circumstance> {
    let known = |value: &String| match value.as_str() {
        "" => Piece::from("unknown"),
        value => Piece::from(value),
    };
    Table::of("facts that differ", facts)
        .name("fact", |fact| fact.name.as_str())
        .words(left.0, |fact| known(left.1(fact)))
        .words(right.0, |fact| known(right.1(fact)))
}

/// The method of a page.
fn method<'a, T: Into<Text>>(title: &str, paragraphs: impl IntoIterator<Item = T>) -> Section<'a> {
    Section {
        title: title.into(),
        blocks: Blocks::default().say(paragraphs).0,
    }
}
