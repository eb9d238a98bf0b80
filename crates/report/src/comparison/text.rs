//! Text and numbers of a comparison, shared by the terminal, Markdown and the page.

use super::{Comparison, Row, Side, Value};
use crate::show;
use instrument::quantity::{Unit, significant};
use instrument::statistics::Interval;

impl Comparison<'_> {
    /// Sides and counts: `12,13,14 against 9: 2 slower, 40 equivalent`.
    pub fn headline(&self) -> String {
        format!(
            "{} against {}: {}",
            self.question.b.title(),
            self.question.a.title(),
            self.counts().sentence()
        )
    }

    /// The values without a comparison, one sentence for each reason.
    pub fn left_out(&self) -> Vec<String> {
        let refused = self.refused.iter().map(|refusal| {
            format!(
                "{} {} ({}): {}",
                refusal.experiment,
                refusal.metric,
                values(refusal.values),
                refusal.reason
            )
        });
        let unmatched = self.unmatched.iter().flat_map(|(experiment, counts)| {
            [self.question.a, self.question.b]
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| **count > 0)
                .map(move |(side, count)| only(experiment, side, *count))
        });
        refused.chain(unmatched).collect()
    }
}

fn only(experiment: &str, side: &Side, count: usize) -> String {
    format!("{experiment}: {} only in {}", values(count), side.label)
}

fn values(count: usize) -> String {
    match count {
        1 => "1 value".into(),
        count => format!("{count} values"),
    }
}

impl Row<'_> {
    /// The point, and that of the other system: `read 1 byte beside ReadFile 1 byte, optimisation 3`.
    pub fn shown_point(&self) -> String {
        match self.beside {
            Some(beside) => show::point_beside(self.definition, self.point, beside.point),
            None => show::point(self.definition, self.point),
        }
    }

    /// Point and metric: `read cold, block size 4 KiB: bandwidth`.
    pub fn place(&self) -> String {
        let point = self.shown_point();
        match (point.is_empty(), self.definition.metrics.len()) {
            (true, _) => self.metric.title.clone(),
            (false, 1) => point,
            (false, _) => format!("{point}: {}", self.metric.title),
        }
    }

    /// A side's value with its unit.
    pub fn show(&self, value: &Value) -> String {
        show::value(self.metric.unit, value.centre, self.spread(value))
    }

    /// An interval as wide as the ratio is uncertain: it limits the digits of a value.
    fn spread(&self, value: &Value) -> Option<Interval> {
        let interval = self.interval?;
        let (low, high) = (interval.low / self.ratio, interval.high / self.ratio);
        Interval::new(value.centre * low, value.centre * high)
    }

    /// The ratio: `1.052 ×`.
    pub fn shown_ratio(&self) -> String {
        show_ratio(self.ratio)
    }

    /// The interval of the ratio: `1.031 to 1.074`; empty if there is none.
    pub fn shown_interval(&self) -> String {
        self.interval.map_or_else(String::new, show_interval)
    }

    /// The ratio with its interval: `1.052 × (1.031 to 1.074)`.
    pub fn shown_ratio_with_interval(&self) -> String {
        match self.interval {
            Some(interval) => format!("{} ({})", self.shown_ratio(), show_interval(interval)),
            None => self.shown_ratio(),
        }
    }
}

/// The interval of a ratio.
pub(crate) fn show_interval(ends: Interval) -> String {
    let end = |end: f64| significant(end, digits(end));
    format!("{} to {}", end(ends.low), end(ends.high))
}

/// A ratio with enough digits to distinguish it from 1.
pub(crate) fn show_ratio(ratio: f64) -> String {
    Unit::Ratio.show(ratio, digits(ratio))
}

/// Near 1, a difference of 1 % matters; far from 1, only the leading digits do.
fn digits(ratio: f64) -> usize {
    match ratio {
        0.1..1.0 => 3,
        1.0..10.0 => 4,
        _ => 3,
    }
}
