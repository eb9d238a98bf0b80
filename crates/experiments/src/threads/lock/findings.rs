//! Findings and figures of `threads.lock`: spinning against blocking.

use super::{
    ACROSS_A_SLICE, BODY, Body, COMPLEX_STEPS, ENTRY, LENGTHS, LOCK, LONG_STEPS, LockType, MIDDLE,
    PAIR, RUN, SHORT_SLICE_US, SLICE, THREADS, at,
};
use crate::estimates::{by_ratio, found, grade, ratio, side_by_side};
use crate::figures::{bars, curves, logarithmic};
use crate::judging::{ALMOST, exceeds, extremes, is_about};
use crate::prelude::*;
use instrument::figure::{FigurePoint, Series};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    found([
        ranking(results),
        crowd(results),
        break_even(results),
        collapse(results),
    ])
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    vec![
        by_threads(results, "run_simple", Body::Simple),
        by_threads(results, "run_simple_yield", Body::SimpleYield),
        by_threads(results, "run_complex", Body::COMPLEX),
        by_length(results),
        by_lock(results),
    ]
}

/// The report's table, as curves.
fn by_threads(results: &Results, key: &str, body: Body) -> Figure {
    let series =
        |lock: LockType| results.series(lock.name(), RUN, THREADS, &[BODY.at(body), LOCK.at(lock)]);
    curves(
        key,
        &format!("A run of the body {body}, on one worker"),
        (THREADS, logarithmic("run", RUN.unit)),
        [LockType::Lock, LockType::SpinLock].map(series).into(),
    )
}

fn by_length(results: &Results) -> Figure {
    let point = |lock, steps: u64| -> Option<FigurePoint> {
        let levels = at(Body::complex(steps), lock, PAIR);
        let point = results.series("", ENTRY, BODY, &levels).points.pop()?;
        Some(FigurePoint {
            x: steps.into(),
            ..point
        })
    };
    let series = |lock: LockType| Series {
        label: lock.name().into(),
        points: LENGTHS
            .iter()
            .filter_map(|steps| point(lock, *steps))
            .collect(),
    };
    curves(
        "length",
        &format!("{PAIR} kernel threads by the length of the section"),
        (
            logarithmic("steps inside", Unit::Count),
            logarithmic("entry", ENTRY.unit),
        ),
        [LockType::PthreadMutex, LockType::PthreadSpin]
            .map(series)
            .into(),
    )
}

fn by_lock(results: &Results) -> Figure {
    let series = |body: Body| {
        let levels = [BODY.at(body), THREADS.at(MIDDLE)];
        results.series(&body.to_string(), ENTRY, LOCK, &levels)
    };
    bars(
        "locks",
        &format!("{MIDDLE} threads, an entry in a long run"),
        (LOCK, logarithmic("entry", ENTRY.unit)),
        [Body::Simple, Body::COMPLEX].map(series).into(),
    )
}

// Threads that share one worker, and so one processor.

/// The estimates of both locks with the most threads for which both are known, two at least.
fn with_most<'r>(
    results: &'r Results,
    body: Body,
    metric: Metric,
) -> Option<(Count, &'r Estimate, &'r Estimate)> {
    let curve = |lock| results.along(THREADS, metric, &[BODY.at(body), LOCK.at(lock)]);
    let most = side_by_side(&curve(LockType::Lock), &curve(LockType::SpinLock)).pop();
    most.filter(|(threads, ..)| threads.0 > 1)
}

/// A run of user threads that lose their turn inside a spin lock.
fn collapse(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, Body::SimpleYield, RUN)?;
    let times = ratio(spin, lock)?;
    let said = sentence!(
        "{threads} user threads on one worker that yield inside a lock take {times} as long with a \
         spin lock as with one that blocks. A thread that finds the spin lock held spins to the \
         end of its slice of {slice}.",
        slice = Quantity::nanoseconds(slice_us(results) as f64 * 1e3),
    );
    Some(by_ratio("collapse", said, &times).weighing(0.2))
}

/// The slice of that run: all results have the same.
fn slice_us(results: &Results) -> u64 {
    let mut points = results.points.iter();
    let chosen = points.find_map(|result| result.point.level(SLICE).ok());
    chosen.map_or(SHORT_SLICE_US, |Count(slice_us)| slice_us)
}

// Threads on several processors: the report's open question.

/// The ways to let threads in one after the other, as they are called in a sentence.
const WAYS: [(LockType, &str); 6] = [
    (LockType::Lock, "the Lock of user threads on one core"),
    (
        LockType::LockOnAllCores,
        "the Lock of user threads on all cores",
    ),
    (
        LockType::SpinLockOnAllCores,
        "the SpinLock of user threads on all cores",
    ),
    (
        LockType::PthreadMutex,
        "the pthread mutex of kernel threads",
    ),
    (
        LockType::StdMutex,
        "the standard library's Mutex of kernel threads",
    ),
    (
        LockType::PthreadSpin,
        "the pthread spin lock of kernel threads",
    ),
];

/// An entry of this many threads that compute inside.
fn entry<'r>(
    results: &'r Results,
    lock: LockType,
    threads: Count,
    steps: u64,
) -> Option<&'r Estimate> {
    results.sound(ENTRY, &at(Body::complex(steps), lock, threads))
}

/// The fastest ways, and the gain of several cores.
fn ranking(results: &Results) -> Option<Finding> {
    let found = WAYS.iter().map(|(lock, name)| {
        let entry = entry(results, *lock, MIDDLE, COMPLEX_STEPS)?;
        Some((*lock, *name, entry))
    });
    let mut found: Vec<_> = found.collect::<Option<_>>()?;
    found.sort_by(|(.., one), (.., other)| one.centre.total_cmp(&other.centre));
    let (.., best) = found.first()?;
    let (_, slowest, worst) = found.last()?;
    let times = ratio(worst, best)?;
    let is_slower =
        |entry| ratio(entry, best).is_none_or(|times| grade(&times, 1.0) == Grade::Certain);
    let fastest: Vec<_> = found
        .iter()
        .take_while(|(.., entry)| !is_slower(entry))
        .collect();
    let names: Vec<_> = fastest.iter().map(|(_, name, _)| *name).collect();
    let (is, names) = match names.as_slice() {
        [name] => ("is", (*name).to_owned()),
        [others @ .., last] => ("are", format!("{} and {last}", others.join(", "))),
        [] => return None,
    };
    let said = sentence!(
        "Where {threads} threads compute inside one lock, the fastest {is} {names}: {best} an entry. \
         The slowest, {slowest}, takes {times} as long.",
        threads = MIDDLE,
    );
    Some(by_ratio("several_cores", said, &times).weighing(0.45))
}

/// Spinning against blocking on all cores, where kernel threads compute inside.
fn crowd(results: &Results) -> Option<Finding> {
    let entry = |lock| entry(results, lock, MIDDLE, COMPLEX_STEPS);
    let (spin, lock) = (
        entry(LockType::PthreadSpin)?,
        entry(LockType::PthreadMutex)?,
    );
    let times = ratio(spin, lock)?;
    let said = sentence!(
        "{threads} kernel threads that compute {steps} steps inside one lock take {times} as long with \
         pthread_spinlock as with a pthread mutex.",
        threads = MIDDLE,
        steps = COMPLEX_STEPS.to_string(),
    );
    Some(by_ratio("kernel_threads", said, &times).weighing(0.6))
}

/// For sections of each number of steps, in ascending order, an entry of two kernel threads that spin and of
/// two that block.
pub(in crate::threads) fn spin_and_block<'r>(
    results: &'r Results,
) -> impl Iterator<Item = (u64, &'r Estimate, &'r Estimate)> {
    LENGTHS.into_iter().filter_map(|steps| {
        let entry = |lock| entry(results, lock, PAIR, steps);
        let (spin, block) = (
            entry(LockType::PthreadSpin)?,
            entry(LockType::PthreadMutex)?,
        );
        Some((steps, spin, block))
    })
}

/// The same of a run of user threads on one worker.
pub(in crate::threads) fn user_spin_and_block<'r>(
    results: &'r Results,
) -> impl Iterator<Item = (u64, &'r Estimate, &'r Estimate)> {
    ACROSS_A_SLICE.into_iter().filter_map(|steps| {
        let run = |lock| results.sound(RUN, &at(Body::complex(steps), lock, MIDDLE));
        Some((steps, run(LockType::SpinLock)?, run(LockType::Lock)?))
    })
}

/// The time that a step of the *complex* body takes, in ns, by two lengths of it that one thread went
/// through.
pub(in crate::threads) fn step_ns(results: &Results) -> Option<f64> {
    let alone = |steps| entry(results, LockType::Lock, Count(1), steps);
    let (long, short) = (alone(LONG_STEPS)?, alone(COMPLEX_STEPS)?);
    let step_ns = (long.centre - short.centre) / (LONG_STEPS - COMPLEX_STEPS) as f64;
    (step_ns > 0.0).then_some(step_ns)
}

/// The lengths of the section for which kernel threads that spin are faster.
fn break_even(results: &Results) -> Option<Finding> {
    let step_ns = step_ns(results)?;
    let length = |steps| Quantity::nanoseconds(steps as f64 * step_ns);
    let compared: Vec<_> = spin_and_block(results)
        .filter_map(|(steps, spin, block)| Some((length(steps), ratio(spin, block)?)))
        .collect();
    let is_even = |(_, times): &(Quantity, Quantity)| is_about(times, 1.0, ALMOST) == Ruling::Holds;
    let decided = |wanted: Ruling| {
        let is_wanted = move |(_, times): &&(Quantity, Quantity)| exceeds(times, 1.0) == wanted;
        compared.iter().filter(is_wanted)
    };
    let last_gain = decided(Ruling::DoesNotHold).next_back();
    let first_loss = decided(Ruling::Holds).next();
    let finding = match (last_gain, first_loss) {
        (Some((gain_ns, gain)), Some((loss_ns, loss))) if gain_ns.value < loss_ns.value => {
            let said = sentence!(
                "Two kernel threads on two processors gain by spinning in sections of up to {gain_ns}, \
                 where it takes {gain} the time of a mutex. In sections of {loss_ns} they lose: {loss}."
            );
            Finding::new("break_even", said)
        }
        _ => {
            let [(best_ns, best), (worst_ns, worst)] = extremes(&compared)?;
            let (shortest_ns, _) = compared.first()?;
            // Longer sections are left out: they are not decided, and so no gain.
            let (longest_ns, _) = last_gain
                .filter(|_| first_loss.is_none())
                .or(compared.last())?;
            let (verdict, grade) = match (last_gain, first_loss) {
                (Some(_), None) => ("gain by spinning in sections", Grade::Certain),
                (None, Some(_)) => ("lose by spinning in sections", Grade::Certain),
                (Some(_), Some(_)) => ("gain by spinning in some sections", Grade::Certain),
                (None, None) if compared.iter().all(is_even) => (
                    "gain or lose little by spinning in sections",
                    Grade::Certain,
                ),
                (None, None) => return None,
            };
            let said = sentence!(
                "Two kernel threads on two processors {verdict} of {shortest_ns} to {longest_ns}: it takes \
                 {best} the time of a mutex in sections of {best_ns}, and {worst} in sections of \
                 {worst_ns}."
            );
            Finding::new("break_even", said).graded(grade)
        }
    };
    Some(finding.weighing(0.55))
}
