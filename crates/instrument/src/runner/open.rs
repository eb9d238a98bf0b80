//! A point during its measurement.

use super::event::Ending;
use super::pilot;
use crate::experiment::{Definition, Metric};
use crate::point::Point;
use crate::results::Estimate;
use crate::sample::Batch;
use crate::setting::Precision;
use crate::statistics::plan::Plan;

/// Number of disturbed attempts in a row after which a point is given up.
const DISTURBANCES: usize = 3;

/// A point that is being measured.
pub(super) struct Open<'p> {
    pub point: &'p Point,
    pub batches: Vec<Batch>,
    pub estimates: Vec<Estimate>,
    pub foretold: Option<Plan>,
    pub ending: Option<Ending>,
    /// Reasons of the disturbed attempts since the last batch.
    disturbances: Vec<String>,
}

impl<'p> Open<'p> {
    pub fn new(point: &'p Point) -> Self {
        Self {
            point,
            batches: Vec::new(),
            estimates: Vec::new(),
            foretold: None,
            ending: None,
            disturbances: Vec::new(),
        }
    }

    /// Adds a batch.
    pub fn add(&mut self, definition: &Definition, batch: Batch, precision: Precision) {
        self.disturbances.clear();
        self.batches.push(batch);
        self.estimates = Estimate::all(definition, &self.batches);
        if self.batches.len() >= precision.min_processes {
            self.foretold = pilot::foretell(definition, &self.batches, precision);
        }
    }

    /// Records a disturbed attempt; true if a retry is worthwhile.
    pub fn may_try_again(&mut self, reason: &str) -> bool {
        self.disturbances.push(reason.to_owned());
        self.disturbances.len() < DISTURBANCES
    }

    /// The ending of a point that is still open at the end of the run. If every attempt was
    /// disturbed, the cause is not a lack of time.
    pub fn ending_or(&self, ending: &Ending) -> Ending {
        match self.disturbances.last() {
            Some(reason) if self.batches.is_empty() && *ending == Ending::BudgetUsed => {
                Ending::Failed(reason.clone())
            }
            _ => ending.clone(),
        }
    }

    /// True if every metric with a target has reached it, with enough processes.
    pub fn is_known(&self, definition: &Definition, precision: Precision) -> bool {
        self.batches.len() >= precision.min_processes
            && self.missed(definition, precision).next().is_none()
    }

    /// The estimates that have not reached the target.
    pub fn missed<'a>(
        &'a self,
        definition: &'a Definition,
        precision: Precision,
    ) -> impl Iterator<Item = &'a Estimate> {
        let has_target = |estimate: &&Estimate| {
            let metric = definition.metric(&estimate.metric);
            metric.is_some_and(Metric::has_target)
        };
        let estimates = self.estimates.iter().filter(has_target);
        estimates.filter(move |estimate| !estimate.is_within(precision.target))
    }

    /// Expected number of further batches, assuming that intervals shrink with the square root of
    /// their number. With fewer processes than the minimum, it is the number missing to the
    /// minimum.
    pub fn batches_wanted(&self, definition: &Definition, precision: Precision) -> f64 {
        let taken = self.batches.len() as f64;
        let fewest = precision.min_processes as f64;
        if taken < fewest {
            return fewest - taken;
        }
        let width = |estimate: &Estimate| estimate.relative_half_width().unwrap_or(f64::INFINITY);
        let widest = self.missed(definition, precision).map(width);
        let excess = widest.fold(precision.target, f64::max) / precision.target;
        // An open point needs at least one more batch, whatever the prediction says.
        (taken * (excess.powi(2) - 1.0)).max(1.0)
    }

    /// Expected wall time of these batches, in ns.
    pub fn wanted_ns(&self, definition: &Definition, precision: Precision) -> f64 {
        let wall_ns: u64 = self.batches.iter().map(|batch| batch.wall_ns).sum();
        let batch_ns = wall_ns as f64 / self.batches.len().max(1) as f64;
        self.batches_wanted(definition, precision) * batch_ns
    }
}
