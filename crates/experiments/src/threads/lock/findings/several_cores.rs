//! Where threads run on several processors: the report's open question.

use super::super::points::{LENGTHS, LONG_STEPS, MIDDLE, PAIR};
use super::super::{
    COMPLEX_STEPS, ENTRY, LOCK_ALL, LOCK_ONE, PTHREAD_MUTEX, PTHREAD_SPIN, SPIN_ALL, STD_MUTEX,
    complex, point,
};
use super::{compared, of};
use crate::estimates::{WithEstimate, grade, ratio};
use crate::judging::exceeds;
use instrument::claim::Ruling;
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::statistics::{Estimated, Interval};

/// The ways to let threads in one after the other, as they are called in a sentence.
const WAYS: [(&str, &str); 6] = [
    (LOCK_ONE, "the Lock of user threads on one core"),
    (LOCK_ALL, "the Lock of user threads on all cores"),
    (SPIN_ALL, "the SpinLock of user threads on all cores"),
    (PTHREAD_MUTEX, "the pthread mutex of kernel threads"),
    (STD_MUTEX, "the standard library's Mutex of kernel threads"),
    (PTHREAD_SPIN, "the pthread spin lock of kernel threads"),
];

/// An entry of this many threads that compute inside.
fn entry<'r>(results: &'r Results, lock: &str, threads: u64, steps: u64) -> Option<&'r Estimate> {
    of(results, &point(&complex(steps), lock, threads), ENTRY)
}

/// Which ways are the fastest, and whether several cores win anything.
pub(super) fn ranking(results: &Results) -> Option<Finding> {
    let found = WAYS.iter().map(|(lock, name)| {
        let entry = entry(results, lock, MIDDLE, COMPLEX_STEPS)?;
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
    let more_cores = if fastest.iter().any(|(lock, ..)| *lock == LOCK_ONE) {
        " More cores win nothing where all want one lock."
    } else {
        ""
    };
    let (is, names) = match names.as_slice() {
        [name] => ("is", (*name).to_owned()),
        [others @ .., last] => ("are", format!("{} and {last}", others.join(", "))),
        [] => return None,
    };
    let template = format!(
        "To let {{threads}} threads in one after the other, each to compute inside, the fastest {is} \
         {names}: {{best}} an entry. The slowest, {slowest}, takes {{times}} as long.{more_cores}"
    );
    Some(
        Finding::new("several_cores", &template)
            .given("threads", MIDDLE as f64, Unit::Count)
            .estimated("best", best.centre, best.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.7),
    )
}

pub(super) fn user_threads(results: &Results) -> Option<Finding> {
    crowd(
        results,
        ("user_threads", "user threads"),
        SPIN_ALL,
        LOCK_ALL,
    )
}

pub(super) fn kernel_threads(results: &Results) -> Option<Finding> {
    crowd(
        results,
        ("kernel_threads", "kernel threads"),
        PTHREAD_SPIN,
        PTHREAD_MUTEX,
    )
}

/// Spinning against blocking on all cores, where threads of one kind compute inside.
fn crowd(results: &Results, (key, kind): (&str, &str), spin: &str, lock: &str) -> Option<Finding> {
    let [spin, lock] = [spin, lock].map(|lock| entry(results, lock, MIDDLE, COMPLEX_STEPS));
    let template = format!(
        "On several cores, {{threads}} {kind} that compute inside take {{spin}} an entry with a spin \
         lock and {{lock}} with one that blocks: {{times}} as long."
    );
    Some(compared(key, &template, MIDDLE, (spin?, lock?))?.weighing(0.6))
}

/// For sections of so many steps, in ascending order, an entry of two kernel threads that spin and of
/// two that block.
pub(in crate::threads) fn spin_and_block<'r>(
    results: &'r Results,
) -> impl Iterator<Item = (u64, &'r Estimate, &'r Estimate)> {
    LENGTHS.into_iter().filter_map(|steps| {
        let at = |lock| entry(results, lock, PAIR, steps);
        Some((steps, at(PTHREAD_SPIN)?, at(PTHREAD_MUTEX)?))
    })
}

/// What a step of the *complex* body takes, in ns, by two lengths of it that one thread went through.
pub(in crate::threads) fn step_ns(results: &Results) -> Option<f64> {
    let alone = |steps| entry(results, LOCK_ONE, 1, steps);
    let (long, short) = (alone(LONG_STEPS)?, alone(COMPLEX_STEPS)?);
    let step_ns = (long.centre - short.centre) / (LONG_STEPS - COMPLEX_STEPS) as f64;
    (step_ns > 0.0).then_some(step_ns)
}

/// Whether the interval leaves room for no more than a quarter either way.
fn is_about_even(times: &Estimated) -> bool {
    let within = |interval: Interval| interval.low > 0.8 && interval.high < 1.25;
    times.interval.is_some_and(within)
}

/// For which lengths of the section kernel threads that spin are faster.
pub(super) fn break_even(results: &Results) -> Option<Finding> {
    let step_ns = step_ns(results)?;
    let compared: Vec<_> = spin_and_block(results)
        .filter_map(|(steps, spin, block)| Some((steps as f64 * step_ns, ratio(spin, block)?)))
        .collect();
    let decided = |wanted: Ruling| {
        let is_wanted = move |(_, times): &&(f64, Estimated)| exceeds(times, 1.0) == wanted;
        compared.iter().filter(is_wanted)
    };
    let last_gain = decided(Ruling::DoesNotHold).next_back();
    let first_loss = decided(Ruling::Holds).next();
    let finding = match (last_gain, first_loss) {
        (Some((gain_ns, gain)), Some((loss_ns, loss))) if gain_ns < loss_ns => {
            let template = "For two kernel threads on two processors spinning pays in sections of up \
                            to {gain_ns}, where it takes {gain} the time of a mutex, and not in those \
                            of {loss_ns}, where it takes {loss}.";
            Finding::new("break_even", template)
                .given("gain_ns", *gain_ns, Unit::Nanoseconds)
                .with("gain", gain, Unit::Ratio)
                .given("loss_ns", *loss_ns, Unit::Nanoseconds)
                .with("loss", loss, Unit::Ratio)
        }
        _ => {
            let by_centre = |one: &&(f64, Estimated), other: &&(f64, Estimated)| {
                one.1.centre.total_cmp(&other.1.centre)
            };
            let (best_ns, best) = compared.iter().min_by(by_centre)?;
            let (worst_ns, worst) = compared.iter().max_by(by_centre)?;
            let (shortest_ns, _) = compared.first()?;
            // What is not decided beyond is no gain.
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
                (None, None) => ("makes no difference that shows", Grade::CannotBeTold),
            };
            let template = format!(
                "For two kernel threads on two processors spinning {verdict} in sections of \
                 {{shortest_ns}} to {{longest_ns}}: it takes {{best}} the time of a mutex in those of \
                 {{best_ns}} and {{worst}} in those of {{worst_ns}}."
            );
            Finding::new("break_even", &template)
                .given("shortest_ns", *shortest_ns, Unit::Nanoseconds)
                .given("longest_ns", *longest_ns, Unit::Nanoseconds)
                .with("best", best, Unit::Ratio)
                .given("best_ns", *best_ns, Unit::Nanoseconds)
                .with("worst", worst, Unit::Ratio)
                .given("worst_ns", *worst_ns, Unit::Nanoseconds)
                .graded(grade)
        }
    };
    Some(finding.weighing(0.55))
}
