//! A run with limits: it rests between batches, stops before it writes too much, and reports its
//! use.

use super::executor::{BatchError, Executor, Request};
use super::worker::WorkerExecutor;
use crate::limits::{Bound, Limits, Used};
use crate::quantity::Bytes;
use crate::sample::Batch;
use platform::clock::now_ns;
use platform::placement::allowed_cpus;
use platform::scratch::bytes_below;
use platform::usage::Consumption;
use std::collections::HashMap;
use std::thread::sleep;
use std::time::Duration;

/// Interval at which a resting run checks the stop flag.
const GLANCE: Duration = Duration::from_millis(100);

/// Passes batches to the workers within their limits. Without limits it adds nothing.
#[derive(Debug)]
pub struct LimitedExecutor {
    workers: WorkerExecutor,
    pace: Pace,
    wear: Wear,
    /// This program's use before the run.
    before: Consumption,
    started_ns: u64,
    used: Used,
}

impl LimitedExecutor {
    /// Enforces the limits of `workers` from now on.
    ///
    /// # Errors
    /// If the system does not count the use, so that limits cannot be enforced.
    pub fn new(workers: WorkerExecutor) -> platform::Result<Self> {
        let limits = workers.limits;
        let before = if limits.is_none() {
            Consumption::default()
        } else {
            Consumption::read()?
        };
        let started_ns = now_ns();
        Ok(Self {
            pace: Pace {
                limits,
                last: spent(started_ns, before),
            },
            wear: Wear::default(),
            workers,
            before,
            started_ns,
            used: Used::default(),
        })
    }

    /// Rests one last time and returns the resources used; `None` without limits.
    ///
    /// # Errors
    /// If the system no longer reports the use.
    pub fn finish(mut self) -> platform::Result<Option<Used>> {
        if self.workers.limits.is_none() {
            return Ok(None);
        }
        self.rest()?;
        Ok(Some(self.used()?))
    }

    /// The resources used so far.
    fn used(&self) -> platform::Result<Used> {
        let now = Consumption::read()?;
        let group_peak_bytes = self.workers.group_peak_bytes;
        Ok(Used {
            wall_ns: now_ns().saturating_sub(self.started_ns),
            cpu_ns: now.cpu_ns.saturating_sub(self.before.cpu_ns),
            cpus: allowed_cpus()?.len() as u64,
            memory_bytes: group_peak_bytes.unwrap_or(now.child_peak_bytes),
            memory_of_group: group_peak_bytes.is_some(),
            own_memory_bytes: now.own_peak_bytes,
            read_bytes: now.read_bytes.saturating_sub(self.before.read_bytes),
            written_bytes: self.written_bytes(now),
            ..self.used
        })
    }

    /// Rests until the limits hold or the user asks to stop.
    fn rest(&mut self) -> platform::Result<()> {
        let begun_ns = now_ns();
        let consumption = Consumption::read()?;
        let now = spent(begun_ns, consumption);
        self.used.longest_burst_ns = self.used.longest_burst_ns.max(self.pace.burst_ns(now));
        let end_ns = begun_ns.saturating_add(self.pace.rest_ns(now));
        while !self.workers.is_interrupted() {
            let left = Duration::from_nanos(end_ns.saturating_sub(now_ns()));
            if left.is_zero() {
                break;
            }
            sleep(left.min(GLANCE));
        }
        let ended_ns = now_ns();
        self.used.rest_ns += ended_ns.saturating_sub(begun_ns);
        // The CPU time of the rest itself belongs to the next cycle.
        self.pace.last = Spent {
            at_ns: ended_ns,
            ..now
        };
        Ok(())
    }

    /// Takes a batch after a rest.
    fn take(&mut self, request: &Request) -> platform::Result<Vec<Result<Batch, BatchError>>> {
        self.rest()?;
        if self.is_interrupted() {
            return Ok(vec![Err(BatchError::Interrupted)]);
        }
        let before = Consumption::read()?;
        let written_bytes = self.written_bytes(before);
        let (limits, experiment) = (&self.workers.limits, &request.experiment);
        let has_room = limits.written_bytes.is_none_or(|limit| {
            let space_bytes = request.space_bytes;
            self.wear
                .allows(limit, written_bytes, experiment, space_bytes)
        });
        if !has_room {
            let reason = Bound::Written.reason(limits).unwrap_or_default();
            let beyond = format!("{reason}: {:.3} are written already", Bytes(written_bytes));
            return Ok(vec![Err(BatchError::Beyond(beyond))]);
        }
        let taken = self.workers.execute(request);
        let after = Consumption::read()?;
        let by_batch = after.written_bytes.saturating_sub(before.written_bytes);
        self.wear.note(experiment, by_batch);
        let scratch_bytes = bytes_below(&self.workers.scratch);
        self.used.disk_bytes = self.used.disk_bytes.max(scratch_bytes);
        Ok(taken)
    }

    fn written_bytes(&self, now: Consumption) -> u64 {
        now.written_bytes.saturating_sub(self.before.written_bytes)
    }
}

impl Executor for LimitedExecutor {
    fn execute(&mut self, request: &Request) -> Vec<Result<Batch, BatchError>> {
        if self.workers.limits.is_none() {
            return self.workers.execute(request);
        }
        let visits: Vec<Request> = request.apart().collect();
        let taken = visits.iter().flat_map(|visit| {
            let taken = self.take(visit);
            taken.unwrap_or_else(|error| vec![Err(BatchError::Failed(error.to_string()))])
        });
        taken.collect()
    }

    fn is_interrupted(&self) -> bool {
        self.workers.is_interrupted()
    }

    fn used_with(&self, request: &Request) -> Option<Used> {
        if self.workers.limits.is_none() {
            return None;
        }
        let used = self.used().ok()?;
        let expected = self.wear.expected(&request.experiment, request.space_bytes);
        let expected = expected.saturating_mul(request.points.len() as u64);
        Some(Used {
            written_bytes: used.written_bytes.saturating_add(expected),
            ..used
        })
    }
}

fn spent(at_ns: u64, consumption: Consumption) -> Spent {
    Spent {
        at_ns,
        cpu_ns: consumption.cpu_ns,
        bytes: consumption.read_bytes + consumption.written_bytes,
    }
}

/// One part in this many of the limit is for the record of the run, which stores each batch at
/// once.
const RESERVE: u64 = 8;

/// Predicts the bytes that a batch will write: the most that a batch of each experiment has written.
#[derive(Debug, Default)]
struct Wear(HashMap<String, u64>);

impl Wear {
    /// The bytes that another batch of an experiment is expected to write: as many as the largest batch
    /// so far. The first batch is expected to fill its scratch space.
    fn expected(&self, experiment: &str, space_bytes: u64) -> u64 {
        let most = self.0.get(experiment).copied();
        most.unwrap_or(space_bytes)
    }

    /// True if another batch of an experiment fits. Experiments with files leave a part of the limit to
    /// the record of the run, which is written as well.
    fn allows(&self, limit: u64, written_bytes: u64, experiment: &str, space_bytes: u64) -> bool {
        let expected = self.expected(experiment, space_bytes);
        let kept = if space_bytes > 0 { limit / RESERVE } else { 0 };
        written_bytes.saturating_add(expected).saturating_add(kept) <= limit
    }

    fn note(&mut self, experiment: &str, bytes: u64) {
        let most = self.0.entry(experiment.to_owned()).or_default();
        *most = bytes.max(*most);
    }
}

/// Resources used up to one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spent {
    /// The moment, in monotonic ns.
    pub at_ns: u64,
    /// CPU time so far, in ns.
    pub cpu_ns: u64,
    /// Bytes read from and written to storage so far.
    pub bytes: u64,
}

/// Computes the length of rests.
///
/// A cycle is work and the rest after it, and the limits hold in each cycle. Unused time does not
/// accumulate: a run that used little for a while, for example because it waited, gets no longer
/// burst later.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pace {
    limits: Limits,
    /// Use at the end of the last rest.
    last: Spent,
}

impl Pace {
    /// CPU time since the last rest, in ns.
    pub fn burst_ns(&self, now: Spent) -> u64 {
        now.cpu_ns.saturating_sub(self.last.cpu_ns)
    }

    /// Length of the rest needed now, in ns.
    pub fn rest_ns(&self, now: Spent) -> u64 {
        let worked_ns = now.at_ns.saturating_sub(self.last.at_ns);
        let bytes = now.bytes.saturating_sub(self.last.bytes) as f64;
        let burst_ns = self.burst_ns(now) as f64;
        let percent = self.limits.processor_percent;
        let by_processor = percent.map(|percent| burst_ns * 100.0 / percent);
        let rate = self.limits.bytes_per_second;
        let by_disk = rate.map(|rate| bytes * 1e9 / rate);
        let cycle_ns = by_processor.into_iter().chain(by_disk).fold(0.0, f64::max);
        (cycle_ns.ceil() as u64).saturating_sub(worked_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, Spent, Wear};
    use crate::limits::Limits;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn no_batch_is_begun_that_would_write_too_much() {
        let mut wear = Wear::default();
        let allows = |wear: &Wear, written| wear.allows(3200, written, "file", 2800);
        assert!(allows(&wear, 0) && !allows(&wear, 1));
        wear.note("file", 300);
        wear.note("file", 200);
        assert!(allows(&wear, 2500) && !allows(&wear, 2501));
        assert!(
            wear.allows(3200, 3200, "memory", 0),
            "the reserve is for such"
        );
        assert!(!wear.allows(3200, u64::MAX, "other", 1));
    }

    const SECOND: u64 = 1_000_000_000;

    fn pace(limits: Limits) -> Pace {
        Pace {
            limits,
            last: Spent::default(),
        }
    }

    fn quarter() -> Pace {
        pace(Limits {
            processor_percent: Some(25.0),
            ..Limits::default()
        })
    }

    fn at(at_ns: u64, cpu_ns: u64) -> Spent {
        Spent {
            at_ns,
            cpu_ns,
            bytes: 0,
        }
    }

    #[test]
    fn a_busy_second_at_a_quarter_is_followed_by_three() {
        assert_eq!(quarter().rest_ns(at(SECOND, SECOND)), 3 * SECOND);
        // Four busy processors make the rest longer.
        assert_eq!(quarter().rest_ns(at(SECOND, 4 * SECOND)), 15 * SECOND);
    }

    #[test]
    fn time_that_was_waited_is_rest_and_is_not_saved_up() {
        let mut pace = quarter();
        assert_eq!(pace.rest_ns(at(40 * SECOND, SECOND)), 0);
        pace.last = at(40 * SECOND, SECOND);
        assert_eq!(pace.rest_ns(at(41 * SECOND, 2 * SECOND)), 3 * SECOND);
    }

    #[test]
    fn without_a_limit_there_is_no_rest() {
        let pace = pace(Limits::default());
        assert_eq!(pace.rest_ns(at(SECOND, 9 * SECOND)), 0);
    }

    proptest! {
        #[test]
        fn both_limits_hold_after_every_rest(
            percent in 1.0_f64..400.0,
            rate in 1e4_f64..1e10,
            bursts in vec((1_u64..2_000_000_000, 0.0_f64..16.0, 0_u64..1 << 30), 1..50),
        ) {
            let limits = Limits {
                processor_percent: Some(percent),
                bytes_per_second: Some(rate),
                ..Limits::default()
            };
            let mut pace = pace(limits);
            let mut now = Spent::default();
            for (wall_ns, processors, bytes) in bursts {
                let before = now;
                now.at_ns += wall_ns;
                now.cpu_ns += (wall_ns as f64 * processors) as u64;
                now.bytes += bytes;
                now.at_ns += pace.rest_ns(now);
                pace.last = now;
                let cycle_ns = (now.at_ns - before.at_ns) as f64;
                // The added ns covers rounding.
                let share = (now.cpu_ns - before.cpu_ns) as f64 / (cycle_ns + 1.0);
                prop_assert!(share <= percent / 100.0 * (1.0 + 1e-9), "{share}");
                let per_second = (now.bytes - before.bytes) as f64 * 1e9 / (cycle_ns + 1.0);
                prop_assert!(per_second <= rate * (1.0 + 1e-9), "{per_second}");
            }
        }
    }
}
