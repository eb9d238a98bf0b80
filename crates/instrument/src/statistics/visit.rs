//! The input of a prediction: the timings of processes at one point, and the clocks of the run and
//! of the runs before it.

use super::TAIL;
use super::summary::{median, quantile};

/// The legs of one process at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// The pass over the points in which the process ran.
    pub pass: usize,
    /// Its legs, in the order of time.
    pub legs: Vec<Leg>,
}

/// One timed stretch of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// The cost, in any unit that all legs share: disturbances raise it, so a rate must be inverted
    /// first. A difference may be zero or negative.
    pub cost: f64,
    /// The state of the core during the leg.
    pub core: Core,
}

/// The state of the core during a leg, as the two reference loops around it show it. By default
/// nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Core {
    /// The duration of a clock cycle over the shortest that this run sustained: 1 at the highest
    /// clock. `None` is unknown: the references were not run, the two readings around the leg
    /// disagree, or a context switch fell in between.
    pub clock: Option<f64>,
    /// The ratio of the references, `width / chain`, over its value on a core of one's own: 1 alone,
    /// more when something shares the core. `None` is unknown, which is not "none".
    pub sharing: Option<f64>,
}

/// The way from the legs of a process to its value, and from processes to the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Centre {
    /// The lower quartile of timed legs, since bursts of other work only lengthen them; and for the
    /// same reason the quantile at 0.35 of processes.
    LowerQuartile,
    /// The median of both: for counts, and for differences, where a disturbance shortens as it
    /// lengthens.
    Median,
}

impl Centre {
    /// The value of a process by its legs.
    pub fn of(self, legs: &[f64]) -> Option<f64> {
        match self {
            Self::LowerQuartile => quantile(legs, 0.25),
            Self::Median => median(legs),
        }
    }

    /// The quantile of processes that is the estimate. A process next to a burst, or in the slower of two
    /// modes, only costs more: where the quantile was 0.4, three values more of 100 had an interval within
    /// ±5 % than with the median, and at least as many intervals held, in all designs that were tried. At
    /// 0.35, of ten passes of two recorded processes on a quiet machine, 96 in place of 94 of 100 intervals
    /// held, and as many values were within ±5 %.
    pub(super) fn of_processes(self) -> f64 {
        match self {
            Self::LowerQuartile => 0.35,
            Self::Median => 0.5,
        }
    }
}

/// The clocks of a run and of earlier runs on the same machine, as durations of a cycle over the
/// shortest that this run sustained.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocks {
    /// The longest that this run sustained: at least 1.
    pub longest: f64,
    /// The shortest that each earlier run of the store sustained. Empty in the first run.
    pub earlier: Vec<f64>,
}

/// The distance by which the clock may differ from what was measured, in logarithms; neither is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reach {
    /// Towards shorter cycles.
    pub(super) faster: f64,
    /// Towards longer ones.
    pub(super) slower: f64,
}

impl Reach {
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            faster: self.faster * factor,
            slower: self.slower * factor,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            faster: self.faster + other.faster,
            slower: self.slower + other.slower,
        }
    }
}

impl Clocks {
    /// The highest clock of the next run against this run's. The runs of the store show it, but for the
    /// odd ones that the confidence leaves out. A first run promises its own clock, which it states: what
    /// others may be is not known, and a comparison takes off what they explain.
    pub(super) fn of_next_run(&self) -> Reach {
        let mut clocks: Vec<f64> = self.earlier.iter().map(|clock| clock.ln()).collect();
        clocks.push(0.0);
        clocks.sort_unstable_by(f64::total_cmp);
        let last = clocks.len() - 1;
        let left_out = (TAIL * last as f64) as usize;
        Reach {
            faster: (-clocks[left_out]).max(0.0),
            slower: clocks[last - left_out].max(0.0),
        }
    }

    /// The clocks of this run beyond those from `fastest` to `slowest`, both logarithms.
    pub(super) fn beyond(&self, [fastest, slowest]: [f64; 2]) -> Reach {
        Reach {
            faster: fastest.max(0.0),
            slower: (self.longest.ln().max(0.0) - slowest).max(0.0),
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        let is_duration = |clock: &f64| clock.is_finite() && *clock > 0.0;
        is_duration(&self.longest) && self.earlier.iter().all(is_duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In per cent.
    fn next(longest: f64, earlier: &[f64]) -> [i64; 2] {
        let clocks = Clocks {
            longest,
            earlier: earlier.into(),
        };
        let Reach { faster, slower } = clocks.of_next_run();
        [faster, slower].map(|reach| (100.0 * reach).round() as i64)
    }

    #[test]
    fn the_next_run_may_have_the_clock_of_any_earlier_one() {
        assert_eq!(next(1.0, &[]), [0; 2]);
        assert_eq!(next(1.5, &[]), [0; 2]);
        assert_eq!(next(1.0, &[1.0]), [0; 2]);
        let many = [vec![1.0; 100], vec![0.8]].concat();
        assert_eq!(next(1.0, &many), [0; 2]);
        assert_eq!(next(1.0, &[0.9, 1.0, 1.06]), [11, 6]);
    }
}
