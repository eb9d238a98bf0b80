//! Results: the estimates of one experiment in one run, as input for findings and figures.

pub use crate::estimate::{Estimate, Percentiles, Verdict};

use crate::definition::Definition;
use crate::figure::{FigurePoint, Series};
use crate::noise::{self, Warning};
use crate::point::{AxisOf, Level, LevelOf, Point};
use crate::sample::Batch;
use platform::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The estimates of one experiment in one run.
#[derive(Clone, Debug)]
pub struct Results<'a> {
    /// The question, axes and metrics.
    pub definition: &'a Definition,
    /// The measured machine.
    pub machine: &'a Machine,
    /// Every point with samples, in the order of the plan.
    pub points: Vec<PointResult>,
}

/// The result of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// The point.
    pub point: Point,
    /// One estimate for each metric with samples, in the order of the definition.
    pub estimates: Vec<Estimate>,
    /// Reasons to doubt the estimates.
    pub warnings: Vec<Warning>,
    /// The experiment's remarks about the circumstances, without repetitions.
    pub remarks: Vec<String>,
}

impl PointResult {
    /// The result of the batches of one point. The warnings are those `recorded` when the point was
    /// closed. If the point was never closed, the batches are judged again.
    pub fn new(
        definition: &Definition,
        point: &Point,
        batches: &[Batch],
        recorded: Option<&[Warning]>,
    ) -> Self {
        let estimates = Estimate::all(definition, batches);
        let warnings = match recorded {
            Some(warnings) => warnings.to_vec(),
            None => noise::judge(definition, &estimates, batches),
        };
        let mut remarks: Vec<String> = Vec::new();
        for remark in batches.iter().flat_map(|batch| &batch.remarks) {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
        Self {
            point: point.clone(),
            estimates,
            warnings,
            remarks,
        }
    }

    /// The estimate of `metric`.
    pub fn estimate(&self, metric: impl AsRef<str>) -> Option<&Estimate> {
        self.estimates
            .iter()
            .find(|estimate| estimate.metric == metric.as_ref())
    }

    /// The estimate of `metric`, if it is usable.
    pub fn sound(&self, metric: impl AsRef<str>) -> Option<&Estimate> {
        self.estimate(metric).filter(|estimate| estimate.is_sound())
    }

    /// True if a warning concerns `metric` here.
    pub fn is_doubtful(&self, metric: &str) -> bool {
        self.warnings.iter().any(|warning| warning.touches(metric))
    }
}

impl Results<'_> {
    /// The point with exactly these levels.
    pub fn at(&self, levels: &[(&str, Level)]) -> Option<&PointResult> {
        self.points
            .iter()
            .find(|result| result.point.matches(levels))
    }

    /// The results of the points that `keep` wants.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&Point) -> bool) -> Self {
        let points = self.points.iter().filter(|result| keep(&result.point));
        Self {
            definition: self.definition,
            machine: self.machine,
            points: points.cloned().collect(),
        }
    }

    /// The results of the points without a level on `axis`.
    #[must_use]
    pub fn without<L: LevelOf>(&self, axis: AxisOf<L>) -> Self {
        self.only(|point| point.get(axis.name()).is_none())
    }

    /// The same points with other estimates.
    pub(crate) fn with_estimates(
        &self,
        mut change: impl FnMut(&PointResult, &Estimate) -> Estimate,
    ) -> Self {
        let mut changed = |point: &PointResult| {
            let estimates = point.estimates.iter();
            PointResult {
                estimates: estimates.map(|estimate| change(point, estimate)).collect(),
                ..point.clone()
            }
        };
        Self {
            definition: self.definition,
            machine: self.machine,
            points: self.points.iter().map(&mut changed).collect(),
        }
    }

    /// The sound estimate of `metric` at the point with exactly these levels.
    pub fn sound(&self, metric: impl AsRef<str>, levels: &[(&str, Level)]) -> Option<&Estimate> {
        self.at(levels)?.sound(metric)
    }

    /// Sound estimates of `metric` along the axis `x` at the points with these levels, in ascending
    /// order of x.
    pub fn along<L: LevelOf + Ord>(
        &self,
        x: AxisOf<L>,
        metric: impl AsRef<str>,
        levels: &[(&str, Level)],
    ) -> Vec<(L, &Estimate)> {
        let points = self.points.iter();
        let mut curve: Vec<_> = points
            .filter(|result| result.point.matches(levels))
            .filter_map(|result| {
                Some((result.point.level(x).ok()?, result.sound(metric.as_ref())?))
            })
            .collect();
        curve.sort_by(|(one, _), (other, _)| one.cmp(other));
        curve
    }

    /// The levels on `axis` that were measured, in ascending order.
    pub fn levels<L: LevelOf + Ord>(&self, axis: AxisOf<L>) -> BTreeSet<L> {
        let levels = self.points.iter().map(|result| result.point.level(axis));
        levels.filter_map(Result::ok).collect()
    }

    /// The estimates of `metric` along the axis `x` at the points with these levels, as one series
    /// of a figure.
    pub fn series(
        &self,
        label: &str,
        metric: impl AsRef<str>,
        x: impl AsRef<str>,
        levels: &[(&str, Level)],
    ) -> Series {
        let (metric, x) = (metric.as_ref(), x.as_ref());
        let mut points: Vec<_> = self
            .points
            .iter()
            .filter(|result| result.point.matches(levels))
            .filter_map(|result| {
                let estimate = result.estimate(metric)?;
                let x = result.point.get(x)?.clone();
                let doubtful = result.is_doubtful(metric) || !estimate.is_sound();
                Some(FigurePoint {
                    x,
                    estimate: estimate.clone(),
                    doubtful,
                })
            })
            .collect();
        if points.iter().all(|point| point.x.number().is_some()) {
            points.sort_by_key(|point| point.x.number());
        }
        Series {
            label: label.into(),
            points,
        }
    }
}
