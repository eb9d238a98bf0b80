//! Where spinning beats blocking, and where it collapses.

use super::points::{LENGTHS, LONG_STEPS, MIDDLE};
use super::{
    BODY, COMPLEX_STEPS, ENTRY, LOCK_ALL, LOCK_ONE, PTHREAD_MUTEX, PTHREAD_SPIN, RUN,
    SHORT_SLICE_US, SIMPLE, SIMPLE_YIELD, SPIN_ALL, SPIN_ONE, STD_MUTEX, THREADS, TURNS_TAKEN,
    complex, point,
};
use crate::estimates::{WithEstimate, grade, ratio};
use instrument::finding::{Finding, Grade};
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

/// Seconds that the report measured for 99 threads that yield inside a spin lock.
const REPORTED_S: f64 = 77.634_089;
/// A law that holds this closely is seen to hold; on a busy machine some ticks come too late.
const EXACT: f64 = 0.02;
const NEAR: f64 = 0.1;
/// Threads in that run.
const REPORTED_THREADS: f64 = 99.0;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    [
        collapse(results),
        reported(results),
        burnt(results),
        long_run(results),
        short_section(results),
        several_cores(results),
        break_even(results),
        computed(results),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What is known of `metric` at a point, if it may be used.
fn of<'r>(results: &'r Results, point: &Point, metric: &str) -> Option<&'r Estimate> {
    let result = results
        .points
        .iter()
        .find(|result| result.point == *point)?;
    result
        .estimate(metric)
        .filter(|estimate| estimate.is_sound())
}

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
fn slices(threads: f64) -> f64 {
    threads * (threads - 1.0) / 2.0
}

fn collapse(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, SIMPLE_YIELD, RUN)?;
    let times = ratio(spin, lock)?;
    let template = "Where {threads} threads of one worker yield inside, a run takes {spin} with a \
                    spin lock and {lock} with one that blocks: {times} as long.";
    Some(
        Finding::new("collapse", template)
            .given("threads", threads as f64, Unit::Count)
            .estimated("spin", spin.centre, spin.interval, Unit::Nanoseconds)
            .estimated("lock", lock.centre, lock.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.8),
    )
}

/// Counted, not only timed: a turn taken is a slice burnt.
fn burnt(results: &Results) -> Option<Finding> {
    let (threads, _, spin) = with_most(results, SIMPLE_YIELD, RUN)?;
    let at = point(SIMPLE_YIELD, SPIN_ONE, threads);
    let turns = of(results, &at, TURNS_TAKEN)?;
    let law = slices(threads as f64);
    let slice = spin.centre / turns.centre;
    let template = "There {turns} turns were taken away, where n(n − 1)/2 = {law} are foretold: \
                    who spins burns a whole slice for each who goes in before. A turn lasted \
                    {slice}, the slice is {set}.";
    let agrees = (turns.centre / law - 1.0).abs() < EXACT;
    Some(
        Finding::new("burnt", template)
            .estimated("turns", turns.centre, turns.interval, Unit::Count)
            .given("law", law, Unit::Count)
            .given("slice", slice, Unit::Nanoseconds)
            .given("set", SHORT_SLICE_US as f64 * 1e3, Unit::Nanoseconds)
            .graded(if agrees {
                Grade::Certain
            } else {
                Grade::Likely
            })
            .weighing(0.65),
    )
}

/// The report's figure by the same law; only where the law was seen to hold.
fn reported(results: &Results) -> Option<Finding> {
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
fn long_run(results: &Results) -> Option<Finding> {
    let (threads, lock, spin) = with_most(results, &complex(COMPLEX_STEPS), ENTRY)?;
    let times = ratio(spin, lock)?;
    let template = "In long runs of {threads} threads that compute inside, an entry takes {spin} \
                    with a spin lock and {lock} with one that blocks, {times} as long: whenever a \
                    slice ends inside the lock, all who wait burn theirs.";
    Some(
        Finding::new("long_run", template)
            .given("threads", threads as f64, Unit::Count)
            .estimated("spin", spin.centre, spin.interval, Unit::Nanoseconds)
            .estimated("lock", lock.centre, lock.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.6),
    )
}

/// Where nobody loses its turn inside.
fn short_section(results: &Results) -> Option<Finding> {
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

/// The report's open question.
fn several_cores(results: &Results) -> Option<Finding> {
    let contenders = [
        LOCK_ONE,
        LOCK_ALL,
        SPIN_ALL,
        PTHREAD_MUTEX,
        STD_MUTEX,
        PTHREAD_SPIN,
    ];
    let body = complex(COMPLEX_STEPS);
    let found = contenders.iter().filter_map(|lock| {
        let at = point(&body, lock, MIDDLE);
        Some((lock, of(results, &at, ENTRY)?))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre));
    let ((fastest, best), (slowest, worst)) = (found.first()?, found.last()?);
    let times = ratio(worst, best)?;
    let place = if *fastest == &LOCK_ONE {
        " on one worker, so more cores win nothing where all want one lock"
    } else {
        ""
    };
    let template = format!(
        "Of all ways to let {{threads}} threads in one after the other, to compute inside, the \
         fastest is {fastest}{place}: {{best}} an entry; the slowest, {slowest}, takes {{times}} \
         as long."
    );
    (found.len() == contenders.len()).then(|| {
        Finding::new("several_cores", &template)
            .given("threads", MIDDLE as f64, Unit::Count)
            .estimated("best", best.centre, best.interval, Unit::Nanoseconds)
            .with("times", &times, Unit::Ratio)
            .graded(grade(&times, 1.0))
            .weighing(0.7)
    })
}

/// For sections of so many steps, in ascending order, an entry of kernel threads that spin and of such
/// that block.
pub(in crate::threads) fn spin_and_block<'r>(
    results: &'r Results,
) -> impl Iterator<Item = (u64, &'r Estimate, &'r Estimate)> {
    LENGTHS.into_iter().filter_map(|steps| {
        let at = |lock| of(results, &point(&complex(steps), lock, MIDDLE), ENTRY);
        Some((steps, at(PTHREAD_SPIN)?, at(PTHREAD_MUTEX)?))
    })
}

/// What a step of the *complex* body takes, in ns, by two lengths of it that one thread went through.
pub(in crate::threads) fn step_ns(results: &Results) -> Option<f64> {
    let entry = |steps| of(results, &point(&complex(steps), LOCK_ONE, 1), ENTRY);
    let (long, short) = (entry(LONG_STEPS)?, entry(COMPLEX_STEPS)?);
    let step_ns = (long.centre - short.centre) / (LONG_STEPS - COMPLEX_STEPS) as f64;
    (step_ns > 0.0).then_some(step_ns)
}

/// Up to what length of the section kernel threads that spin are faster.
fn break_even(results: &Results) -> Option<Finding> {
    let compared: Vec<_> = spin_and_block(results)
        .filter_map(|(steps, spin, block)| Some((steps, ratio(spin, block)?)))
        .collect();
    let (shortest, longest) = (compared.first()?, compared.last()?);
    let wins = |times: f64| times < 1.0;
    let crossing = compared
        .windows(2)
        .find(|pair| wins(pair[0].1.centre) && !wins(pair[1].1.centre));
    let finding = if let Some([(from, before), (to, after)]) = crossing {
        let template = "For {threads} kernel threads spinning pays up to sections between {from} \
                        and {to} steps: it takes {before} the time of a mutex at the first and \
                        {after} at the second.";
        Finding::new("break_even", template)
            .given("from", *from as f64, Unit::Count)
            .given("to", *to as f64, Unit::Count)
            .with("before", before, Unit::Ratio)
            .with("after", after, Unit::Ratio)
            .graded(grade(before, 1.0).max(grade(after, 1.0)))
    } else {
        let verdict = if wins(shortest.1.centre) {
            "pays"
        } else {
            "does not pay"
        };
        let template = format!(
            "For {{threads}} kernel threads spinning {verdict} at any length from {{from}} to \
             {{to}} steps: it takes {{before}} the time of a mutex at the first and {{after}} at \
             the second."
        );
        Finding::new("break_even", &template)
            .given("from", shortest.0 as f64, Unit::Count)
            .given("to", longest.0 as f64, Unit::Count)
            .with("before", &shortest.1, Unit::Ratio)
            .with("after", &longest.1, Unit::Ratio)
            .graded(Grade::Likely)
    };
    Some(
        finding
            .given("threads", MIDDLE as f64, Unit::Count)
            .weighing(0.55),
    )
}

/// The report suspected that its compiler had removed the body.
fn computed(results: &Results) -> Option<Finding> {
    let at = |steps| point(&complex(steps), LOCK_ONE, 1);
    let long = of(results, &at(LONG_STEPS), ENTRY)?;
    let short = of(results, &at(COMPLEX_STEPS), ENTRY)?;
    let times = ratio(long, short)?;
    let template = "The complex body is computed: {long_steps} steps take {times} the time of \
                    {short_steps}, and every result was checked.";
    let linear = (times.centre / (LONG_STEPS as f64 / COMPLEX_STEPS as f64) - 1.0).abs() < 0.1;
    linear.then(|| {
        Finding::new("computed", template)
            .given("long_steps", LONG_STEPS as f64, Unit::Count)
            .with("times", &times, Unit::Ratio)
            .given("short_steps", COMPLEX_STEPS as f64, Unit::Count)
            .weighing(0.3)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        ENTRY, LOCK_ONE, Lock, RUN, SIMPLE_YIELD, SPIN_ONE, TURNS_TAKEN, complex_steps, point,
    };
    use super::slices;
    use crate::made_up::{machine, result, results, setting};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::plan::Profile;
    use instrument::results::PointResult;

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        let (definition, machine) = (Lock.definition(), machine());
        Lock.findings(&results(&definition, &machine, points))
    }

    #[test]
    fn the_collapse_is_counted_in_slices_and_explains_the_report() {
        let yielding = |lock| point(SIMPLE_YIELD, lock, 99);
        let law = slices(99.0);
        let findings = findings(vec![
            result(yielding(LOCK_ONE), &[(RUN, 1e5)]),
            result(yielding(SPIN_ONE), &[(RUN, law * 5e4), (TURNS_TAKEN, law)]),
        ]);
        let keys: Vec<_> = findings
            .iter()
            .map(|finding| finding.key.as_str())
            .collect();
        assert_eq!(keys, ["collapse", "reported", "burnt"]);
        let reported = &findings[1];
        let slice = reported
            .numbers
            .iter()
            .find(|number| number.name == "slice");
        let slice_ns = slice.expect("it has one").value;
        assert!((slice_ns / 16e6 - 1.0).abs() < 0.001, "16 ms: {slice_ns}");
    }

    #[test]
    fn a_law_that_does_not_hold_explains_nothing() {
        let yielding = |lock| point(SIMPLE_YIELD, lock, 99);
        let findings = findings(vec![
            result(yielding(LOCK_ONE), &[(RUN, 1e5)]),
            result(yielding(SPIN_ONE), &[(RUN, 1e6), (TURNS_TAKEN, 100.0)]),
        ]);
        assert!(findings.iter().all(|finding| finding.key != "reported"));
        let burnt = findings.iter().find(|finding| finding.key == "burnt");
        assert_eq!(burnt.expect("it was counted").grade, Grade::Likely);
    }

    #[test]
    fn the_quick_profile_answers_every_question() {
        let made_up = Lock
            .points(&setting(Profile::Quick))
            .into_iter()
            .map(|point| {
                let body = point.choice("body").expect("it has one");
                let steps = complex_steps(body).unwrap_or(0) as f64;
                let kernel_spin = point.choice("lock") == Ok("pthread spin");
                let spin = point.choice("lock") == Ok(SPIN_ONE);
                let cost = match (kernel_spin, spin) {
                    (true, _) => 10.0 + 2.0 * steps,
                    (_, true) => 5.0 + steps,
                    _ => 200.0 + steps,
                };
                let mut rates = vec![(RUN, cost * 99.0), (ENTRY, cost)];
                if spin && body == SIMPLE_YIELD {
                    rates = vec![(RUN, cost), (TURNS_TAKEN, 4851.0)];
                }
                result(point, &rates)
            });
        let keys: Vec<_> = findings(made_up.collect())
            .into_iter()
            .map(|finding| finding.key)
            .collect();
        for key in [
            "collapse",
            "burnt",
            "long_run",
            "short_section",
            "several_cores",
            "break_even",
        ] {
            assert!(keys.iter().any(|found| found == key), "{key} of {keys:?}");
        }
    }
}
