//! The end of a run: the foremost settings are tried in pairs before they are advised.

use super::ab::recording::{observe, take};
use crate::progress::Voice;
use anyhow::Result;
use instrument::clock::Calibration;
use instrument::definition::Definition;
use instrument::plan::Plan;
use instrument::quantity::Nanoseconds;
use instrument::results::PointResult;
use instrument::runner::{BatchError, Closing, Ending, Event, Executor};
use instrument::sample::Batch;
use instrument::sampler::Task;
use instrument::trial::{FEWEST_PAIRS, Outcome};
use platform::clock::now_ns;
use record::Run;
use record::store::Recorder;
use report::advice::{Candidate, FIRST, candidates};
use std::fs;
use std::path::Path;

/// Trials take one part in this many of a run's time.
const SHARE: f64 = 16.0;
/// More time changes no outcome.
const MOST: Nanoseconds = Nanoseconds(60e9);

/// The part of a run's time that is kept for trials.
pub fn reserve(all: Nanoseconds) -> Nanoseconds {
    Nanoseconds((all.0 / SHARE).min(MOST.0))
}

/// What trials share with the run.
pub struct Trials<'a, 'r, 's> {
    pub plan: &'a Plan<'a>,
    pub calibration: &'a Calibration,
    pub scratch: &'a Path,
    pub executor: &'a mut dyn Executor,
    pub recorder: &'r mut Recorder<'s>,
    /// The time at which all is over.
    pub end_ns: u64,
    pub voice: &'a Voice,
}

impl Trials<'_, '_, '_> {
    /// Tries the settings that `run` would advise, the largest gain first, until as many are confirmed as
    /// reports show first, or the time is used. What is not finished is not recorded.
    ///
    /// # Errors
    /// If the store cannot be written. A setting that cannot be measured stays untried.
    pub fn run(&mut self, run: &Run) -> Result<()> {
        let mut confirmed = 0;
        for candidate in candidates(run) {
            let left_ns = self.end_ns.saturating_sub(now_ns());
            if confirmed == FIRST || left_ns == 0 || self.executor.is_interrupted() {
                break;
            }
            let least_ns = candidate.pair_ns * (1 + FEWEST_PAIRS) as f64;
            let share_ns = left_ns as f64 / (FIRST - confirmed) as f64;
            let budget = Nanoseconds(share_ns.max(least_ns));
            if budget.0 <= left_ns as f64 {
                confirmed += usize::from(self.one(&candidate, budget)?);
            }
        }
        Ok(())
    }

    /// Tries one setting and records its pairs: true if it gains.
    fn one(&mut self, candidate: &Candidate, budget: Nanoseconds) -> Result<bool> {
        let Candidate {
            setting,
            title,
            trial,
            ..
        } = candidate;
        let mut planned = self.plan.experiments.iter();
        let planned = planned.find(|it| it.definition.id == trial.experiment);
        let Some(planned) = planned else {
            return Ok(false);
        };
        self.voice.say(&format!("trying {setting}: {title}"));
        let scratch = self.scratch.join(&trial.experiment);
        let task = Task::new(
            self.plan.precision,
            self.calibration.clone(),
            scratch.clone(),
            self.plan.seed,
        );
        let requests = trial.requests(planned, &task);
        let measured = trial.measure(requests, self.executor, budget);
        // The whole directory goes at the end, with what could not be deleted now.
        let _ = fs::remove_dir_all(scratch);
        let batches = match measured {
            Ok(batches) => batches,
            Err(BatchError::Interrupted) => return Ok(false),
            Err(error) => {
                self.voice.say(&format!("{setting} was not tried: {error}"));
                return Ok(false);
            }
        };
        let outcome = trial.outcome(batches.each_ref().map(Vec::as_slice));
        let Some(outcome) = outcome.filter(Outcome::is_complete) else {
            return Ok(false);
        };
        self.record(candidate, &planned.definition, &batches)?;
        Ok(outcome.is_confirmed())
    }

    fn record(
        &mut self,
        Candidate { setting, trial, .. }: &Candidate,
        of: &Definition,
        batches: &[Vec<Batch>; 2],
    ) -> Result<()> {
        let definition = &trial.definition(setting, of);
        let points = &trial.points;
        observe(self.recorder, &Event::Started { definition, points })?;
        for (point, batches) in points.iter().zip(batches) {
            for batch in batches {
                take(self.recorder, definition, point, batch)?;
            }
            let closed = Event::Closed {
                definition,
                point,
                closing: &Closing {
                    ending: Ending::TargetReached,
                    warnings: PointResult::new(definition, point, batches, None).warnings,
                },
            };
            observe(self.recorder, &closed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, reserve};
    use instrument::quantity::Nanoseconds;

    #[test]
    fn trials_take_a_small_part_of_a_run() {
        assert_eq!(reserve(Nanoseconds(240e9)), Nanoseconds(15e9));
        assert_eq!(reserve(Nanoseconds(3600e9)), MOST);
    }
}
