//! Findings and figures of `threads.lock`: spinning against blocking.

use super::{
    BODY, Body, COMPLEX_STEPS, ENTRY, LENGTHS, LOCK, LONG_STEPS, LockType, MIDDLE, PAIR, RUN,
    SHORT_SLICE_US, SLICE, THREADS, TURNS_TAKEN, at,
};
use crate::estimates::{by_ratio, certain_if, grade, ratio, side_by_side};
use crate::figures::{axis_of, bars, curves, logarithmic};
use crate::judging::{ALMOST, exceeds, is_about};
use crate::prelude::*;
use instrument::claim::Ruling;
use instrument::figure::{FigurePoint, Series};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let user_threads = (LockType::SpinLockOnAllCores, LockType::LockOnAllCores);
    let kernel_threads = (LockType::PthreadSpin, LockType::PthreadMutex);
    let findings = [
        collapse(results),
        reported(results),
        burnt(results),
        long_run(results),
        short_section(results),
        ranking(results),
        crowd(results, ("user_threads", "user threads"), user_threads),
        crowd(
            results,
            ("kernel_threads", "kernel threads"),
            kernel_threads,
        ),
        break_even(results),
        computed(results),
    ];
    findings.into_iter().flatten().collect()
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
        (axis_of(THREADS), logarithmic("run", RUN.unit)),
        [LockType::Lock, LockType::SpinLock].map(series).into(),
        Vec::new(),
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
        Vec::new(),
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
        (axis_of(LOCK), logarithmic("entry", ENTRY.unit)),
        [Body::Simple, Body::COMPLEX].map(series).into(),
    )
}

/// Threads that spin against as many that block. `say` gets their ratio, and the finding is as certain
/// as the ratio.
fn compared(
    key: &str,
    weight: f64,
    (spin, lock): (&Estimate, &Estimate),
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Finding> {
    let times = ratio(spin, lock)?;
    let finding = Finding::new(key, say(times)).graded(grade(&times, 1.0));
    Some(finding.weighing(weight))
}

// Threads that share one worker, and so one processor.

/// Seconds that the report measured for 99 threads that yield inside a spin lock.
const REPORTED_S: f64 = 77.634_089;
/// A count this close to the law confirms it exactly; on a busy machine some ticks come too
/// late.
const EXACT: f64 = 0.02;
const NEAR: f64 = 0.1;
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

/// The slices that this number of spinning threads burns: each spins a slice for every thread that is inside
/// before it.
fn law(threads: Count) -> Quantity {
    let threads = threads.0 as f64;
    Quantity::exact(threads * (threads - 1.0) / 2.0, Unit::Count)
}

fn collapse(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, Body::SimpleYield, RUN)?;
    compared("collapse", 0.55, (spin, lock), |times| {
        sentence!(
            "If {threads} threads of one worker yield inside the lock, a run takes {spin} with a \
             spin lock and {lock} with one that blocks: {times} as long."
        )
    })
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
fn burnt(results: &Results) -> Option<Finding> {
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
    let grade = certain_if(agrees);
    Some(Finding::new("burnt", said).graded(grade).weighing(0.35))
}

/// The report's figure by the same law, if the measurement shows that the law holds.
fn reported(results: &Results) -> Option<Finding> {
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
fn long_run(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, Body::COMPLEX, ENTRY)?;
    compared("long_run", 0.6, (spin, lock), |times| {
        sentence!(
            "Where {threads} threads compute inside the lock for long, an entry takes {spin} with \
             a spin lock and {lock} with one that blocks, {times} as long. Whenever a slice ends \
             inside the spin lock, all threads that wait burn theirs."
        )
    })
}

/// The gain of spinning where no thread loses its turn inside.
fn short_section(results: &Results) -> Option<Finding> {
    let entry = |lock| results.sound(ENTRY, &at(Body::Simple, lock, Count(1)));
    let (lock, spin) = (entry(LockType::Lock)?, entry(LockType::SpinLock)?);
    let times = ratio(lock, spin)?;
    let faster = times.interval.map_or(times.value, |interval| interval.low) > 1.0;
    let said = sentence!(
        "A single thread enters and leaves a spin lock in {spin} and one that blocks in {lock}, \
         {times} as long: spinning can win no more than that on one worker."
    );
    faster.then(|| by_ratio("short_section", said, &times))
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
    Some(by_ratio("several_cores", said, &times).weighing(0.7))
}

/// Spinning against blocking on all cores, where threads of one kind compute inside.
fn crowd(
    results: &Results,
    (key, kind): (&str, &str),
    (spin, lock): (LockType, LockType),
) -> Option<Finding> {
    let entry = |lock| entry(results, lock, MIDDLE, COMPLEX_STEPS);
    let (spin, lock) = (entry(spin)?, entry(lock)?);
    compared(key, 0.6, (spin, lock), |times| {
        sentence!(
            "On several cores, {threads} {kind} that compute inside the lock take {spin} an entry \
             with a spin lock and {lock} with one that blocks: {times} as long.",
            threads = MIDDLE,
        )
    })
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
                (None, None) if compared.iter().all(is_even) => {
                    ("makes little difference", Grade::Certain)
                }
                (None, None) => ("makes no visible difference", Grade::Undecided),
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

/// The report suspected that its compiler had removed the body.
fn computed(results: &Results) -> Option<Finding> {
    let alone = |steps| {
        let levels = at(Body::complex(steps), LockType::Lock, Count(1));
        results.sound(ENTRY, &levels)
    };
    let times = ratio(alone(LONG_STEPS)?, alone(COMPLEX_STEPS)?)?;
    let said = sentence!(
        "The complex body is really computed: {long_steps} steps take {times} as long as \
         {short_steps}, and every result was correct.",
        long_steps = Count(LONG_STEPS),
        short_steps = Count(COMPLEX_STEPS),
    );
    let linear = (times.value / (LONG_STEPS as f64 / COMPLEX_STEPS as f64) - 1.0).abs() < 0.1;
    linear.then(|| Finding::new("computed", said).weighing(0.3))
}

#[cfg(test)]
mod tests {
    use super::super::Lock;
    use super::*;
    use crate::made_up::{assert_said, finding, findings, measured, number, setting};
    use crate::threads::lock::{BODY, Body, ENTRY, LOCK, LockType, RUN, SLICE, TURNS_TAKEN, point};
    use instrument::results::PointResult;

    /// A run with each lock of 99 threads that yield, with the usual slice or this one in µs.
    fn yielding(slice_us: Option<u64>, run_ns: f64, turns: f64) -> Vec<PointResult> {
        let at = |lock, values: &[_]| {
            let point = point(Body::SimpleYield, lock, Count(99));
            let point = match slice_us {
                Some(slice_us) => point.at(SLICE, Count(slice_us)),
                None => point,
            };
            measured(point, values)
        };
        vec![
            at(LockType::Lock, &[(RUN, 1e5)]),
            at(LockType::SpinLock, &[(RUN, run_ns), (TURNS_TAKEN, turns)]),
        ]
    }

    #[test]
    fn the_collapse_is_counted_in_slices_and_explains_the_report_where_the_law_holds() {
        let law = law(Count(99)).value;
        assert_said(
            &findings(&Lock, yielding(None, law * 5e4, law)),
            &[
                "Certain collapse",
                "Likely reported: …are 4851 slices of 16.0 ms",
                "Certain burnt: …A turn lasted 50.0 µs, the slice is 50.0 µs",
            ],
        );
        let found = findings(&Lock, yielding(None, 1e6, 100.0));
        assert_said(&found, &["Certain collapse", "Likely burnt"]);
    }

    #[test]
    fn numbers_with_different_slices_are_not_mixed() {
        let law = law(Count(99)).value;
        let turn_and_slice = |points| {
            let found = findings(&Lock, points);
            let burnt = finding(&found, "burnt");
            ["turn", "slice"].map(|key| number(burnt, key).value.round() as u64)
        };
        let [long, short] = [16_000, 1000].map(|us| yielding(Some(us), law * us as f64 * 1e3, law));
        let chosen = [long, short].concat();
        assert_eq!(turn_and_slice(chosen.clone()), [1_000_000, 1_000_000]);
        let usual = [chosen, yielding(None, law * 5e4, law)].concat();
        assert_eq!(turn_and_slice(usual), [50_000, 50_000]);
    }

    #[test]
    fn a_thread_that_is_alone_collapses_under_nothing() {
        let alone = |lock| {
            let at = |body, metric| measured(point(body, lock, Count(1)), &[(metric, 100.0)]);
            vec![at(Body::SimpleYield, RUN), at(Body::COMPLEX, ENTRY)]
        };
        let points = [alone(LockType::Lock), alone(LockType::SpinLock)].concat();
        assert_said(&findings(&Lock, points), &[]);
    }

    #[test]
    fn the_quick_profile_answers_every_question() {
        let points = Lock.points(&setting(Profile::Quick)).into_iter();
        let made_up = points.map(|point| {
            let body = point.level(BODY).expect("it has one");
            let lock = point.level(LOCK).expect("it has one");
            let steps = body.steps() as f64;
            let cost = match lock {
                LockType::PthreadSpin => 10.0 + 2.0 * steps,
                LockType::SpinLock => 5.0 + steps,
                _ => 200.0 + steps,
            };
            if lock == LockType::SpinLock && body == Body::SimpleYield {
                measured(point, &[(RUN, cost), (TURNS_TAKEN, 4851.0)])
            } else {
                measured(point, &[(RUN, cost * 99.0), (ENTRY, cost)])
            }
        });
        let expected = [
            "collapse",
            "reported",
            "burnt",
            "long_run",
            "short_section",
            "several_cores",
            "user_threads",
            "kernel_threads",
            "break_even",
        ];
        assert_said(&findings(&Lock, made_up.collect()), &expected);
    }
}
