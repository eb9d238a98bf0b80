//! Where threads share one worker, and so one processor.

use super::super::{
    BODY, COMPLEX_STEPS, ENTRY, LOCK_ONE, RUN, SHORT_SLICE_US, SIMPLE, SIMPLE_YIELD, SPIN_ONE,
    THREADS, TURNS_TAKEN, complex, point,
};
use super::{compared, of};
use crate::estimates::{WithEstimate, grade, ratio};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

/// Seconds that the report measured for 99 threads that yield inside a spin lock.
const REPORTED_S: f64 = 77.634_089;
/// A law that holds this closely is seen to hold; on a busy machine some ticks come too late.
const EXACT: f64 = 0.02;
const NEAR: f64 = 0.1;
/// Threads in that run.
const REPORTED_THREADS: f64 = 99.0;

/// On one worker: the estimates of both locks with the most threads for which both are known.
fn with_most<'r>(
    results: &'r Results,
    body: &str,
    metric: &str,
) -> Option<(u64, &'r Estimate, &'r Estimate)> {
    let levels = [(BODY, body.into())];
    let counts = results
        .points
        .iter()
        .filter(|result| result.point.matches(&levels));
    let both = counts.filter_map(|result| {
        let threads = result.point.number(THREADS).ok()?;
        let lock = |name| of(results, &point(body, name, threads), metric);
        Some((threads, lock(LOCK_ONE)?, lock(SPIN_ONE)?))
    });
    both.max_by_key(|(threads, ..)| *threads)
}

/// Each thread that spins burns its slice for every one that is inside before it.
pub(super) fn slices(threads: f64) -> f64 {
    threads * (threads - 1.0) / 2.0
}

pub(super) fn collapse(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, SIMPLE_YIELD, RUN)?;
    let template = "Where {threads} threads of one worker yield inside, a run takes {spin} with a \
                    spin lock and {lock} with one that blocks: {times} as long.";
    Some(compared("collapse", template, threads, (spin, lock))?.weighing(0.55))
}

/// Counted, not only timed: a turn taken is a slice burnt.
pub(super) fn burnt(results: &Results) -> Option<Finding> {
    let (threads, _, spin) = with_most(results, SIMPLE_YIELD, RUN)?;
    let at = point(SIMPLE_YIELD, SPIN_ONE, threads);
    let turns = of(results, &at, TURNS_TAKEN)?;
    let law = slices(threads as f64);
    let slice = spin.centre / turns.centre;
    let template = "While {threads} threads of one worker yielded inside a spin lock, {turns} turns were \
                    taken away, where n(n − 1)/2 = {law} are foretold: who spins burns a whole slice \
                    for each who goes in before. A turn lasted {slice}, the slice is {set}.";
    let agrees = (turns.centre / law - 1.0).abs() < EXACT;
    Some(
        Finding::new("burnt", template)
            .estimated("turns", turns.centre, turns.interval, Unit::Count)
            .given("threads", threads as f64, Unit::Count)
            .given("law", law, Unit::Count)
            .given("slice", slice, Unit::Nanoseconds)
            .given("set", SHORT_SLICE_US as f64 * 1e3, Unit::Nanoseconds)
            .graded(if agrees {
                Grade::Certain
            } else {
                Grade::Likely
            })
            .weighing(0.35),
    )
}

/// The report's figure by the same law; only where the law was seen to hold.
pub(super) fn reported(results: &Results) -> Option<Finding> {
    let (threads, ..) = with_most(results, SIMPLE_YIELD, RUN)?;
    let at = point(SIMPLE_YIELD, SPIN_ONE, threads);
    let turns = of(results, &at, TURNS_TAKEN)?.centre;
    let held = (turns / slices(threads as f64) - 1.0).abs() < NEAR;
    let law = slices(REPORTED_THREADS);
    let template = "The {reported} that a report measured with {threads} threads are {law} slices \
                    of {slice}: its spin lock was as fast as any, its slices were long.";
    held.then(|| {
        Finding::new("reported", template)
            .given("reported", REPORTED_S * 1e9, Unit::Nanoseconds)
            .given("threads", REPORTED_THREADS, Unit::Count)
            .given("law", law, Unit::Count)
            .given("slice", REPORTED_S * 1e9 / law, Unit::Nanoseconds)
            .graded(Grade::Likely)
            .weighing(0.6)
    })
}

/// Slices end inside the lock, sooner or later.
pub(super) fn long_run(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, &complex(COMPLEX_STEPS), ENTRY)?;
    let template = "In long runs of {threads} threads that compute inside, an entry takes {spin} \
                    with a spin lock and {lock} with one that blocks, {times} as long: whenever a \
                    slice ends inside the lock, all who wait burn theirs.";
    Some(compared("long_run", template, threads, (spin, lock))?.weighing(0.6))
}

/// Where nobody loses its turn inside.
pub(super) fn short_section(results: &Results) -> Option<Finding> {
    let at = |lock| point(SIMPLE, lock, 1);
    let lock = of(results, &at(LOCK_ONE), ENTRY)?;
    let spin = of(results, &at(SPIN_ONE), ENTRY)?;
    let times = ratio(lock, spin)?;
    let faster = times.interval.map_or(times.centre, |interval| interval.low) > 1.0;
    let template = "A thread alone enters and leaves a spin lock in {spin} and one that blocks in \
                    {lock}, {times} as long: that is all that spinning can win on one worker.";
    faster.then(|| {
        Finding::new("short_section", template)
            .estimated("spin", spin.centre, spin.interval, Unit::Nanoseconds)
            .estimated("lock", lock.centre, lock.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.5)
    })
}
