//! A run: begins all experiments, passes over them until the time is used, closes their points.

use super::event::{Ending, Event, ObserverError};
use super::measured::Measured;
use super::passes::Passes;
use super::{Outcome, Runner};
use crate::plan::Plan;

impl Runner<'_> {
    /// Executes `plan` and returns its outcome.
    ///
    /// # Errors
    /// Those of the observers; failures of experiments and points are events, not errors.
    pub fn run(&mut self, plan: &Plan<'_>) -> Result<Outcome, ObserverError> {
        let mut outcome = Outcome::default();
        let begun = self.begin(plan, &mut outcome)?;
        let mut passes = Passes::new(plan, begun, self);
        for pass in 0..plan.precision.passes {
            if !passes.pass(pass, self)? {
                break;
            }
        }
        outcome.interrupted = self.executor.is_interrupted();
        let ending = if outcome.interrupted {
            Ending::Interrupted
        } else {
            Ending::BudgetUsed
        };
        for measured in &mut passes.experiments {
            measured.remove_files(self);
            measured.close_all(self, &ending)?;
            outcome.failed += measured.failed();
            outcome.missing += measured.missing();
            outcome.beyond += measured.beyond();
            outcome.unreached += measured.unreached();
        }
        Ok(outcome)
    }

    /// Starts or skips each experiment of the plan.
    fn begin<'p>(
        &mut self,
        plan: &'p Plan<'p>,
        outcome: &mut Outcome,
    ) -> Result<Vec<Measured<'p>>, ObserverError> {
        let mut begun = Vec::new();
        for planned in &plan.experiments {
            let definition = &planned.definition;
            match &planned.points {
                Err(reason) => {
                    if planned.is_left_out {
                        outcome.left_out += 1;
                    } else {
                        outcome.skipped += 1;
                    }
                    self.tell(&Event::Skipped { definition, reason })?;
                }
                Ok(points) => {
                    outcome.started += 1;
                    self.tell(&Event::Started { definition, points })?;
                    let costs = &self.visit_costs;
                    let mut measured = Measured::new(planned, plan.precision, points, costs);
                    measured.close_beyond(self)?;
                    begun.push(measured);
                }
            }
        }
        Ok(begun)
    }
}
