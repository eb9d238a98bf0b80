//! Threads that switch to one another.

use super::{START, run};
use crate::prelude::*;
use crate::threads::kind::{KIND, Kind, THREADS, UserThreads};
use crate::threads::switch::{KERNEL_SWITCHES, SWITCH, Switch};
use crate::together::start_together;
use platform::usage::{COUNTS_SWITCHES, Usage};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use uthread::{Runtime, yield_now};

/// Turns of each thread in the run in which the kernel's switches are counted: enough that those of
/// starting and joining do not show.
const COUNTED_TURNS: u64 = 1000;

impl UserThreads for Switch {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(threads) = point.level(THREADS)?;
        let hand_on = match point.level(KIND)? {
            Kind::User => among_user_threads,
            Kind::Kernel => among_kernel_threads,
        };
        let before = Usage::of_process()?;
        hand_on(threads, COUNTED_TURNS)?;
        let used = Usage::of_process()?.since(&before);
        if COUNTS_SWITCHES {
            let switches = used.voluntary_switches + used.involuntary_switches;
            let switches = switches as f64 / (threads * COUNTED_TURNS) as f64;
            sampler.value(KERNEL_SWITCHES, switches);
        }
        sampler.repeat(SWITCH, threads as f64, |turns| hand_on(threads, turns))
    }
}

fn among_user_threads(threads: u64, turns: u64) -> Result<(), MeasureError> {
    run(Runtime::builder(), || {
        let hand_on = move || (0..turns).for_each(|_| yield_now());
        let threads: Vec<_> = (0..threads).map(|_| uthread::spawn(hand_on)).collect();
        for thread in threads {
            thread.join().expect("it only yields");
        }
    })
}

/// One place in the ring.
#[derive(Default)]
struct Place {
    thread: OnceLock<Thread>,
    has_turn: AtomicBool,
}

fn among_kernel_threads(threads: u64, turns: u64) -> Result<(), MeasureError> {
    let places: Vec<Place> = (0..threads).map(|_| Place::default()).collect();
    places[0].has_turn.store(true, Ordering::Release);
    let take_turns = |index: usize| {
        places[index].thread.get_or_init(thread::current);
        let next = &places[(index + 1) % places.len()];
        for _ in 0..turns {
            while !places[index].has_turn.swap(false, Ordering::Acquire) {
                thread::park();
            }
            next.has_turn.store(true, Ordering::Release);
            next.thread.wait().unpark();
        }
    };
    start_together(places.len(), || (), take_turns).map_err(MeasureError::system(START))
}

#[cfg(test)]
mod tests {
    use super::{KERNEL_SWITCHES, Kind, Switch};
    use crate::made_up::{sampled, values};
    use crate::threads::kind::point;

    #[test]
    fn the_kernel_switches_for_its_own_threads_only() {
        for (kind, least, most) in [(Kind::User, 0.0, 0.5), (Kind::Kernel, 0.5, 2.0)] {
            // The tests next to this one are threads of the same process, and their switches are counted
            // too. They cannot fill each of a hundred short counts.
            let is_few = (0..100).any(|_| {
                let samples = sampled(&Switch, &point(kind, 3), &[]);
                let for_each_turn = values(&samples, KERNEL_SWITCHES)[0];
                assert!(for_each_turn >= least, "{kind}: {for_each_turn}");
                for_each_turn <= most
            });
            assert!(is_few, "{kind}");
        }
    }
}
