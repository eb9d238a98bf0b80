//! The sessions of one value on one side.

use super::row::{merit, towards_better};
use instrument::experiment::{Better, Metric};
use instrument::results::Estimate;
use instrument::statistics::moderation::Variance;
use instrument::statistics::sessions::{Session, bad_session};

/// The sessions of one value on one side.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    /// In the metric's unit.
    pub values: Vec<f64>,
    /// Per session, the logarithm of the value, signed so that more is better.
    pub merits: Vec<f64>,
    /// Variance of each session's value as estimated from that session alone. Fewer than sessions
    /// if some consist of a single process, which shows no differences between processes.
    pub errors: Vec<Variance>,
    pub doubtful: bool,
    /// Number of sessions that were left out, since they were far worse than all others.
    pub left_out: usize,
    /// The highest clock of each session, in Hz; `None` if it is not known.
    pub clocks_hz: Vec<Option<f64>>,
    /// The growth of the cost with the duration of a cycle, as each session showed it.
    pub clock_slopes: Vec<Option<f64>>,
}

impl Sessions {
    pub fn add(
        &mut self,
        metric: &Metric,
        estimate: &Estimate,
        is_doubtful: bool,
        clock_hz: Option<f64>,
    ) {
        self.values.push(estimate.centre);
        self.merits.push(merit(metric, estimate.centre));
        self.errors.extend(estimate.error());
        self.doubtful |= is_doubtful;
        self.clocks_hz.push(clock_hz);
        self.clock_slopes.push(estimate.clock_slope);
    }

    /// True if some session cannot estimate the variance of its value.
    pub fn is_thin(&self) -> bool {
        self.errors.len() < self.merits.len()
    }

    /// The sessions with their errors; none if some session has none.
    pub fn with_errors(&self) -> Vec<Session> {
        if self.is_thin() {
            return Vec::new();
        }
        let sessions = self.merits.iter().zip(&self.errors);
        let session = |(&value, &error)| Session { value, error };
        sessions.map(session).collect()
    }

    /// Leaves out a session in a bad mode that the others do not share.
    pub fn without_bad_session(mut self) -> Self {
        if let Some(bad) = bad_session(&self.with_errors()) {
            self.values.remove(bad);
            self.merits.remove(bad);
            self.errors.remove(bad);
            self.left_out += 1;
        }
        self
    }

    /// Makes each session better by its part of `gains`, which are logarithms.
    pub fn improve(&mut self, gains: &[f64], better: Better) {
        for (value, gain) in self.values.iter_mut().zip(gains) {
            *value *= (towards_better(better) * gain).exp();
        }
        for (merit, gain) in self.merits.iter_mut().zip(gains) {
            *merit += gain;
        }
    }
}
