//! Threads that share one worker, and so one processor.

use super::compared::compared;
use crate::estimates::{grade, ratio, side_by_side};
use crate::prelude::*;
use crate::threads::lock::{
    BODY, Body, ENTRY, LOCK, LockType, RUN, SHORT_SLICE_US, SLICE, THREADS, TURNS_TAKEN, at,
};

/// Seconds that the report measured for 99 threads that yield inside a spin lock.
const REPORTED_S: f64 = 77.634_089;
/// A count this close to the law confirms it exactly; on a busy machine some ticks come too
/// late.
const EXACT: f64 = 0.02;
const NEAR: f64 = 0.1;
/// Threads in that run.
const REPORTED_THREADS: Count = Count(99);

/// The estimates of both locks with the most threads for which both are known, two at least.
fn with_most<'r>(
    results: &'r Results,
    body: Body,
    metric: Metric<&'static str>,
) -> Option<(Count, &'r Estimate, &'r Estimate)> {
    let curve = |lock| results.along(THREADS, metric, &[BODY.at(body), LOCK.at(lock)]);
    let most = side_by_side(&curve(LockType::Lock), &curve(LockType::SpinLock)).pop();
    most.filter(|(threads, ..)| threads.0 > 1)
}

/// The slices that so many threads burn: each spins a slice for every thread that is inside
/// before it.
pub(super) fn slices(threads: f64) -> f64 {
    threads * (threads - 1.0) / 2.0
}

/// The slices that so many spinning threads burn.
fn law(threads: Count) -> Quantity {
    Quantity::exact(slices(threads.0 as f64), Unit::Count)
}

pub(super) fn collapse(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, Body::SimpleYield, RUN)?;
    let finding = compared("collapse", (spin, lock), |times| {
        sentence!(
            "If {threads} threads of one worker yield inside the lock, a run takes {spin} with a \
             spin lock and {lock} with one that blocks: {times} as long."
        )
    })?;
    Some(finding.weighing(0.55))
}

/// The turns that were taken from the spinning threads in that run.
fn turns_taken<'r>(results: &'r Results, threads: Count) -> Option<&'r Estimate> {
    let levels = at(Body::SimpleYield, LockType::SpinLock, threads);
    results.sound(TURNS_TAKEN, &levels)
}

/// The slice of that run: all results have the same.
fn slice_us(results: &Results) -> u64 {
    let mut points = results.points.iter();
    let chosen = points.find_map(|result| result.point.level(SLICE).ok());
    chosen.map_or(SHORT_SLICE_US, |Count(slice_us)| slice_us)
}

/// The preemptions in that run, counted and not only timed: each is a slice burnt.
pub(super) fn burnt(results: &Results) -> Option<Finding> {
    let (threads, _, spin) = with_most(results, Body::SimpleYield, RUN)?;
    let turns = turns_taken(results, threads)?;
    let law = law(threads);
    let said = sentence!(
        "While {threads} threads of one worker yielded inside a spin lock, they were preempted \
         {turns} times; n(n − 1)/2 predicts {law}. A spinning thread burns a whole slice for each \
         thread that goes in before it. A turn lasted {turn}, the slice is {slice}.",
        turn = Quantity::nanoseconds(spin.centre / turns.centre),
        slice = Quantity::nanoseconds(slice_us(results) as f64 * 1e3),
    );
    let agrees = (turns.centre / law.value - 1.0).abs() < EXACT;
    let grade = if agrees {
        Grade::Certain
    } else {
        Grade::Likely
    };
    Some(Finding::new("burnt", said).graded(grade).weighing(0.35))
}

/// The report's figure by the same law, if the measurement shows that the law holds.
pub(super) fn reported(results: &Results) -> Option<Finding> {
    let (threads, ..) = with_most(results, Body::SimpleYield, RUN)?;
    let turns = turns_taken(results, threads)?.centre;
    let held = (turns / law(threads).value - 1.0).abs() < NEAR;
    let (threads, law) = (REPORTED_THREADS, law(REPORTED_THREADS));
    let reported = Quantity::nanoseconds(REPORTED_S * 1e9);
    let said = sentence!(
        "The {reported} that a report measured with {threads} threads are {law} slices of \
         {slice}: its spin lock was not slow, its slices were long.",
        slice = Quantity::nanoseconds(reported.value / law.value),
    );
    let finding = Finding::new("reported", said).graded(Grade::Likely);
    held.then(|| finding.weighing(0.6))
}

/// Long runs: sooner or later a slice ends inside the lock.
pub(super) fn long_run(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, Body::COMPLEX, ENTRY)?;
    let finding = compared("long_run", (spin, lock), |times| {
        sentence!(
            "Where {threads} threads compute inside the lock for long, an entry takes {spin} with \
             a spin lock and {lock} with one that blocks, {times} as long. Whenever a slice ends \
             inside the spin lock, all threads that wait burn theirs."
        )
    })?;
    Some(finding.weighing(0.6))
}

/// The gain of spinning where no thread loses its turn inside.
pub(super) fn short_section(results: &Results) -> Option<Finding> {
    let entry = |lock| results.sound(ENTRY, &at(Body::Simple, lock, Count(1)));
    let (lock, spin) = (entry(LockType::Lock)?, entry(LockType::SpinLock)?);
    let times = ratio(lock, spin)?;
    let faster = times.interval.map_or(times.value, |interval| interval.low) > 1.0;
    let said = sentence!(
        "A single thread enters and leaves a spin lock in {spin} and one that blocks in {lock}, \
         {times} as long: spinning can win no more than that on one worker."
    );
    faster.then(|| Finding::new("short_section", said).graded(grade(&times, 1.0)))
}
