//! Two sides, each one or several runs of the same plan, set beside each other: what is faster on
//! the second, what is slower, what is the same, and what cannot be told.
//!
//! # Method
//!
//! The unit of comparison is a *session*, one whole run: what differs from start to start of the
//! machine's mood shows only between sessions. Each session gives one value of a metric at a point;
//! the difference of the means of their logarithms is the ratio of the sides. With so few sessions
//! the spread of a single metric is hardly known, so spreads are drawn towards what all metrics
//! together show ([`moderation`](instrument::statistics::moderation)). A difference counts only
//! where it is larger than a margin of 2 %, or than what sessions of an unchanged machine differ
//! by, and the share of false discoveries is held below 5 %
//! ([`discovery`](instrument::statistics::discovery)).

mod circumstances;
mod json;
mod judge;
mod markdown;
mod pair;
mod remarks;
mod row;
mod side;
mod text;

pub use circumstances::{Circumstance, circumstances};
pub use json::{FORMAT, json, schema};
pub(crate) use markdown::escaped;
pub use markdown::markdown;
pub use pair::Refusal;
pub use row::{Basis, Resolution, Row, Value, Verdict};
pub use side::Side;
pub(crate) use text::show_ratio;

use std::collections::BTreeMap;

/// What is asked of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What the second side is held against.
    pub a: &'a Side,
    /// The side that is judged.
    pub b: &'a Side,
    /// Sessions of one unchanged machine, whose spread sets the margin of each metric.
    pub baseline: Option<&'a Side>,
    /// Differences up to this are of no interest: 0.02 for 2 %.
    pub margin: f64,
}

/// The margin where nothing else is said.
pub const MARGIN: f64 = 0.02;

/// Two sides beside each other.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// What was asked.
    pub question: Question<'a>,
    /// Where the spread comes from.
    pub basis: Basis,
    /// A row for each metric at each point that both sides have, in the order of the first.
    pub rows: Vec<Row<'a>>,
    /// What both sides have and that cannot be compared, and why.
    pub refused: Vec<Refusal>,
    /// Values that only the first or only the second side has, by experiment.
    pub unmatched: BTreeMap<String, [usize; 2]>,
    /// In what the machines and their states differ.
    pub circumstances: Vec<Circumstance>,
    /// What a reader must know before the numbers.
    pub remarks: Vec<String>,
}

/// Why two sides have nothing to be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{a} and {b} have nothing in common that could be compared: {reason}")]
pub struct NothingInCommon {
    a: String,
    b: String,
    reason: String,
}

/// Number of rows with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Counts {
    /// Better on the second side.
    pub faster: usize,
    /// Worse on the second side.
    pub slower: usize,
    /// The same within the margin.
    pub equivalent: usize,
    /// Not told by these sessions.
    pub inconclusive: usize,
    /// Beside numbers that came without their spread.
    pub untested: usize,
}

impl<'a> Comparison<'a> {
    /// Compares what both sides of `question` have.
    ///
    /// # Errors
    /// Where that is nothing.
    pub fn new(question: Question<'a>) -> Result<Self, NothingInCommon> {
        let matched = pair::matched(question.a, question.b, question.baseline);
        if matched.pairs.is_empty() {
            return Err(NothingInCommon {
                a: question.a.label.clone(),
                b: question.b.label.clone(),
                reason: matched.why_empty(question.a, question.b),
            });
        }
        let basis = judge::basis(&question);
        let rows = judge::rows(matched.pairs, basis, question.margin);
        Ok(Self {
            basis,
            circumstances: circumstances(question.a, question.b),
            remarks: remarks::remarks(&question, basis, &rows),
            rows,
            refused: matched.refused,
            unmatched: matched.unmatched,
            question,
        })
    }

    /// How many rows have each verdict.
    pub fn counts(&self) -> Counts {
        Counts::of(&self.rows)
    }

    /// The counts of each group of experiments, in the order of the rows, where groups stand together.
    pub fn groups(&self) -> Vec<(&str, Counts)> {
        let mut groups: Vec<(&str, Counts)> = Vec::new();
        for row in &self.rows {
            let group = row.definition.group();
            if groups.last().is_none_or(|(last, _)| *last != group) {
                groups.push((group, Counts::default()));
            }
            if let Some((_, counts)) = groups.last_mut() {
                counts.add(&row.verdict);
            }
        }
        groups
    }

    /// The rows whose verdict is a difference, the largest first.
    pub fn differences(&self) -> Vec<&Row<'a>> {
        let is_different = |row: &&Row<'a>| {
            matches!(
                row.verdict,
                Verdict::Faster | Verdict::Slower | Verdict::Untested
            )
        };
        let mut rows: Vec<_> = self.rows.iter().filter(is_different).collect();
        rows.sort_by(|a, b| b.size().total_cmp(&a.size()));
        rows
    }

    /// The rows that these sessions do not decide, those first that differ by most at the near end of
    /// their interval.
    pub fn open(&self) -> Vec<&Row<'a>> {
        let is_open = |row: &&Row<'a>| matches!(row.verdict, Verdict::Inconclusive(_));
        let mut rows: Vec<_> = self.rows.iter().filter(is_open).collect();
        rows.sort_by(|a, b| {
            let certain = b.certain_size().total_cmp(&a.certain_size());
            certain.then_with(|| b.size().total_cmp(&a.size()))
        });
        rows
    }
}

impl Counts {
    /// Of some rows.
    pub fn of(rows: &[Row<'_>]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            counts.add(&row.verdict);
        }
        counts
    }

    /// All together.
    pub fn total(&self) -> usize {
        self.faster + self.slower + self.equivalent + self.inconclusive + self.untested
    }

    /// Names and numbers of the verdicts that some row has: `2 slower, 40 equivalent`.
    pub fn sentence(&self) -> String {
        let parts = [
            (self.faster, "faster"),
            (self.slower, "slower"),
            (self.equivalent, "equivalent"),
            (self.inconclusive, "inconclusive"),
            (self.untested, "beside reported numbers, not tested"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, verdict)| format!("{count} {verdict}"))
            .collect();
        parts.join(", ")
    }

    fn add(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Faster => &mut self.faster,
            Verdict::Slower => &mut self.slower,
            Verdict::Equivalent => &mut self.equivalent,
            Verdict::Inconclusive(_) => &mut self.inconclusive,
            Verdict::Untested => &mut self.untested,
        } += 1;
    }
}
