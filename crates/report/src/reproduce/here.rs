//! The value here of what a figure measures.

use super::printed::{Knee, Picture, Query, Side};
use crate::show;
use instrument::claim::Ruling;
use instrument::curve::{Curve, MARGIN, Open, crossover};
use instrument::definition::Better;
use instrument::plan::Profile;
use instrument::point::{Level, Point};
use instrument::quantity::{Bytes, Quantity, Unit};
use instrument::results::{Estimate, PointResult, Results, Verdict};
use instrument::statistics::Interval;
use std::collections::BTreeMap;

/// Everything measured on one machine: each experiment in one or several runs, the newest first.
pub struct Measurements<'a> {
    results: &'a [Results<'a>],
    failed: &'a [Failed],
}

/// The name of a processor whose model is not known.
const NAMELESS: &str = "a machine without a name";

/// A value that is known as well as this is not measured again: more time would not decide what it leaves open.
const PRECISE: f64 = Profile::Standard.precision().target;

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
    /// The measurements behind it that are less precise than the standard profile wants.
    pub wide: Vec<Wanted>,
    behind: Option<Behind<'a>>,
}

/// The estimate behind a value.
#[derive(Clone, Copy, Debug)]
struct Behind<'a> {
    /// The run that made it.
    run: usize,
    estimate: &'a Estimate,
    /// True if the value is the time of work at the rate that was estimated.
    is_time: bool,
    /// The value is this many times that of the metric, or the time of this work.
    work: f64,
}

/// The reason why there is no value here, and the measurement that would give it one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub reason: String,
    pub wanted: Option<Wanted>,
}

/// The reason for a figure of Windows without such a run.
pub(super) const NEEDS_WINDOWS: &str =
    "printed for Windows: it needs a run that was made on Windows, here or imported (`--of`)";

impl Missing {
    /// No measurement would give it a value.
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            wanted: None,
        }
    }

    /// Both values are there, and nothing is known of their ratio.
    pub(crate) fn ratio() -> Self {
        Self::because("no ratio of them is known")
    }

    fn refused(reason: &str) -> Self {
        Self::because(format!("it could not be measured here: {reason}"))
    }

    /// No run has measured it.
    fn not_measured(wanted: Wanted) -> Self {
        let reason = match (wanted.levels.is_empty(), &wanted.experiment) {
            (true, _) => "not measured here yet".to_owned(),
            (false, experiment) => format!(
                "not measured here yet: no run of {experiment} here has the point; the quick profile leaves some out"
            ),
        };
        Self {
            reason,
            wanted: Some(wanted),
        }
    }
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
    /// Answers from these results. Of one experiment there may be several, the newest first. What `failed` is the
    /// reason where a value is missing.
    pub fn new(results: &'a [Results<'a>], failed: &'a [Failed]) -> Self {
        Self { results, failed }
    }

    /// The model of the processor that the newest of them were measured on.
    pub(crate) fn machine(&self) -> &'a str {
        let newest = self.results.first();
        newest
            .and_then(|results| results.machine.cpu.model.as_deref())
            .unwrap_or(NAMELESS)
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
            ratio.ok_or_else(Missing::ratio)?
        } else {
            first.quantity.minus(second.quantity)
        };
        Ok(Here {
            quantity,
            wide: [first.wide.as_slice(), &second.wide].concat(),
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
            let fits = |result: &&PointResult| fits(&definition.id, &result.point, levels);
            for result in results.points.iter().filter(fits) {
                match result.estimate(&query.metric) {
                    Some(estimate) if estimate.is_sound() => {
                        let quantity = estimate.quantity();
                        let times = query.times.unwrap_or(1.0);
                        let precision = quantity.relative_half_width();
                        let is_wide = precision.is_none_or(|half| half > PRECISE);
                        return Ok(Here {
                            wide: (is_wide.then(|| self.wanted(&definition.id, levels)))
                                .into_iter()
                                .collect(),
                            quantity: match query.inverse_of {
                                Some(work) => inverse(quantity, work),
                                None => quantity.times(times),
                            },
                            point: Some(definition.show(&result.point)),
                            behind: Some(Behind {
                                run,
                                estimate,
                                is_time: query.inverse_of.is_some(),
                                work: query.inverse_of.unwrap_or(times),
                            }),
                        });
                    }
                    Some(estimate) => unsound = unsound.or(Some(estimate)),
                    None => {}
                }
            }
        }
        Err(match unsound {
            Some(estimate) if estimate.verdict == Verdict::TooFew => Missing {
                reason: "measured here in too few processes for an interval: it takes more time"
                    .into(),
                wanted: Some(self.wanted(&query.experiment, levels)),
            },
            Some(estimate) => Missing::because(show::estimate(estimate.unit, estimate)),
            None => self.missing(&query.experiment, levels),
        })
    }

    /// The reason why nothing was measured at these levels.
    pub(super) fn missing(&self, experiment: &str, levels: &BTreeMap<String, Level>) -> Missing {
        let is_it = |failed: &&Failed| {
            // A refused level refuses all points that have it.
            let fits = |point: &Point| {
                let mut refused = point.levels();
                has(point, levels) || refused.all(|(axis, level)| levels.get(axis) == Some(level))
            };
            failed.experiment == experiment && failed.point.as_ref().is_none_or(fits)
        };
        match self.failed.iter().find(is_it) {
            Some(failed) => Missing::refused(&failed.reason),
            None => Missing::not_measured(self.wanted(experiment, levels)),
        }
    }

    /// The reason why nothing of an experiment was measured. A refused level refuses other levels nothing.
    pub(super) fn missing_whole(&self, experiment: &str) -> Missing {
        let mut failed = self.failed.iter();
        match failed.find(|it| it.experiment == experiment && it.point.is_none()) {
            Some(failed) => Missing::refused(&failed.reason),
            None => Missing::not_measured(self.wanted(experiment, &BTreeMap::new())),
        }
    }

    /// The measurement that is missing: the whole experiment if no run has it, else the point.
    fn wanted(&self, experiment: &str, levels: &BTreeMap<String, Level>) -> Wanted {
        Wanted {
            experiment: experiment.to_owned(),
            levels: if self.has(experiment) {
                levels.clone()
            } else {
                BTreeMap::new()
            },
        }
    }

    /// True if a run has the experiment.
    pub(super) fn has(&self, experiment: &str) -> bool {
        let mut results = self.results.iter();
        results.any(|results| results.definition.id == experiment)
    }

    /// True if a run has a point with the levels that the picture needs, or if it needs none.
    pub(super) fn has_point(&self, picture: &Picture) -> bool {
        let mut results = self.results.iter();
        picture.levels.is_empty()
            || results.any(|results| {
                let mut points = results.points.iter();
                results.definition.id == picture.experiment
                    && points.any(|it| has(&it.point, &picture.levels))
            })
    }

    /// A place on the curve through the query's levels, by the same rules as in findings.
    fn knee(&self, query: &Query, knee: &Knee) -> Result<Here<'a>, Missing> {
        let missing = || self.missing(&query.experiment, &query.levels);
        let curve = |metric| self.curve(query, metric, &knee.along).ok_or_else(missing);
        let whole = curve(&query.metric)?;
        let place = match &knee.less {
            None => place(&whole, knee.side),
            Some(less) => stable_difference(&whole, &curve(less)?),
        };
        Ok(Here {
            quantity: place.map_err(|open| Missing::because(reason(open)))?,
            point: None,
            wide: Vec::new(),
            behind: None,
        })
    }

    /// The newest curve with three places or more.
    fn curve(
        &self,
        query: &Query,
        metric: &str,
        along: &str,
    ) -> Option<Vec<(Bytes, &'a Estimate)>> {
        self.results.iter().find_map(|results| {
            if results.definition.id != query.experiment {
                return None;
            }
            let mut curve: Vec<(Bytes, &Estimate)> = Vec::new();
            for result in &results.points {
                let fits = fits(&query.experiment, &result.point, &query.levels);
                let place = result.point.get(along).and_then(Level::number).map(Bytes);
                let value = result.sound(metric);
                if let (Some(x), Some(value), true) = (place, value, fits) {
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

/// True if the point has these levels and no other that only the user chose, such as another slice.
pub(crate) fn fits(experiment: &str, point: &Point, levels: &BTreeMap<String, Level>) -> bool {
    let mut axes = point.levels().map(|(axis, _)| axis);
    has(point, levels)
        && axes.all(|axis| levels.contains_key(axis) || !is_optional(experiment, axis))
}

/// True if the point has these levels.
fn has(point: &Point, levels: &BTreeMap<String, Level>) -> bool {
    let mut levels = levels.iter();
    levels.all(|(axis, named)| {
        point
            .get(axis)
            .is_some_and(|level| experiments::is_named(named, level))
    })
}

/// True if planned points of this experiment have no level on this axis.
fn is_optional(experiment: &str, axis: &str) -> bool {
    experiments::find(experiment).is_some_and(|experiment| {
        let mut known = experiment.design().axes.iter();
        known.any(|it| it.name == axis && it.is_optional)
    })
}

/// The place on a curve of which more is better.
pub(super) fn place(curve: &[(Bytes, &Estimate)], side: Side) -> Result<Quantity, Open<Bytes>> {
    let curve = Curve::of(curve, Better::Higher);
    match side {
        Side::From => curve.plateau().map(Quantity::from),
        Side::Until => curve.end().map(Quantity::from),
        Side::Best => {
            let (best, _) = curve.best()?;
            let mut contenders = curve.contenders().map(|(size, _)| size.0 as f64);
            let first = contenders.next();
            let last = contenders.next_back().or(first);
            Ok(Quantity {
                interval: first
                    .zip(last)
                    .and_then(|(first, last)| Interval::new(first, last)),
                ..best.into()
            })
        }
    }
}

/// The place from which on one curve less another is as large as anywhere, but for the margin.
fn stable_difference(
    curve: &[(Bytes, &Estimate)],
    less: &[(Bytes, &Estimate)],
) -> Result<Quantity, Open<Bytes>> {
    let difference = |(x, value): &(Bytes, &Estimate)| {
        let (_, less) = less.iter().find(|(measured, _)| measured == x)?;
        Some((*x, value.quantity().minus(less.quantity())))
    };
    let all: Vec<(Bytes, Quantity)> = curve.iter().filter_map(difference).collect();
    let best = all
        .iter()
        .max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    let (_, best) = *best.ok_or(Open::TooFew)?;
    let ruling = |difference: Quantity| match difference.over(best).map(|share| share.extent()) {
        Some(share) if share.low >= 1.0 - MARGIN => Ruling::Holds,
        Some(share) if share.high >= 1.0 - MARGIN => Ruling::Undecided,
        _ => Ruling::DoesNotHold,
    };
    let rulings = all.iter().map(|(x, difference)| (*x, ruling(*difference)));
    crossover(&rulings.collect::<Vec<_>>()).map(Quantity::from)
}

/// The reason why a curve has no such place.
fn reason(open: Open<Bytes>) -> String {
    match open {
        Open::TooFew => "too few places of the curve were measured".into(),
        Open::Between(first, last) => {
            format!("it is undecided where from {first} to {last} the curve is at its best")
        }
        Open::Beyond(last) => format!("the curve is at its best at {last}, where it ends"),
    }
}

impl Here<'_> {
    /// This value over `other`. What changes from pass to pass cancels if one run measured both.
    pub(crate) fn over(&self, other: &Self) -> Option<Quantity> {
        if let (Some(above), Some(below)) = (self.behind, other.behind)
            && (above.run, above.is_time) == (below.run, below.is_time)
        {
            let ratio = if above.is_time {
                below.estimate.ratio_to(above.estimate)
            } else {
                above.estimate.ratio_to(below.estimate)
            };
            let ratio = Quantity::estimated(&ratio?, Unit::Ratio);
            return Some(ratio.times(above.work / below.work));
        }
        self.quantity.over(other.quantity)
    }

    /// The estimate that it is, with the run that made it; `None` if it was computed from others.
    pub(super) fn estimate(&self) -> Option<(usize, &Estimate)> {
        let behind = self.behind?;
        (!behind.is_time).then_some((behind.run, behind.estimate))
    }
}

/// The time in ns of this work at `rate` per second.
pub(crate) fn inverse(rate: Quantity, work: f64) -> Quantity {
    let time = |per_second: f64| work * 1e9 / per_second;
    Quantity {
        value: time(rate.value),
        interval: rate.interval.and_then(|ends| ends.map(time)),
        unit: Unit::Nanoseconds,
    }
}

#[cfg(test)]
mod tests {
    use super::inverse;
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;

    #[test]
    fn a_rate_is_the_time_of_work_and_its_interval_turns_round() {
        let rate = Quantity::new(2.0, Interval::new(1.0, 4.0), Unit::BytesPerSecond);
        let time = inverse(rate, 4.0);
        assert_eq!((time.value, time.unit), (2e9, Unit::Nanoseconds));
        assert_eq!(time.interval, Interval::new(1e9, 4e9));
    }
}
