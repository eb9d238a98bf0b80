//! Statements on all rows of a comparison together: the differences that they exclude, and the rows
//! that moved together.

use super::{Remedy, Row, Verdict};
use crate::lists::by_key;
use crate::show;
use instrument::quantity::Unit;
use instrument::statistics::summary::median;
use schemars::JsonSchema;
use serde::Serialize;

/// Values whose whole interval lies within this share of equality are counted.
const NEAR: f64 = 0.05;
/// Fewer rows that move the same way may be chance.
const LEAST_ROWS: usize = 3;
/// The share of the rows of a metric that must move the same way.
const MOST_ROWS: f64 = 0.75;

/// The differences that the intervals of all rows exclude.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Excluded {
    /// Rows with an interval.
    pub values: usize,
    /// No interval allows the second side to be slower by more than this share: 0.03 for 3 %.
    pub slower_beyond: f64,
    /// The same in the other direction.
    pub faster_beyond: f64,
    /// Rows whose interval lies within `near` of equality.
    pub within: usize,
    /// The share that counts as near: 0.05 for 5 %.
    pub near: f64,
}

/// A metric of an experiment whose values moved together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Together {
    /// The experiment.
    pub experiment: String,
    /// The metric.
    pub metric: String,
    /// Its rows.
    pub values: usize,
    /// Rows that moved the same way by more than the margin.
    pub moved: usize,
    /// The median of the ratios of all its rows.
    pub ratio: f64,
}

/// For each experiment with differences, their number and median; then the experiments without any. Empty
/// if there is no difference at all.
pub(super) fn by_experiment(rows: &[Row<'_>]) -> Vec<String> {
    let mut statements = Vec::new();
    let mut unchanged = Vec::new();
    for (id, rows) in by_key(rows.iter().map(|row| (row.definition.id.as_str(), row))) {
        let with = |verdict: Verdict, word: &str| {
            let changed = rows.iter().filter(|row| row.verdict == verdict);
            let ratios: Vec<f64> = changed.map(|row| row.ratio).collect();
            let ratio = show::ratio(median(&ratios)?);
            let count = ratios.len();
            Some(format!(
                "{count} of {} values {word} ({ratio} by their median)",
                rows.len()
            ))
        };
        let changes = [
            with(Verdict::Faster, "faster"),
            with(Verdict::Slower, "slower"),
        ];
        let changes: Vec<String> = changes.into_iter().flatten().collect();
        if changes.is_empty() {
            unchanged.push(id);
        } else {
            statements.push(format!("{id}: {}.", changes.join(", ")));
        }
    }
    if !statements.is_empty() && !unchanged.is_empty() {
        statements.push(format!("No clear change: {}.", unchanged.join(", ")));
    }
    statements
}

/// The remedies for the inconclusive rows, in one sentence; `None` if there are none.
pub(super) fn remedies(rows: &[Row<'_>]) -> Option<String> {
    let open: Vec<Remedy> = rows.iter().filter_map(|row| row.remedy).collect();
    let needed = || {
        open.iter().filter_map(|remedy| match remedy {
            Remedy::Sessions(count) => Some(*count),
            _ => None,
        })
    };
    let sessions = needed().min().zip(needed().max()).map(|range| match range {
        (fewest, most) if fewest == most => format!("about {most} sessions a side"),
        (fewest, most) => format!("about {fewest} to {most} sessions a side"),
    });
    let count = |wanted| open.iter().filter(|it| **it == wanted).count();
    let parts = [
        (needed().count(), sessions.unwrap_or_default()),
        (count(Remedy::Spread), "more sessions".into()),
        (
            count(Remedy::AtTheMargin),
            "no practical number of sessions, since the difference is at the margin".into(),
        ),
    ];
    let parts: Vec<String> = (parts.iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, remedy)| format!("{remedy} ({count} of {} values)", open.len()))
        .collect();
    (!parts.is_empty()).then(|| format!("To decide the inconclusive: {}.", parts.join("; ")))
}

impl Excluded {
    /// `None` if no row has an interval.
    pub(super) fn of(rows: &[Row<'_>]) -> Option<Self> {
        let intervals: Vec<_> = rows.iter().filter_map(|row| row.interval).collect();
        let lowest = intervals.iter().map(|ends| ends.low).reduce(f64::min)?;
        let highest = intervals.iter().map(|ends| ends.high).reduce(f64::max)?;
        let is_near = |ratio: f64| ratio.ln().abs() <= NEAR.ln_1p();
        let near = intervals
            .iter()
            .filter(|ends| is_near(ends.low) && is_near(ends.high));
        Some(Self {
            values: intervals.len(),
            slower_beyond: (lowest.recip() - 1.0).max(0.0),
            faster_beyond: (highest - 1.0).max(0.0),
            within: near.count(),
            near: NEAR,
        })
    }

    /// The statement for readers. A difference beyond a factor of two excludes nothing that a reader would doubt.
    pub fn text(&self) -> String {
        let percent = |share| Unit::Share.show(share, 2);
        let near = format!(
            "{} of {} are within {} of each other",
            self.within,
            self.values,
            Unit::Share.show(self.near, 1)
        );
        if self.slower_beyond.max(self.faster_beyond) > 1.0 {
            return format!("By their 95 % intervals, {near}.");
        }
        format!(
            "By their 95 % intervals, no value is slower by more than {} or faster by more than {}; {near}.",
            percent(self.slower_beyond),
            percent(self.faster_beyond)
        )
    }
}

impl Together {
    /// The metrics of which most rows moved the same way, the largest move first.
    pub(super) fn of(rows: &[Row<'_>]) -> Vec<Self> {
        let metrics = by_key(rows.iter().map(|row| {
            let name = (row.definition.id.as_str(), row.metric.title.as_str());
            (name, row)
        }));
        let mut moved: Vec<Self> = (metrics.into_iter())
            .filter_map(|((experiment, metric), rows)| Self::one(experiment, metric, &rows))
            .collect();
        moved.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
        moved
    }

    fn one(experiment: &str, metric: &str, rows: &[&Row<'_>]) -> Option<Self> {
        let ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
        let ratio = median(&ratios)?;
        let moved = rows.iter().filter(|row| {
            let beyond = row.size() > row.margin.ln_1p();
            beyond && (row.ratio > 1.0) == (ratio > 1.0)
        });
        let moved = moved.count();
        let is_most = moved >= LEAST_ROWS && moved as f64 >= MOST_ROWS * rows.len() as f64;
        is_most.then(|| Self {
            experiment: experiment.into(),
            metric: metric.into(),
            values: rows.len(),
            moved,
            ratio,
        })
    }

    /// The statement for readers.
    pub fn text(&self) -> String {
        format!(
            "{} of {} values of {} ({}) moved together: B is {} as fast, by their median.",
            self.moved,
            self.values,
            self.experiment,
            self.metric,
            show::ratio(self.ratio)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::{Excluded, Together, by_experiment, remedies};
    use crate::comparison::{Remedy, Verdict};
    use crate::made_up;
    use instrument::experiment::Definition;
    use instrument::point::Point;
    use instrument::statistics::Interval;

    fn rows<'a>(definition: &'a Definition, point: &'a Point, ratios: &[f64]) -> Vec<Row<'a>> {
        let row = |ratio: &f64| Row::made_up(definition, point, *ratio);
        ratios.iter().map(row).collect()
    }

    #[test]
    fn the_widest_ends_of_the_intervals_are_what_is_excluded() {
        let (definition, point) = (made_up::definition("process.made_up"), Point::new());
        let mut rows = rows(&definition, &point, &[1.0, 1.0, 0.9]);
        let excluded = Excluded::of(&rows).unwrap();
        assert_eq!((excluded.values, excluded.within), (3, 2));
        assert_eq!(
            excluded.text(),
            "By their 95 % intervals, no value is slower by more than 13 % or faster by more than \
             2.0 %; 2 of 3 are within 5 % of each other."
        );
        rows[2].interval = Interval::new(1e-6, 1.0);
        assert_eq!(
            Excluded::of(&rows).unwrap().text(),
            "By their 95 % intervals, 2 of 3 are within 5 % of each other."
        );
        for row in &mut rows {
            row.interval = None;
        }
        assert_eq!(Excluded::of(&rows), None);
    }

    #[test]
    fn remedies_count_the_values_that_each_decides() {
        let (definition, point) = (made_up::definition("process.made_up"), Point::new());
        let mut rows = rows(&definition, &point, &[1.0; 4]);
        assert_eq!(remedies(&rows), None);
        let open = [Remedy::Sessions(4), Remedy::Spread, Remedy::Sessions(9)];
        for (row, remedy) in rows.iter_mut().zip(open) {
            row.remedy = Some(remedy);
        }
        assert_eq!(
            remedies(&rows).as_deref(),
            Some(
                "To decide the inconclusive: about 4 to 9 sessions a side (2 of 3 values); more \
                 sessions (1 of 3 values)."
            )
        );
    }

    #[test]
    fn experiments_with_changes_come_first_with_their_medians() {
        let (definition, point) = (made_up::definition("process.made_up"), Point::new());
        let still = made_up::definition("process.still");
        let mut rows = rows(&definition, &point, &[1.5, 1.7, 0.8, 1.0]);
        rows.push(Row::made_up(&still, &point, 1.0));
        assert_eq!(by_experiment(&rows), [""; 0]);
        for (row, verdict) in
            rows.iter_mut()
                .zip([Verdict::Faster, Verdict::Faster, Verdict::Slower])
        {
            row.verdict = verdict;
        }
        assert_eq!(
            by_experiment(&rows),
            [
                "process.made_up: 2 of 4 values faster (1.600 × by their median), 1 of 4 values \
                 slower (0.800 × by their median).",
                "No clear change: process.still."
            ]
        );
    }

    #[test]
    fn values_move_together_where_most_go_the_same_way() {
        let (definition, point) = (made_up::definition("process.made_up"), Point::new());
        let moved = Together::of(&rows(&definition, &point, &[0.9, 0.92, 0.91, 1.0]));
        assert_eq!((moved[0].moved, moved[0].values), (3, 4));
        assert!(moved[0].text().contains("3 of 4 values of process.made_up"));
        for apart in [&[0.9, 0.9, 1.1, 1.1][..], &[0.9, 0.9], &[1.01; 4]] {
            assert_eq!(Together::of(&rows(&definition, &point, apart)), []);
        }
    }
}
