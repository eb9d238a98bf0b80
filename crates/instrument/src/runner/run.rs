//! A run: one experiment after the other; spare time then goes to the points that are still open.

use super::event::{Event, ObserverError};
use super::rounds::Rounds;
use super::{Outcome, Runner, spare};
use crate::plan::Plan;
use crate::statistics::random::Random;

impl Runner<'_> {
    /// Executes `plan` and returns its outcome.
    ///
    /// # Errors
    /// Those of the observers; failures of experiments and points are events, not errors.
    pub fn run(&mut self, plan: &Plan<'_>) -> Result<Outcome, ObserverError> {
        let mut outcome = Outcome::default();
        let mut random = Random::new(plan.seed);
        let end_ns = self.clock.now_ns() as f64 + plan.budget().0;
        let mut later_ns = plan.budget().0;
        let mut begun = Vec::new();
        for planned in &plan.experiments {
            later_ns -= planned.budget_ns as f64;
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
                    let mut rounds = Rounds::new(planned, plan.precision, points);
                    rounds.run(self, later_ns, &mut random)?;
                    rounds.remove_files(self);
                    self.tell(&Event::Finished { definition })?;
                    begun.push(rounds);
                }
            }
            if self.executor.is_interrupted() {
                break;
            }
        }
        let ending = spare::share(&mut begun, end_ns, self, &mut random)?;
        for rounds in &mut begun {
            rounds.close_all(self, &ending)?;
            outcome.failed += rounds.failed();
            outcome.missing += rounds.missing();
            outcome.beyond += rounds.beyond();
            outcome.unreached += rounds.unreached();
        }
        outcome.interrupted = self.executor.is_interrupted();
        Ok(outcome)
    }
}
