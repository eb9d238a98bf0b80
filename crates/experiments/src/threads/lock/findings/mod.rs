//! Findings: spinning against blocking.

mod compared;
mod one_worker;
mod several_cores;

pub(in crate::threads) use several_cores::{spin_and_block, step_ns};

use super::{Body, COMPLEX_STEPS, ENTRY, LONG_STEPS, LockType, at};
use crate::estimates::ratio;
use crate::prelude::*;

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
    use super::one_worker::slices;
    use crate::made_up::{finding, findings, measured, number, setting};
    use crate::prelude::*;
    use crate::threads::lock::{BODY, Body, ENTRY, LOCK, LockType, RUN, SLICE, TURNS_TAKEN, point};

    fn yielding(lock: LockType) -> Point {
        point(Body::SimpleYield, lock, Count(99))
    }

    #[test]
    fn the_collapse_is_counted_in_slices_and_explains_the_report() {
        let law = slices(99.0);
        let spin = [(RUN, law * 5e4), (TURNS_TAKEN, law)];
        let findings = findings(
            &Lock,
            vec![
                measured(yielding(LockType::Lock), &[(RUN, 1e5)]),
                measured(yielding(LockType::SpinLock), &spin),
            ],
        );
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
    fn numbers_with_different_slices_are_not_mixed() {
        let at = |lock, slice_us: Option<u64>, slice_ns: f64| {
            let point = yielding(lock);
            let point = match slice_us {
                Some(slice_us) => point.at(SLICE, Count(slice_us)),
                None => point,
            };
            let law = slices(99.0);
            measured(point, &[(RUN, law * slice_ns), (TURNS_TAKEN, law)])
        };
        let told = |points| {
            let found = findings(&Lock, points);
            let burnt = finding(&found, "burnt");
            ["turn", "slice"].map(|key| number(burnt, key).value.round() as u64)
        };
        let both = |slice_us, slice_ns| {
            [LockType::Lock, LockType::SpinLock].map(|lock| at(lock, slice_us, slice_ns))
        };
        let chosen = [both(Some(16_000), 16e6), both(Some(1000), 1e6)].concat();
        assert_eq!(told(chosen.clone()), [1_000_000, 1_000_000]);
        let usual = [chosen, both(None, 5e4).to_vec()].concat();
        assert_eq!(told(usual), [50_000, 50_000]);
    }

    #[test]
    fn a_law_that_does_not_hold_explains_nothing() {
        let spin = [(RUN, 1e6), (TURNS_TAKEN, 100.0)];
        let findings = findings(
            &Lock,
            vec![
                measured(yielding(LockType::Lock), &[(RUN, 1e5)]),
                measured(yielding(LockType::SpinLock), &spin),
            ],
        );
        assert!(findings.iter().all(|finding| finding.key != "reported"));
        assert_eq!(finding(&findings, "burnt").grade, Grade::Likely);
    }

    #[test]
    fn a_thread_that_is_alone_collapses_under_nothing() {
        let alone = |lock| {
            let at = |body, metric| measured(point(body, lock, Count(1)), &[(metric, 100.0)]);
            vec![at(Body::SimpleYield, RUN), at(Body::COMPLEX, ENTRY)]
        };
        let points = [alone(LockType::Lock), alone(LockType::SpinLock)].concat();
        assert_eq!(findings(&Lock, points), []);
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
        let findings = findings(&Lock, made_up.collect());
        let keys: Vec<_> = findings.into_iter().map(|finding| finding.key).collect();
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
