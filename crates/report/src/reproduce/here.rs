//! The value here of what a figure measures.

use super::printed::{Knee, Query, Side};
use crate::show;
use instrument::point::{Level, Point};
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, PointResult, Results, Verdict};
use instrument::statistics::Interval;
use std::collections::BTreeMap;

/// A place belongs to the plateau if it reaches this share of the best.
pub(super) const NEARLY: f64 = 0.9;

/// Everything measured on one machine: each experiment in one or several runs, the newest first.
pub struct Measurements<'a> {
    results: &'a [Results<'a>],
    failed: &'a [Failed],
}

/// A measurement that this machine refused.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The experiment's id.
    pub experiment: String,
    /// The point, or a level of it alone; all points without one.
    pub point: Option<Point>,
    /// The reason.
    pub reason: String,
}

/// A value here.
#[derive(Clone, Debug)]
pub(crate) struct Here<'a> {
    /// The value in the unit of the figure.
    pub quantity: Quantity,
    /// The point that it was measured at.
    pub point: Option<String>,
    /// The estimate behind it, with the run that made it, and true if it is the time of a rate.
    behind: Option<(usize, &'a Estimate, bool)>,
}

/// The reason why there is no value here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// No run has measured it.
    NotMeasured(Wanted),
    /// It was measured in too few processes for an estimate.
    TooFew(Wanted),
    /// This machine refused to measure it, for this reason.
    Refused(String),
    /// It was measured and cannot be used, for this reason.
    Unsound(String),
}

/// A measurement that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The experiment's id.
    pub experiment: String,
    /// The levels of the point; empty if all of the experiment is missing.
    pub levels: BTreeMap<String, Level>,
}

impl<'a> Measurements<'a> {
    /// Answers from these results. Of one experiment there may be several, the newest first.
    pub fn new(results: &'a [Results<'a>]) -> Self {
        Self {
            results,
            failed: &[],
        }
    }

    /// Names these refusals as the reason where a value is missing.
    #[must_use]
    pub fn refused(self, failed: &'a [Failed]) -> Self {
        Self { failed, ..self }
    }

    /// The value of `query`.
    pub(crate) fn value(&self, query: &Query) -> Result<Here<'a>, Missing> {
        if let Some(knee) = &query.knee {
            return self.knee(query, knee);
        }
        let first = self.at(query, &query.levels)?;
        let Some(levels) = query.second() else {
            return Ok(first);
        };
        let second = self.at(query, &levels)?;
        let quantity = if query.over.is_some() {
            let ratio = first.over(&second);
            ratio.ok_or_else(|| Missing::Unsound("no ratio of them is known".into()))?
        } else {
            first.quantity.minus(second.quantity)
        };
        Ok(Here {
            quantity,
            behind: None,
            ..first
        })
    }

    /// The newest sound value at the first point with these levels.
    fn at(&self, query: &Query, levels: &BTreeMap<String, Level>) -> Result<Here<'a>, Missing> {
        let version = query.metric().map(|metric| metric.version);
        let mut unsound = None;
        for (run, results) in self.results.iter().enumerate() {
            let definition = results.definition;
            let stored = definition.metric(&query.metric);
            if definition.id != query.experiment || stored.map(|metric| metric.version) != version {
                continue;
            }
            // A level that only the user chose, such as another slice, is not one that the report had.
            let is_usual = |point: &Point| {
                let mut axes = point.levels().map(|(axis, _)| axis);
                axes.all(|axis| levels.contains_key(axis) || !is_optional(&definition.id, axis))
            };
            let fits = |result: &&PointResult| {
                levels
                    .iter()
                    .all(|(axis, level)| result.point.get(axis) == Some(level))
                    && is_usual(&result.point)
            };
            for result in results.points.iter().filter(fits) {
                match result.estimate(&query.metric) {
                    Some(estimate) if estimate.is_sound() => {
                        let quantity = estimate.quantity();
                        return Ok(Here {
                            quantity: match query.inverse_of {
                                Some(work) => inverse(quantity, work),
                                None => quantity,
                            },
                            point: Some(definition.show(&result.point)),
                            behind: Some((run, estimate, query.inverse_of.is_some())),
                        });
                    }
                    Some(estimate) => unsound = unsound.or(Some(estimate)),
                    None => {}
                }
            }
        }
        Err(match unsound {
            Some(estimate) if estimate.verdict == Verdict::TooFew => {
                Missing::TooFew(self.wanted(query, levels))
            }
            Some(estimate) => Missing::Unsound(show::estimate(estimate.unit, estimate)),
            None => self.missing(query, levels),
        })
    }

    /// The reason why nothing was measured at these levels.
    fn missing(&self, query: &Query, levels: &BTreeMap<String, Level>) -> Missing {
        let is_it = |failed: &&Failed| {
            // A refused level refuses all points that have it.
            let fits = |point: &Point| {
                let mut refused = point.levels();
                let mut wanted = levels.iter();
                wanted.all(|(axis, level)| point.get(axis) == Some(level))
                    || refused.all(|(axis, level)| levels.get(axis) == Some(level))
            };
            failed.experiment == query.experiment && failed.point.as_ref().is_none_or(fits)
        };
        match self.failed.iter().find(is_it) {
            Some(failed) => Missing::Refused(failed.reason.clone()),
            None => Missing::NotMeasured(self.wanted(query, levels)),
        }
    }

    /// The measurement that is missing: the whole experiment if no run has it, else the point.
    fn wanted(&self, query: &Query, levels: &BTreeMap<String, Level>) -> Wanted {
        let is_known = |results: &Results<'_>| results.definition.id == query.experiment;
        Wanted {
            experiment: query.experiment.clone(),
            levels: if self.results.iter().any(is_known) {
                levels.clone()
            } else {
                BTreeMap::new()
            },
        }
    }

    /// A place on the curve through the query's levels.
    fn knee(&self, query: &Query, knee: &Knee) -> Result<Here<'a>, Missing> {
        let missing = || self.missing(query, &query.levels);
        let curve = |metric| self.curve(query, metric, &knee.along).ok_or_else(missing);
        let whole = curve(&query.metric)?;
        let (top, ratios) = match &knee.less {
            None => of_best(&whole),
            Some(less) => differences_of_best(&whole, &curve(less)?),
        }
        .ok_or_else(missing)?;
        let unsound = || Missing::Unsound("the curve shows no such place".into());
        let place = place(&ratios, knee.side, top as f64).ok_or_else(unsound)?;
        Ok(Here {
            quantity: place,
            point: None,
            behind: None,
        })
    }

    /// The newest curve with three places or more.
    fn curve(&self, query: &Query, metric: &str, along: &str) -> Option<Vec<(u64, &'a Estimate)>> {
        self.results.iter().find_map(|results| {
            if results.definition.id != query.experiment {
                return None;
            }
            let levels = &query.levels;
            let mut curve: Vec<(u64, &Estimate)> = Vec::new();
            for result in &results.points {
                let fits = |(axis, level): (&String, &Level)| result.point.get(axis) == Some(level);
                let place = result.point.get(along).and_then(Level::number);
                let value = result.sound(metric);
                if let (Some(x), Some(value), true) = (place, value, levels.iter().all(fits)) {
                    // If another axis varies too, the first point of each place counts.
                    if !curve.iter().any(|(other, _)| *other == x) {
                        curve.push((x, value));
                    }
                }
            }
            curve.sort_by_key(|(x, _)| *x);
            (curve.len() >= 3).then_some(curve)
        })
    }
}

/// The place of the best value of a curve, and each value as its share of the best.
type Shares = (u64, Vec<(f64, Quantity)>);

fn of_best(curve: &[(u64, &Estimate)]) -> Option<Shares> {
    let (top, best) = *(curve.iter()).max_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre))?;
    let shares = curve.iter().filter_map(|(x, estimate)| {
        let share = Quantity::estimated(&estimate.ratio_to(best)?, Unit::Ratio);
        Some((*x as f64, share))
    });
    Some((top, shares.collect()))
}

/// As [`of_best`], of the first curve less the second.
fn differences_of_best(curve: &[(u64, &Estimate)], less: &[(u64, &Estimate)]) -> Option<Shares> {
    let difference = |(x, value): &(u64, &Estimate)| {
        let (_, less) = less.iter().find(|(measured, _)| measured == x)?;
        Some((*x, value.quantity().minus(less.quantity())))
    };
    let all: Vec<(u64, Quantity)> = curve.iter().filter_map(difference).collect();
    let (top, best) = *(all.iter()).max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
    // Where nothing is gained, the difference is no share of the best.
    let share = |difference: Quantity| difference.over(best).unwrap_or(difference.times(0.0));
    let shares = all
        .iter()
        .map(|(x, difference)| (*x as f64, share(*difference)));
    Some((top, shares.collect()))
}

/// True if planned points of this experiment have no level on this axis.
fn is_optional(experiment: &str, axis: &str) -> bool {
    experiments::find(experiment).is_some_and(|experiment| {
        let mut open = experiment.open_axes().iter();
        open.any(|open| open.name == axis && open.is_optional)
    })
}

/// The place on a curve, each point of which is given as its share of the best. The interval goes from
/// the place that may be it to the one that certainly is.
pub(super) fn place(ratios: &[(f64, Quantity)], side: Side, top: f64) -> Option<Quantity> {
    let low = |ratio: &Quantity| ratio.extent().low;
    let high = |ratio: &Quantity| ratio.extent().high;
    let reaches = |share: fn(&Quantity) -> f64, from_end: bool| -> Option<f64> {
        let holds = |(_, ratio): &&(f64, Quantity)| share(ratio) >= NEARLY;
        let last = if from_end {
            ratios.iter().rev().take_while(holds).last()
        } else {
            ratios.iter().take_while(holds).last()
        };
        last.map(|(x, _)| *x)
    };
    let centre = |ratio: &Quantity| ratio.value;
    let (value, one, other) = match side {
        Side::From => (
            reaches(centre, true),
            reaches(high, true),
            reaches(low, true),
        ),
        Side::Until => (
            reaches(centre, false),
            reaches(low, false),
            reaches(high, false),
        ),
        Side::Best => {
            let near = || ratios.iter().filter(|(_, ratio)| high(ratio) >= 1.0);
            (
                Some(top),
                near().next().map(|(x, _)| *x),
                near().next_back().map(|(x, _)| *x),
            )
        }
    };
    let value = value?;
    let (one, other) = (one.unwrap_or(value), other.unwrap_or(value));
    Some(Quantity {
        value,
        interval: Interval::new(one.min(value), other.max(value)),
        unit: Unit::Bytes,
    })
}

impl Here<'_> {
    /// This value over `other`. What changes from pass to pass cancels if one run measured both.
    pub(crate) fn over(&self, other: &Self) -> Option<Quantity> {
        if let (Some((run, above, is_time)), Some((same, below, _))) = (self.behind, other.behind)
            && run == same
        {
            let ratio = if is_time {
                below.ratio_to(above)
            } else {
                above.ratio_to(below)
            };
            return Some(Quantity::estimated(&ratio?, Unit::Ratio));
        }
        self.quantity.over(other.quantity)
    }
}

/// The time in ns of this work at `rate` per second.
pub(crate) fn inverse(rate: Quantity, work: f64) -> Quantity {
    let time = |per_second: f64| work * 1e9 / per_second;
    Quantity {
        value: time(rate.value),
        interval: rate
            .interval
            .and_then(|rate| Interval::new(time(rate.high), time(rate.low))),
        unit: Unit::Nanoseconds,
    }
}

#[cfg(test)]
mod tests {
    use super::{inverse, place};
    use crate::reproduce::printed::Side;
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;

    fn share(value: f64, half: f64) -> Quantity {
        Quantity {
            value,
            interval: Interval::new(value - half, value + half),
            unit: Unit::Ratio,
        }
    }

    #[test]
    fn a_plateau_begins_where_all_that_follows_is_nearly_the_best() {
        let curve = [
            (1.0, share(0.3, 0.01)),
            (2.0, share(0.89, 0.05)),
            (4.0, share(0.95, 0.01)),
            (8.0, share(1.0, 0.01)),
        ];
        let found = place(&curve, Side::From, 8.0).expect("it has one");
        let interval = found.interval.expect("it has one");
        assert_eq!((found.value, interval.low, interval.high), (4.0, 2.0, 4.0));
        let best = place(&curve, Side::Best, 8.0).expect("it has one");
        assert_eq!(best.interval, Interval::new(8.0, 8.0));
        assert!(place(&curve, Side::Until, 8.0).is_none());
    }

    #[test]
    fn a_rate_is_the_time_of_work_and_its_interval_turns_round() {
        let rate = Quantity {
            value: 2.0,
            interval: Interval::new(1.0, 4.0),
            unit: Unit::BytesPerSecond,
        };
        let time = inverse(rate, 4.0);
        assert_eq!((time.value, time.unit), (2e9, Unit::Nanoseconds));
        assert_eq!(time.interval, Interval::new(1e9, 4e9));
    }
}
