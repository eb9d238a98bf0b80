//! A comparison in words and numbers.

use super::{Comparison, Refusal, Row, Value};
use crate::lists::joined;
use crate::show;
use instrument::quantity::counted;
use instrument::statistics::Interval;

impl Comparison<'_> {
    /// The values without a comparison, one sentence for each reason.
    pub fn left_out(&self) -> Vec<String> {
        let refused = self.refused.iter().map(Refusal::text);
        let unmatched = self.unmatched.iter().flat_map(|(experiment, counts)| {
            [self.question.a, self.question.b]
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| **count > 0)
                .map(move |(side, count)| {
                    let values = counted(*count, "value");
                    format!("{experiment}: {values} only in {}", side.label)
                })
        });
        refused.chain(unmatched).collect()
    }
}

impl Row<'_> {
    /// The point, and that of the other system: `read 1 byte against ReadFile 1 byte, optimisation 3`.
    pub fn shown_point(&self) -> String {
        match self.other_point {
            Some(other) => show::point_against(self.definition, self.point, other.point),
            None => show::point(self.definition, self.point),
        }
    }

    /// Point and metric: `read cold, block size 4 KiB: bandwidth`.
    pub fn place(&self) -> String {
        self.at(self.shown_point())
    }

    /// A point in words, with the metric if there are several.
    pub(crate) fn at(&self, point: String) -> String {
        if self.definition.metrics.len() == 1 && !point.is_empty() {
            return point;
        }
        joined(": ", [&*point, self.metric.title.as_str()])
    }

    /// A side's value with its unit.
    pub fn show(&self, value: &Value) -> String {
        show::value(self.metric.unit, value.centre, self.spread(value))
    }

    /// True if the interval is too wide to show a value of either side.
    pub(super) fn is_vague(&self) -> bool {
        [&self.a, &self.b].map(|side| self.show(side)) == [show::VAGUE; 2]
    }

    /// An interval as wide as the ratio is uncertain: it limits the digits of a value.
    fn spread(&self, value: &Value) -> Option<Interval> {
        self.interval?
            .map(|ratio| value.centre * (ratio / self.ratio))
    }
}
