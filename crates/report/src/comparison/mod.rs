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
mod measured;
mod one_clock;
mod pair;
mod prospect;
mod remarks;
mod row;
mod side;
mod text;
mod whole;

pub use circumstances::{Circumstance, circumstances};
pub(crate) use circumstances::{changed, facts_of};
use conditions::Conditions;
pub(crate) use conditions::{differences, longer_by_clock, reasons};
pub use json::{FORMAT, json, schema};
pub(crate) use judge::FALSE_DISCOVERY_RATE;
pub use pair::Refusal;
pub(crate) use pair::usable;
pub use prospect::check_comparable;
pub(crate) use row::merit;
pub use row::{Basis, Beside, Resolution, Row, Value, Verdict};
pub use side::Side;
pub use whole::{Excluded, Together};

use crate::show::words::{EQUIVALENT, FASTER, INCONCLUSIVE, NOT_COMPARABLE, SLOWER, UNTESTED};
use one_clock::{OneClock, UNKNOWN_SLOPES};
use std::collections::BTreeMap;

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
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The input.
    pub question: Question<'a>,
    /// Source of the spread.
    pub basis: Basis,
    /// One row for each metric at each point that both sides have, in the order of the first side.
    pub rows: Vec<Row<'a>>,
    /// Values that both sides have but that cannot be compared, with the reason.
    pub refused: Vec<Refusal>,
    /// For each experiment, the number of values that exist only on the first and only on the
    /// second side.
    pub unmatched: BTreeMap<String, [usize; 2]>,
    /// Differences between the machines and their states.
    pub circumstances: Vec<Circumstance>,
    /// Caveats to read before the numbers.
    pub remarks: Vec<String>,
    /// The clock to which the values of all sessions were brought, in Hz; `None` if they are as measured.
    pub clock_hz: Option<f64>,
}

/// The reason why two sides have no comparable value.
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
        if matched.pairs.is_empty() {
            return Err(NothingInCommon {
                a: question.a.label.clone(),
                b: question.b.label.clone(),
                reason: absence::why_empty(&matched.refused, question.a, question.b),
            });
        }
        let basis = judge::basis(&question);
        let conditions = Conditions::of(question.a, question.b);
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
        let facts = circumstances(question.a, question.b);
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
        Counts::by_group(&self.rows)
    }

    /// The differences that the intervals exclude; `None` without intervals.
    pub fn excluded(&self) -> Option<Excluded> {
        Excluded::of(&self.rows)
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
        statements.extend(self.excluded().map(|excluded| excluded.text()));
        statements.extend(self.together().iter().map(Together::text));
        statements
    }

    /// The rows with a difference, the largest first.
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

    /// The rows that are not comparable or undecided, in descending order of their certain difference: that at the near end of
    /// the interval.
    pub fn open(&self) -> Vec<&Row<'a>> {
        let is_open = |row: &&Row<'a>| {
            matches!(
                row.verdict,
                Verdict::NotComparable | Verdict::Inconclusive(_)
            )
        };
        let mut rows: Vec<_> = self.rows.iter().filter(is_open).collect();
        rows.sort_by(|a, b| {
            let certain = b.certain_size().total_cmp(&a.certain_size());
            certain.then_with(|| b.size().total_cmp(&a.size()))
        });
        rows
    }
}

impl Counts {
    /// Counts the verdicts of `rows`.
    pub fn of(rows: &[Row<'_>]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            counts.add(&row.verdict);
        }
        counts
    }

    fn by_group<'a>(rows: &'a [Row<'_>]) -> Vec<(&'a str, Self)> {
        let mut groups: Vec<(&str, Self)> = Vec::new();
        for row in rows {
            let group = row.definition.group();
            let known = groups.iter().position(|(known, _)| *known == group);
            let at = known.unwrap_or_else(|| {
                groups.push((group, Self::default()));
                groups.len() - 1
            });
            groups[at].1.add(&row.verdict);
        }
        groups
    }

    /// Sum of all counts.
    pub fn total(&self) -> usize {
        self.faster
            + self.slower
            + self.equivalent
            + self.not_comparable
            + self.inconclusive
            + self.untested
    }

    /// The verdicts that occur, with their counts: `2 slower, 40 equivalent`.
    pub fn sentence(&self) -> String {
        let parts = [
            (self.faster, FASTER.text.to_owned()),
            (self.slower, SLOWER.text.to_owned()),
            (self.equivalent, EQUIVALENT.text.to_owned()),
            (self.not_comparable, NOT_COMPARABLE.text.to_owned()),
            (self.inconclusive, INCONCLUSIVE.text.to_owned()),
            (
                self.untested,
                format!("{}, next to reported numbers", UNTESTED.text),
            ),
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
            Verdict::NotComparable => &mut self.not_comparable,
            Verdict::Inconclusive(_) => &mut self.inconclusive,
            Verdict::Untested => &mut self.untested,
        } += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Row};
    use instrument::experiment::{Definition, Metric};
    use instrument::point::Point;

    #[test]
    fn a_group_is_counted_once_wherever_its_rows_are() {
        let definition = |id: &str| Definition {
            id: id.into(),
            metrics: vec![Metric::from(&Metric::time("cost", "cost"))],
            ..Definition::default()
        };
        let ids = ["memory.a", "file.a", "memory.b"];
        let (definitions, point) = (ids.map(definition), Point::new());
        let rows = definitions
            .each_ref()
            .map(|it| Row::made_up(it, &point, 1.0));
        let counted: Vec<(&str, usize)> = (Counts::by_group(&rows).into_iter())
            .map(|(group, counts)| (group, counts.equivalent))
            .collect();
        assert_eq!(counted, [("memory", 2), ("file", 1)]);
    }
}
