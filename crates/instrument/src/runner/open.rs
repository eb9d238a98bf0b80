//! A point during its measurement.

use super::earlier::EarlierPoint;
use super::event::Ending;
use super::schedule::Candidate;
use crate::experiment::{Definition, Metric};
use crate::point::Point;
use crate::results::Estimate;
use crate::sample::Batch;
use crate::setting::Precision;

/// Number of disturbed attempts in a row after which a point is given up.
const DISTURBANCES: usize = 3;

/// A point that is being measured.
pub(super) struct Open {
    pub point: Point,
    pub batches: Vec<Batch>,
    pub estimates: Vec<Estimate>,
    pub ending: Option<Ending>,
    /// Wall time of each visit in ns, with the rests that limits ask for.
    pub visits_ns: Vec<f64>,
    /// Wall time of a visit in earlier runs of the machine, in ns.
    known_ns: Option<f64>,
    /// Reasons of the disturbed attempts since the last batch.
    disturbances: Vec<String>,
}

impl Open {
    pub fn new(point: Point, known_ns: Option<f64>) -> Self {
        Self {
            point,
            batches: Vec::new(),
            estimates: Vec::new(),
            ending: None,
            visits_ns: Vec::new(),
            known_ns,
            disturbances: Vec::new(),
        }
    }

    /// A point of a run that was stopped. One that failed stays closed.
    pub fn earlier(definition: &Definition, earlier: &EarlierPoint) -> Self {
        let batches = earlier.batches.clone();
        Self {
            visits_ns: batches.iter().map(|batch| batch.wall_ns as f64).collect(),
            estimates: Estimate::all(definition, &batches),
            ending: earlier.failed.clone().map(Ending::Failed),
            batches,
            ..Self::new(earlier.point.clone(), None)
        }
    }

    /// Adds a batch.
    pub fn add(&mut self, definition: &Definition, batch: Batch) {
        self.disturbances.clear();
        self.batches.push(batch);
        self.estimates = Estimate::all(definition, &self.batches);
    }

    /// True if this run or an earlier one shows the wall time of a visit.
    pub fn has_known_cost(&self) -> bool {
        self.known_ns.is_some() || !self.visits_ns.is_empty()
    }

    /// Wall time of each visit in ns; without one, what it was in earlier runs.
    pub fn costs_ns(&self) -> impl Iterator<Item = f64> {
        let known_ns = self.known_ns.filter(|_| self.visits_ns.is_empty());
        self.visits_ns.iter().copied().chain(known_ns)
    }

    /// Records the wall time of a visit, successful or not.
    pub fn spent(&mut self, visit_ns: f64) {
        self.visits_ns.push(visit_ns.max(0.0));
    }

    /// Records a disturbed attempt; true if a retry is worthwhile.
    pub fn may_try_again(&mut self, reason: &str) -> bool {
        self.disturbances.push(reason.to_owned());
        self.disturbances.len() < DISTURBANCES
    }

    /// The ending of a point that is still open at the end of the run. If every attempt was
    /// disturbed, the cause is not a lack of time.
    pub fn ending_or(
        &self,
        ending: &Ending,
        definition: &Definition,
        precision: Precision,
    ) -> Ending {
        match self.disturbances.last() {
            _ if self.is_known(definition, precision) => Ending::TargetReached,
            Some(reason) if self.batches.is_empty() && *ending == Ending::BudgetUsed => {
                Ending::Failed(reason.clone())
            }
            _ => ending.clone(),
        }
    }

    /// True if every metric with a target has reached it, with enough processes in enough passes.
    pub fn is_known(&self, definition: &Definition, precision: Precision) -> bool {
        !self.batches.is_empty()
            && self.missing_visits(precision) == 0
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
        estimates.filter(move |estimate| !estimate.is_settled(precision.target))
    }

    /// Visits missing to the fewest on which an estimate may rest.
    fn missing_visits(&self, precision: Precision) -> usize {
        precision.min_processes.saturating_sub(self.batches.len())
    }

    /// The point as the schedule sees it. The first visit may have made files that later visits find,
    /// so its cost counts only until there is another. A point without visits costs what it did in
    /// earlier runs, else `usual_ns`.
    pub fn candidate(
        &self,
        definition: &Definition,
        precision: Precision,
        usual_ns: f64,
    ) -> Candidate {
        let later = match &self.visits_ns[..] {
            [_, later @ ..] if !later.is_empty() => later,
            visits => visits,
        };
        let visit_ns = match later.len() {
            0 => self.known_ns.unwrap_or(usual_ns),
            visits => later.iter().sum::<f64>() / visits as f64,
        };
        Candidate {
            visit_ns: visit_ns.max(1.0),
            missing: self.missing_visits(precision),
            is_wide: self.missed(definition, precision).next().is_some(),
        }
    }
}
