//! Passes that begin on all nodes at the same time, so that each pass meets the same state of what the nodes share.

use super::member::{Member, Round, duration};
use instrument::plan::Profile;
use instrument::runner::{Event, Observer, ObserverError};
use std::time::{Duration, Instant};

/// A late node costs the others at most this share of their time: one over it.
const SHARE_OF_BUDGET: u32 = 10;
/// A node may be so late even in short runs: a process takes its time to end.
const LEAST_PATIENCE: Duration = Duration::from_secs(2);

/// The meetings of the processes in one round, one before each pass. All processes attend the same number of them.
pub struct Meetings<'m> {
    member: &'m Member<'m>,
    round: &'m Round,
    left: usize,
}

impl<'m> Meetings<'m> {
    /// There are none if the nodes measure in turn.
    pub fn new(member: &'m Member<'m>, round: &'m Round) -> Self {
        let passes = Profile::from(member.arguments.profile).precision().passes;
        Self {
            member,
            round,
            left: if member.arguments.in_turn { 0 } else { passes },
        }
    }

    /// Attends the meetings before passes that this process does not make.
    pub fn attend_the_rest(self) {
        let end = self.round.start + self.budget() + self.patience();
        for _ in 0..self.left {
            let left = end.saturating_duration_since(Instant::now());
            self.meet(left.max(self.patience()));
        }
    }

    fn meet(&self, limit: Duration) {
        self.member.meet(&self.round.ranks, limit);
    }

    fn budget(&self) -> Duration {
        duration(self.member.arguments.budget)
    }

    fn patience(&self) -> Duration {
        (self.budget() / SHARE_OF_BUDGET).max(LEAST_PATIENCE)
    }
}

impl Observer for Meetings<'_> {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        if matches!(event, Event::Pass { .. }) && self.left > 0 {
            self.left -= 1;
            self.meet(self.patience());
        }
        Ok(())
    }
}
