//! When a tick that came in library code is tried again.

use core::cell::Cell;

/// Most library calls are short: a little later the thread probably runs the program's own code.
const SOON_NS: u64 = 20_000;

/// A tick takes at least this time in a virtual machine, with the setting of the timer.
const LEAST_COST_NS: u64 = 5_000;

/// After a longer time, other programs have run.
const MOST_COST_NS: u64 = 50_000;

/// One of this many parts of the time is spent on the ticks at most.
const SHARE: u64 = 20;

/// The interval is longer than the longest then.
const MOST_DOUBLINGS: u32 = 32;

/// No interval is longer, whatever the slice: a thread that mostly reads the clock is in library code at nearly every
/// tick, and what waits for it must not wait for many long slices.
const LONGEST_NS: u64 = 2_000_000;

/// The ticks since the last one that took effect. The intervals double up to a slice or
/// 2 ms, or up to what makes the ticks cheap.
#[derive(Default)]
pub(crate) struct Retries {
    misses: Cell<u32>,
    /// When the slice began whose tick was the first.
    began_ns: Cell<u64>,
    /// When this tick was due, and when the next one is.
    was_due_ns: Cell<u64>,
    due_ns: Cell<u64>,
    /// The time that one takes, from when it is due until the timer is set again.
    cost_ns: Cell<u64>,
}

impl Retries {
    /// Ends the series; `true` if there was one.
    pub(crate) fn end(&self) -> bool {
        self.misses.replace(0) > 0
    }

    /// The time until the next try, after a tick came at `now_ns`.
    pub(super) fn next_ns(&self, now_ns: u64, slice_ns: u64) -> u64 {
        let misses = self.misses.get();
        self.misses.set(misses.saturating_add(1));
        if misses == 0 {
            self.began_ns.set(now_ns.saturating_sub(slice_ns));
        }
        let cost_ns = self.cost_ns.get().max(LEAST_COST_NS);
        let most_ns = slice_ns.min(LONGEST_NS);
        let doubled_ns = (SOON_NS << misses.min(MOST_DOUBLINGS)).min(most_ns);
        // With this tick and the next one.
        let ticks = u64::from(misses) + 2;
        let cheap_ns = self.began_ns.get() + ticks * cost_ns * SHARE;
        let next_ns = doubled_ns.max(cheap_ns.saturating_sub(now_ns));
        let next_ns = next_ns.min(most_ns.max(cost_ns * SHARE));
        self.was_due_ns.set(self.due_ns.replace(now_ns + next_ns));
        next_ns
    }

    /// Learns what a tick takes: the timer has been set again at `now_ns`.
    pub(super) fn set(&self, now_ns: u64) {
        /// One value counts little.
        const WEIGHT: u64 = 4;
        let cost_ns = now_ns.saturating_sub(self.was_due_ns.get());
        if self.misses.get() > 1 && cost_ns <= MOST_COST_NS {
            let before_ns = self.cost_ns.get().max(LEAST_COST_NS);
            let mean_ns = (before_ns * (WEIGHT - 1) + cost_ns) / WEIGHT;
            self.cost_ns.set(mean_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_COST_NS, LONGEST_NS, MOST_COST_NS, Retries, SHARE, SOON_NS};

    /// Ticks in library code for `ticks` times, of which each takes `cost_ns`. Returns the intervals.
    fn intervals(slice_ns: u64, cost_ns: u64, ticks: usize) -> Vec<u64> {
        let retries = Retries::default();
        let mut due_ns = slice_ns;
        let series = (0..ticks).map(|_| {
            let next_ns = retries.next_ns(due_ns, slice_ns);
            retries.set(due_ns + cost_ns);
            due_ns += next_ns;
            next_ns
        });
        series.collect()
    }

    #[test]
    fn intervals_double_up_to_the_longest() {
        let found = intervals(10_000_000, 1000, 14);
        for (i, ns) in found.iter().enumerate() {
            assert_eq!(*ns, (SOON_NS << i).min(LONGEST_NS), "{found:?}");
        }
    }

    #[test]
    fn ticks_take_a_bounded_share_of_the_time() {
        for slice_ns in [20_000, 100_000, 500_000, 1_000_000, 10_000_000] {
            for cost_ns in [1000, 5000, 25_000, MOST_COST_NS] {
                let (first, rest) = (200, 10_000);
                let found = intervals(slice_ns, cost_ns, first + rest);
                // The cost is known after some ticks.
                let time_ns: u64 = found[first..].iter().sum();
                let spent_ns = rest as u64 * cost_ns;
                assert!(
                    spent_ns * SHARE <= time_ns + time_ns / 10,
                    "{spent_ns} ns of {time_ns} with slices of {slice_ns} ns"
                );
                let longest_ns = slice_ns.max(SHARE * cost_ns.max(LEAST_COST_NS));
                let (least, most) = (found.iter().min(), found.iter().max());
                assert!(
                    least > Some(&0) && most <= Some(&longest_ns),
                    "{least:?} to {most:?}"
                );
            }
        }
    }

    #[test]
    fn other_programs_make_retries_no_rarer() {
        let found = intervals(1_000_000, 10 * MOST_COST_NS, 1000);
        assert!(found.iter().all(|ns| *ns <= 1_000_000));
    }

    #[test]
    fn a_series_that_ends_begins_anew() {
        let retries = Retries::default();
        let mut now_ns = 0;
        for _ in 0..100 {
            now_ns += 10_000_000;
            assert_eq!(retries.next_ns(now_ns, 10_000_000), SOON_NS);
            assert!(retries.end() && !retries.end());
        }
    }
}
