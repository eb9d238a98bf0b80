//! Comparison of two sides, each one or several runs of the same plan: which values are faster on
//! the second side, slower, the same, or undecided.
//!
//! # Method
//!
//! The unit of comparison is a *session*, one whole run: some variation of a machine appears only
//! between sessions. Each session gives one value of a metric at a point. The difference of the
//! mean logarithms is the ratio of the sides. So few sessions say little about the spread of a
//! single metric, so the spreads are shrunk towards the spread of all metrics together
//! ([`moderation`](instrument::statistics::moderation)). A difference counts only if it exceeds a
//! margin: 2 %, or the difference between sessions of an unchanged machine. The false discovery
//! rate stays below 5 % ([`discovery`](instrument::statistics::discovery)).

mod absence;
mod circumstances;
mod conditions;
mod json;
mod judge;
mod one_clock;
mod pair;
mod remarks;
mod row;
mod sessions;
mod side;
mod text;
mod whole;

pub use absence::check_comparable;
pub use circumstances::{Circumstance, circumstances};
pub(crate) use circumstances::{Facts, changed, differing, facts_of, united};
use conditions::Conditions;
pub(crate) use conditions::{differences, longer_by_clock, reasons};
pub use json::{FORMAT, json, schema};
pub(crate) use judge::FALSE_DISCOVERY_RATE;
pub use pair::Refusal;
pub(crate) use pair::{each_value, usable};
pub use row::{Basis, OtherPoint, Remedy, Row, Value, Verdict};
pub(crate) use row::{merit, towards_better};
pub use side::Side;
pub use whole::{Excluded, Together};

use crate::lists::{by_key, counts};
use crate::show::words::{EQUIVALENT, FASTER, INCONCLUSIVE, NOT_COMPARABLE, SLOWER, UNTESTED};
use instrument::quantity::counted;
use one_clock::{OneClock, UNKNOWN_SLOPES};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Of the metrics whose values moved together, those that a reader sees.
const FOREMOST: usize = 6;

/// The input of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The reference side.
    pub a: &'a Side,
    /// The side under judgement.
    pub b: &'a Side,
    /// Sessions of one unchanged machine, whose spread sets the margin of each metric.
    pub baseline: Option<&'a Side>,
    /// Differences up to this are ignored: 0.02 for 2 %.
    pub margin: f64,
}

/// The default margin.
pub const MARGIN: f64 = 0.02;

/// A comparison of two sides.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comparison<'a> {
    /// The input.
    #[serde(skip)]
    pub question: Question<'a>,
    /// Source of the spread.
    pub basis: Basis,
    /// One row for each metric at each point that both sides have, in the order of the first side.
    #[serde(skip)]
    pub rows: Vec<Row<'a>>,
    /// Values that cannot be compared.
    pub refused: Vec<Refusal>,
    /// For each experiment, the number of values that exist only on the first and only on the
    /// second side.
    pub unmatched: BTreeMap<String, [usize; 2]>,
    /// Differences between the machines, their states and what disturbed them.
    pub circumstances: Vec<Circumstance>,
    /// Caveats to read before the numbers.
    pub remarks: Vec<String>,
    /// The clock to which the values of all sessions were brought, in Hz; `null` if they are as measured.
    pub clock_hz: Option<f64>,
}

/// The reason why two sides have no comparable value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NothingInCommon(String);

/// Number of rows with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Better on the second side.
    pub faster: usize,
    /// Worse on the second side.
    pub slower: usize,
    /// The same within the margin.
    pub equivalent: usize,
    /// Different, on sides whose conditions differed.
    pub not_comparable: usize,
    /// Not decided by these sessions.
    pub inconclusive: usize,
    /// Not tested, because one side has no spread.
    pub untested: usize,
}

impl<'a> Comparison<'a> {
    /// Compares all values that both sides of `question` have.
    ///
    /// # Errors
    /// [`NothingInCommon`] if no value can be compared.
    pub fn new(question: Question<'a>) -> Result<Self, NothingInCommon> {
        let clock = OneClock::of(&question);
        let matched = pair::matched(&question, clock.as_ref());
        let Question { a, b, .. } = question;
        if matched.pairs.is_empty() {
            let reason = absence::why_empty(&matched.refused, a, b);
            return Err(absence::nothing(&a.label, &b.label, &reason));
        }
        let basis = judge::basis(&question);
        let conditions = Conditions::of(a, b);
        let is_alike = conditions.reasons.is_empty();
        let judged = |clock: Option<(&OneClock, f64)>| {
            let pairs = matched.pairs.iter().cloned();
            let pairs = pairs.map(|pair| pair.prepared(clock)).collect();
            judge::rows(pairs, basis, question.margin, is_alike)
        };
        let mut rows = judged(None);
        let by_clock = clock.as_ref().map(|clock| {
            let [least, most] = UNKNOWN_SLOPES.map(|slope| judged(Some((clock, slope))));
            let before = std::mem::replace(&mut rows, one_clock::agreed(least, most));
            clock.text(&before, &rows)
        });
        let facts = circumstances(a, b);
        Ok(Self {
            basis,
            remarks: remarks::remarks(&question, basis, &rows, &conditions, &facts, by_clock),
            clock_hz: clock.map(|clock| clock.hz),
            circumstances: [conditions.differences, facts].concat(),
            rows,
            refused: matched.refused,
            unmatched: matched.unmatched,
            question,
        })
    }

    /// Number of rows with each verdict.
    pub fn counts(&self) -> Counts {
        Counts::of(&self.rows)
    }

    /// The counts of each group of experiments, in the order of their first rows.
    pub fn groups(&self) -> Vec<(&str, Counts)> {
        let rows = self.rows.iter().map(|row| (row.definition.group(), row));
        let groups = by_key(rows).into_iter();
        groups
            .map(|(group, rows)| (group, Counts::of(rows)))
            .collect()
    }

    /// The metrics whose values moved together, the largest move first; none where the sides are not
    /// comparable, since all values of a metric move with a condition.
    pub fn together(&self) -> Vec<Together> {
        if self.counts().not_comparable > 0 {
            return Vec::new();
        }
        Together::of(&self.rows)
    }

    /// Statements on all rows together, for readers.
    pub fn statements(&self) -> Vec<String> {
        let mut statements = whole::by_experiment(&self.rows);
        statements.extend(whole::remedies(&self.rows));
        statements.extend(Excluded::of(&self.rows).map(|excluded| excluded.text()));
        let together = self.together();
        let (foremost, rest) = together.split_at(together.len().min(FOREMOST));
        statements.extend(foremost.iter().map(Together::text));
        if !rest.is_empty() {
            let more = counted(rest.len() as u64, "more metric");
            statements.push(format!(
                "The values of {more} moved together; `--json` lists them."
            ));
        }
        statements
    }

    /// The rows with a difference, the largest certain one first.
    pub fn differences(&self) -> Vec<&Row<'a>> {
        self.by_certainty(&[Verdict::Faster, Verdict::Slower, Verdict::Untested])
    }

    /// The rows that are not comparable or undecided, the largest certain difference first.
    pub fn open(&self) -> Vec<&Row<'a>> {
        self.by_certainty(&[Verdict::NotComparable, Verdict::Inconclusive])
    }

    fn by_certainty(&self, verdicts: &[Verdict]) -> Vec<&Row<'a>> {
        let rows = self.rows.iter();
        let mut rows: Vec<_> = rows.filter(|row| verdicts.contains(&row.verdict)).collect();
        rows.sort_by(|one, other| one.by_certainty(other));
        rows
    }
}

impl Counts {
    /// Counts the verdicts of `rows`.
    pub fn of<'r, 'a: 'r>(rows: impl IntoIterator<Item = &'r Row<'a>>) -> Self {
        let mut counts = Self::default();
        for row in rows {
            *match row.verdict {
                Verdict::Faster => &mut counts.faster,
                Verdict::Slower => &mut counts.slower,
                Verdict::Equivalent => &mut counts.equivalent,
                Verdict::NotComparable => &mut counts.not_comparable,
                Verdict::Inconclusive => &mut counts.inconclusive,
                Verdict::Untested => &mut counts.untested,
            } += 1;
        }
        counts
    }

    /// Sum of all counts.
    pub fn total(&self) -> usize {
        self.parts().iter().map(|(count, _)| count).sum()
    }

    /// The verdicts that occur, with their counts: `2 slower, 40 equivalent`.
    pub fn sentence(&self) -> String {
        let next_to = if self.untested > 0 {
            ", next to reported numbers"
        } else {
            ""
        };
        counts(self.parts()) + next_to
    }

    fn parts(&self) -> [(usize, &'static str); 6] {
        [
            (self.faster, FASTER.text),
            (self.slower, SLOWER.text),
            (self.equivalent, EQUIVALENT.text),
            (self.not_comparable, NOT_COMPARABLE.text),
            (self.inconclusive, INCONCLUSIVE.text),
            (self.untested, UNTESTED.text),
        ]
    }
}
