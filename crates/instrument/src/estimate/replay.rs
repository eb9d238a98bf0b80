//! The same estimate with another value, to see what follows from it.

use super::{Estimate, Percentiles};
use crate::statistics::{Interval, summary};

impl Estimate {
    /// The value of one pass: the median of its processes. `None` if none ran in it.
    pub(crate) fn of_pass(&self, pass: u32) -> Option<f64> {
        let processes = self.pass_of.iter().zip(&self.by_process);
        let of_pass = processes.filter(|(of, _)| **of == pass);
        summary::median(&of_pass.map(|(_, value)| *value).collect::<Vec<_>>())
    }

    /// The estimate with this value, as if it had no error.
    pub(crate) fn exactly(&self, value: f64) -> Self {
        Self {
            centre: value,
            interval: Interval::new(value, value),
            by_next_clock: 0.0,
            clock_slope: None,
            raw: self.raw.map(|raw| raw / self.centre * value),
            as_met: self.as_met.map(|met| met / self.centre * value),
            by_process: vec![value],
            pass_of: vec![0],
            processes: 1,
            passes: 1,
            ..self.clone()
        }
    }

    /// The value, its interval and its processes times a positive `factor`.
    pub(crate) fn times(&self, factor: f64) -> Self {
        let interval =
            |interval: Interval| Interval::new(interval.low * factor, interval.high * factor);
        Self {
            centre: self.centre * factor,
            interval: self.interval.and_then(interval),
            raw: self.raw.map(|raw| raw * factor),
            as_met: self.as_met.map(|met| met * factor),
            by_process: self.by_process.iter().map(|value| value * factor).collect(),
            percentiles: self.percentiles.map(|of| Percentiles {
                p5_ns: of.p5_ns * factor,
                p50_ns: of.p50_ns * factor,
                p95_ns: of.p95_ns * factor,
                p99_ns: of.p99_ns * factor,
            }),
            ..self.clone()
        }
    }
}
