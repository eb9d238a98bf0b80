//! Where spinning beats blocking, and where it collapses.

mod one_worker;
mod several_cores;

pub(in crate::threads) use several_cores::{spin_and_block, step_ns};

use super::points::LONG_STEPS;
use super::{COMPLEX_STEPS, ENTRY, LOCK_ONE, complex, point};
use crate::estimates::{WithEstimate, grade, ratio};
use instrument::finding::Finding;
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    [
        one_worker::collapse(results),
        one_worker::reported(results),
        one_worker::burnt(results),
        one_worker::long_run(results),
        one_worker::short_section(results),
        several_cores::ranking(results),
        several_cores::user_threads(results),
        several_cores::kernel_threads(results),
        several_cores::break_even(results),
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

/// How `threads` that spin do beside as many that block; the template tells `threads`, `spin`, `lock`
/// and `times`.
fn compared(
    key: &str,
    template: &str,
    threads: u64,
    (spin, lock): (&Estimate, &Estimate),
) -> Option<Finding> {
    let times = ratio(spin, lock)?;
    let finding = Finding::new(key, template)
        .given("threads", threads as f64, Unit::Count)
        .estimated("spin", spin.centre, spin.interval, Unit::Nanoseconds)
        .estimated("lock", lock.centre, lock.interval, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)))
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
    use super::one_worker::slices;
    use crate::made_up::{finding, machine, number, result, results, setting};
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
        let slice_ns = number(reported, "slice").value;
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
        assert_eq!(finding(&findings, "burnt").grade, Grade::Likely);
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
            "user_threads",
            "kernel_threads",
            "break_even",
        ] {
            assert!(keys.iter().any(|found| found == key), "{key} of {keys:?}");
        }
    }
}
