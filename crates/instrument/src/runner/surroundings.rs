//! Other activity on the machine while batches are taken.

use crate::sample::Disturbance;
use platform::clock::now_ns;
use platform::load::CpuTime;
use platform::usage::Usage;
use std::collections::VecDeque;

/// The usual window for shares of CPU time. The kernel reports CPU time in steps of 10 ms: 2 %
/// of this window, but half of a short batch.
const WINDOW_NS: u64 = 500_000_000;
/// Shorter windows give no shares.
const SHORTEST_WINDOW_NS: u64 = WINDOW_NS / 4;
/// Idle and stolen time may exceed the window by the kernel's steps, and by no more than this factor.
const MOST_OF_ALL: f64 = 1.25;

/// Watches the machine from worker to worker.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// In order of time; all but the first are younger than one window.
    looks: VecDeque<Look>,
    /// CPU time of the workers so far, in ns.
    workers_ns: u64,
}

/// The state of the machine at one moment.
#[derive(Clone, Debug)]
struct Look {
    at_ns: u64,
    times: Option<CpuTime>,
    /// CPU time of this program and its workers so far, in ns.
    own_ns: u64,
}

impl Surroundings {
    /// Reads the state of the machine before a worker.
    pub(super) fn before(&mut self) {
        let look = self.look();
        self.looks.push_back(look);
    }

    /// Reads the state after the worker, which used `worker_ns` of CPU time, and returns the
    /// disturbance of a batch that took `wall_ns` of wall time.
    pub(super) fn after(&mut self, worker_ns: u64) -> impl Fn(u64) -> Disturbance {
        self.workers_ns += worker_ns;
        let now = self.look();
        self.forget_before(now.at_ns.saturating_sub(WINDOW_NS));
        let shares = self.looks.front().and_then(|first| now.shares_since(first));
        move |wall_ns| {
            let part = |share: f64| share * wall_ns as f64;
            Disturbance {
                stolen_ns: shares.map(|shares| part(shares.stolen) as u64),
                others_ns: shares.map(|shares| part(shares.others) as i64),
            }
        }
    }

    /// Drops all states before the last one that precedes `start_ns`.
    fn forget_before(&mut self, start_ns: u64) {
        while self.looks.get(1).is_some_and(|next| next.at_ns <= start_ns) {
            self.looks.pop_front();
        }
    }

    fn look(&self) -> Look {
        let main_ns = Usage::of_process().map_or(0, |usage| usage.user_ns + usage.system_ns);
        Look {
            at_ns: now_ns(),
            times: CpuTime::read(),
            own_ns: main_ns + self.workers_ns,
        }
    }
}

/// CPU time over wall time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    stolen: f64,
    others: f64,
}

impl Look {
    /// `None` if the kernel does not report CPU time, or if the window is too short.
    fn shares_since(&self, earlier: &Self) -> Option<Shares> {
        let wall_ns = self.at_ns.saturating_sub(earlier.at_ns);
        let times = self.times?.since(earlier.times.as_ref()?);
        if wall_ns < SHORTEST_WINDOW_NS {
            return None;
        }
        // The kernel may sample busy time at its ticks, which is wrong for work in step with the
        // ticks. It counts idle time exactly, so busy time is computed from that.
        let all_ns = wall_ns as f64 * times.cpus as f64;
        let elsewhere_ns = times.idle_ns + times.steal_ns;
        // Stand-ins for a system are known to report more than there is: then nothing is known.
        if elsewhere_ns as f64 > all_ns * MOST_OF_ALL {
            return None;
        }
        let own_ns = self.own_ns.saturating_sub(earlier.own_ns);
        Some(Shares {
            stolen: times.steal_ns as f64 / wall_ns as f64,
            others: (all_ns - elsewhere_ns as f64 - own_ns as f64) / wall_ns as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Look, Shares, Surroundings, WINDOW_NS};
    use platform::load::CpuTime;

    /// A machine with two processors: one is idle, and the hypervisor steals a tenth of the other's
    /// time.
    fn look(at_ms: u64, own_ms: u64) -> Look {
        Look {
            at_ns: at_ms * 1_000_000,
            times: Some(CpuTime {
                cpus: 2,
                busy_ns: at_ms * 900_000,
                idle_ns: at_ms * 1_000_000,
                steal_ns: at_ms * 100_000,
            }),
            own_ns: own_ms * 1_000_000,
        }
    }

    #[test]
    fn what_is_neither_idle_nor_stolen_nor_own_is_others() {
        let shares = look(1000, 700).shares_since(&look(0, 0)).unwrap();
        let Shares { stolen, others } = shares;
        assert!((stolen - 0.1).abs() < 1e-9 && (others - 0.2).abs() < 1e-9);
    }

    #[test]
    fn more_idle_time_than_there_was_gives_no_shares() {
        let mut after = look(1000, 0);
        let times = after.times.as_mut().unwrap();
        times.idle_ns *= 3;
        assert_eq!(after.shares_since(&look(0, 0)), None);
    }

    #[test]
    fn a_short_time_gives_no_shares() {
        assert_eq!(look(100, 0).shares_since(&look(0, 0)), None);
    }

    #[test]
    fn the_last_look_before_a_window_is_kept() {
        let mut surroundings = Surroundings::default();
        surroundings
            .looks
            .extend([0, 100, 300, 600].map(|at_ms| look(at_ms, 0)));
        let starts = |surroundings: &Surroundings| -> Vec<u64> {
            let looks = surroundings.looks.iter();
            looks.map(|look| look.at_ns / 1_000_000).collect()
        };
        surroundings.forget_before(650_000_000 - WINDOW_NS);
        assert_eq!(starts(&surroundings), [100, 300, 600]);
        surroundings.forget_before(5_000_000_000 - WINDOW_NS);
        assert_eq!(starts(&surroundings), [600]);
    }
}
