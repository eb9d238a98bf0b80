//! Pieces: work that consists of phases and changes the system's state, timed in short legs.

use crate::clock::Clock;
use crate::error::MeasureError;
use crate::sample::Legs;
use platform::usage::Usage;

/// Times the pieces of each phase. Phases may take turns; the pieces of a phase are its legs.
pub struct Pieces<'c> {
    clock: &'c dyn Clock,
    pub(crate) phases: Vec<Phase>,
}

/// The pieces of one metric so far.
pub(crate) struct Phase {
    pub metric: String,
    pub legs: Legs,
    pub usage: Usage,
}

impl<'c> Pieces<'c> {
    pub(crate) fn new(clock: &'c dyn Clock) -> Self {
        Self {
            clock,
            phases: Vec::new(),
        }
    }

    /// Times `body`, a piece of `operations` of `metric`, between two readings of the reference loops.
    /// Only pieces of one length are compared: one of another length is a separate sample.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn time(
        &mut self,
        metric: impl AsRef<str>,
        operations: u64,
        body: impl FnOnce() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let references = self.clock.references();
        let ((), wall_ns, usage) = self.clock.timed(body)?;
        let (reference_ns, around) = self.clock.around(references);
        let phase = self.of(metric.as_ref(), operations);
        phase.legs.wall_ns.push(wall_ns);
        phase.legs.reference_ns.extend(reference_ns);
        phase.legs.around.extend(around);
        phase.usage += usage;
        Ok(())
    }

    /// The fewest pieces of a metric so far.
    pub(crate) fn fewest(&self) -> usize {
        let counts = self.phases.iter().map(|phase| phase.legs.wall_ns.len());
        counts.min().unwrap_or(0)
    }

    fn of(&mut self, metric: &str, operations: u64) -> &mut Phase {
        let is_it = |phase: &Phase| phase.metric == metric && phase.legs.iterations == operations;
        match self.phases.iter().position(is_it) {
            Some(index) => &mut self.phases[index],
            None => self.phases.push_mut(Phase {
                metric: metric.to_owned(),
                legs: Legs {
                    iterations: operations,
                    work: 1.0,
                    ..Legs::default()
                },
                usage: Usage::default(),
            }),
        }
    }
}
