//! What a thread sees that never waits: gaps, the kernel's counters, and pieces of fixed work.

use super::gaps::Watch;
use super::{
    DELAY, DELAY_P99, ENOUGH, GAP, GAP_P99, GAPS, HALF, INTERRUPTS, INTERVAL, LONGEST, LOOPS, LOST,
    SOFTIRQS, STOLEN, SWITCHES, TIMER,
};
use crate::prelude::*;
use instrument::statistics::summary::{mean, quantile};
use platform::clock::now_ns;
use platform::load::{Interruptions, interruptions};
use platform::usage::{COUNTS_SWITCHES, Usage};

/// Three of four parts of a visit read the clock. In the rest the work is repeated.
const PARTS: u64 = 4;

/// One piece of work, which uses no memory.
pub(super) fn work() {
    (0..LOOPS).for_each(|_| kernels::add_width());
}

pub(super) struct Seen {
    watch: Watch,
    pieces_ns: Vec<f64>,
    /// The time between two readings of the kernel's counters, before the watch and after it.
    counted_ns: u64,
    counted: Option<Interruptions>,
    switches: Option<u64>,
}

impl Seen {
    /// Sees what the calling thread, which is pinned to `cpu`, meets in `length_ns`.
    pub fn by(cpu: usize, length_ns: u64) -> Result<Self, MeasureError> {
        let work_ns = length_ns / PARTS;
        let begin_ns = now_ns();
        let before = interruptions(cpu);
        let usage = Usage::of_thread()?;
        let watch = Watch::of(length_ns - work_ns);
        let usage = Usage::of_thread()?.since(&usage);
        let counted = interruptions(cpu).zip(before);
        let counted_ns = now_ns().saturating_sub(begin_ns);
        let switches = usage.voluntary_switches + usage.involuntary_switches;
        Ok(Self {
            watch,
            pieces_ns: pieces_ns(work_ns),
            counted_ns,
            counted: counted.map(|(after, before)| after.since(&before)),
            switches: COUNTS_SWITCHES.then_some(switches),
        })
    }

    /// What is known of each metric.
    pub fn values(&self) -> Vec<(Metric, f64)> {
        let watch = &self.watch;
        let rate = |count: u64| count as f64 * 1e9 / self.counted_ns as f64;
        let counted = self.counted;
        let stolen = counted.map(|of| of.stolen_ns as f64 / self.counted_ns as f64);
        let gap_p99 = watch
            .quantile_ns(0.99)
            .filter(|_| watch.gaps.len() >= ENOUGH);
        let piece_p99 = quantile(&self.pieces_ns, 0.99).filter(|_| self.pieces_ns.len() >= ENOUGH);
        let values = [
            (LOST, Some(watch.lost())),
            (GAPS, Some(watch.rate())),
            (GAP, watch.quantile_ns(0.5)),
            (GAP_P99, gap_p99),
            (LONGEST, watch.quantile_ns(1.0)),
            (HALF, watch.half_lost_ns()),
            (INTERVAL, watch.interval_ns()),
            (INTERRUPTS, counted.map(|of| rate(of.interrupts))),
            (TIMER, counted.map(|of| rate(of.timer))),
            (SOFTIRQS, counted.map(|of| rate(of.softirqs))),
            (SWITCHES, self.switches.map(rate)),
            (STOLEN, stolen),
            (DELAY, mean(&self.pieces_ns).and_then(|it| self.delay(it))),
            (DELAY_P99, piece_p99.and_then(|it| self.delay(it))),
        ];
        let known = values.into_iter();
        known
            .filter_map(|(metric, value)| Some((metric, value?)))
            .collect()
    }

    /// The delay of a piece of work that takes `piece_ns`, as a share of the time of the fastest.
    fn delay(&self, piece_ns: f64) -> Option<f64> {
        let fastest_ns = quantile(&self.pieces_ns, 0.0).filter(|it| *it > 0.0)?;
        Some(piece_ns / fastest_ns - 1.0)
    }
}

/// The times of pieces of work, one after the other for `least_ns`.
fn pieces_ns(least_ns: u64) -> Vec<f64> {
    let mut pieces_ns = Vec::new();
    let mut begin_ns = now_ns();
    let end_ns = begin_ns + least_ns;
    while begin_ns < end_ns {
        work();
        pieces_ns.push(now_ns().saturating_sub(begin_ns) as f64);
        begin_ns = now_ns();
    }
    pieces_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_shares_of_the_fastest_piece_and_percentiles_come_from_many() {
        let value = |pieces: usize, metric: Metric| {
            let seen = Seen {
                watch: Watch {
                    gaps: Vec::new(),
                    watched_ns: 1_000_000,
                },
                pieces_ns: [&[150.0][..], &vec![100.0; pieces - 1]].concat(),
                counted_ns: 2_000_000,
                counted: Some(Interruptions {
                    timer: 2,
                    stolen_ns: 1_000_000,
                    ..Interruptions::default()
                }),
                switches: Some(3),
            };
            let values = seen.values().into_iter();
            { values }.find_map(|(of, value)| (of == metric).then_some(value))
        };
        assert_eq!(value(2, DELAY), Some(0.25));
        assert_eq!(value(99, DELAY_P99), None);
        assert!(value(100, DELAY_P99).is_some());
        assert_eq!(value(2, STOLEN), Some(0.5));
        assert_eq!(value(2, SWITCHES), Some(1500.0));
        assert_eq!(value(2, TIMER), Some(1000.0));
        assert_eq!(value(2, LOST), Some(0.0));
        for unknown in [GAP, HALF, LONGEST, INTERVAL] {
            assert_eq!(value(2, unknown), None, "{}", unknown.name);
        }
    }
}
