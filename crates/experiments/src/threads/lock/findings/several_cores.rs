//! Threads on several processors: the report's open question.

use super::compared::compared;
use crate::estimates::{grade, ratio};
use crate::judging::exceeds;
use crate::prelude::*;
use crate::threads::lock::{
    Body, COMPLEX_STEPS, ENTRY, LENGTHS, LONG_STEPS, LockType, MIDDLE, PAIR, at,
};
use instrument::claim::Ruling;
use instrument::statistics::Interval;

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
pub(super) fn ranking(results: &Results) -> Option<Finding> {
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
    let more_cores = if fastest.iter().any(|(lock, ..)| *lock == LockType::Lock) {
        " More cores gain nothing if all threads want one lock."
    } else {
        ""
    };
    let (is, names) = match names.as_slice() {
        [name] => ("is", (*name).to_owned()),
        [others @ .., last] => ("are", format!("{} and {last}", others.join(", "))),
        [] => return None,
    };
    let said = sentence!(
        "If {threads} threads compute inside one lock, the fastest {is} {names}: {best} an entry. \
         The slowest, {slowest}, takes {times} as long.{more_cores}",
        threads = MIDDLE,
    );
    let finding = Finding::new("several_cores", said).graded(grade(&times, 1.0));
    Some(finding.weighing(0.7))
}

pub(super) fn user_threads(results: &Results) -> Option<Finding> {
    crowd(
        results,
        ("user_threads", "user threads"),
        (LockType::SpinLockOnAllCores, LockType::LockOnAllCores),
    )
}

pub(super) fn kernel_threads(results: &Results) -> Option<Finding> {
    crowd(
        results,
        ("kernel_threads", "kernel threads"),
        (LockType::PthreadSpin, LockType::PthreadMutex),
    )
}

/// Spinning against blocking on all cores, where threads of one kind compute inside.
fn crowd(
    results: &Results,
    (key, kind): (&str, &str),
    (spin, lock): (LockType, LockType),
) -> Option<Finding> {
    let entry = |lock| entry(results, lock, MIDDLE, COMPLEX_STEPS);
    let (spin, lock) = (entry(spin)?, entry(lock)?);
    let finding = compared(key, (spin, lock), |times| {
        sentence!(
            "On several cores, {threads} {kind} that compute inside the lock take {spin} an entry \
             with a spin lock and {lock} with one that blocks: {times} as long.",
            threads = MIDDLE,
        )
    })?;
    Some(finding.weighing(0.6))
}

/// For sections of so many steps, in ascending order, an entry of two kernel threads that spin and of
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

/// The time that a step of the *complex* body takes, in ns, by two lengths of it that one thread went
/// through.
pub(in crate::threads) fn step_ns(results: &Results) -> Option<f64> {
    let alone = |steps| entry(results, LockType::Lock, Count(1), steps);
    let (long, short) = (alone(LONG_STEPS)?, alone(COMPLEX_STEPS)?);
    let step_ns = (long.centre - short.centre) / (LONG_STEPS - COMPLEX_STEPS) as f64;
    (step_ns > 0.0).then_some(step_ns)
}

/// The interval leaves room for no more than a quarter either way.
fn is_about_even(times: &Quantity) -> bool {
    let within = |interval: Interval| interval.low > 0.8 && interval.high < 1.25;
    times.interval.is_some_and(within)
}

/// The lengths of the section for which kernel threads that spin are faster.
pub(super) fn break_even(results: &Results) -> Option<Finding> {
    let step_ns = step_ns(results)?;
    let length = |steps| Quantity::nanoseconds(steps as f64 * step_ns);
    let compared: Vec<_> = spin_and_block(results)
        .filter_map(|(steps, spin, block)| Some((length(steps), ratio(spin, block)?)))
        .collect();
    let decided = |wanted: Ruling| {
        let is_wanted = move |(_, times): &&(Quantity, Quantity)| exceeds(times, 1.0) == wanted;
        compared.iter().filter(is_wanted)
    };
    let last_gain = decided(Ruling::DoesNotHold).next_back();
    let first_loss = decided(Ruling::Holds).next();
    let finding = match (last_gain, first_loss) {
        (Some((gain_ns, gain)), Some((loss_ns, loss))) if gain_ns.value < loss_ns.value => {
            let said = sentence!(
                "For two kernel threads on two processors, spinning pays in sections of up to \
                 {gain_ns}: it takes {gain} the time of a mutex. It does not pay in sections of \
                 {loss_ns}: there it takes {loss}."
            );
            Finding::new("break_even", said)
        }
        _ => {
            let by_times = |one: &&(Quantity, Quantity), other: &&(Quantity, Quantity)| {
                one.1.value.total_cmp(&other.1.value)
            };
            let (best_ns, best) = compared.iter().min_by(by_times)?;
            let (worst_ns, worst) = compared.iter().max_by(by_times)?;
            let (shortest_ns, _) = compared.first()?;
            // Longer sections are left out: they are not decided, and so no gain.
            let (longest_ns, _) = last_gain
                .filter(|_| first_loss.is_none())
                .or(compared.last())?;
            let (verdict, grade) = match (last_gain, first_loss) {
                (Some(_), None) => ("pays", Grade::Certain),
                (None, Some(_)) => ("does not pay", Grade::Certain),
                (Some(_), Some(_)) => ("pays here and there", Grade::Certain),
                (None, None) if compared.iter().all(|(_, times)| is_about_even(times)) => {
                    ("makes little difference", Grade::Certain)
                }
                (None, None) => ("makes no visible difference", Grade::CannotBeTold),
            };
            let said = sentence!(
                "For two kernel threads on two processors, spinning {verdict} in sections of \
                 {shortest_ns} to {longest_ns}. It takes {best} the time of a mutex in sections \
                 of {best_ns}, and {worst} in sections of {worst_ns}."
            );
            Finding::new("break_even", said).graded(grade)
        }
    };
    Some(finding.weighing(0.55))
}
