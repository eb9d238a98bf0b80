//! Findings of `process.calls`.

use super::{Call, Compared, comparison, cost, times};
use crate::prelude::*;

/// All findings, the most important first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let compared = |key, weight, calls, say: fn(&Compared) -> Sentence| {
        Some(comparison(results, key, calls, say)?.weighing(weight))
    };
    let findings = [
        compared("thread", 0.6, (Call::Fork, Call::Thread), |it| {
            let Compared { cost, times, .. } = it;
            sentence!(
                "Forking a small process and waiting for the end of its child takes {cost}, {times} as \
                 long as starting and joining a thread."
            )
        }),
        spawn(results),
        system_call(results),
        clock(results),
        compared("signal", 0.35, (Call::SignalDeliver, Call::Getpid), |it| {
            let Compared { cost, times, .. } = it;
            sentence!(
                "A signal that a thread sends to itself and handles takes {cost}, {times} as long as \
                 getpid."
            )
        }),
        compared("library", 0.35, (Call::Fopen, Call::Open), |it| {
            let Compared { cost, times, .. } = it;
            sentence!(
                "fopen and fclose take {cost} before a byte is read, {times} as long as open and close."
            )
        }),
    ];
    findings.into_iter().flatten().collect()
}

fn system_call(results: &Results) -> Option<Finding> {
    let said = sentence!(
        "A system call takes {cost}: getpid, which only enters and leaves the kernel.",
        cost = cost(results, Call::Getpid)?
    );
    Some(Finding::new("system_call", said).weighing(0.6))
}

/// The two ways to start a program, where one of them is faster beyond doubt.
fn spawn(results: &Results) -> Option<Finding> {
    let say = |Compared { cost, other, times }: &Compared| {
        let advice = if times.value > 1.0 {
            "Start programs with posix_spawn, from large processes above all."
        } else {
            "From a process as small as this one, fork is no slower."
        };
        sentence!(
            "Starting a program that does nothing takes {other} with posix_spawn and {cost} with fork and \
             exec, {times} as long. {advice}"
        )
    };
    let finding = comparison(results, "spawn", (Call::ForkExec, Call::Spawn), say)?;
    (finding.grade == Grade::Certain).then(|| finding.weighing(0.6))
}

/// The cost of reading the clock where that enters the kernel.
fn clock(results: &Results) -> Option<Finding> {
    let cost = cost(results, Call::Clock)?;
    let times = times(results, Call::ClockSyscall, Call::Clock)?;
    let said = sentence!(
        "Reading the clock takes {cost}, as long as a system call: the kernel has no clock source that \
         programs can read (see `current_clocksource`)."
    );
    // A library that enters the kernel takes as long as a system call.
    let enters = times.extent().high < AS_SYSTEM_CALL;
    enters.then(|| Finding::new("clock", said).weighing(0.9))
}

/// A clock that is read without the kernel is faster than a system call by more than this factor.
const AS_SYSTEM_CALL: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::super::Calls;
    use super::*;
    use crate::made_up::{assert_said, findings, measured_apart};
    use crate::optimisation::Optimisation;
    use crate::process::calls::{RATE, point};

    fn found(calls: &[(Call, f64)], step: f64) -> Vec<Finding> {
        let points = calls.iter().map(|(call, rate)| {
            measured_apart(point(*call, Optimisation::FULL), &[(RATE, *rate)], step)
        });
        findings(&Calls, points.collect())
    }

    #[test]
    fn calls_are_compared_and_advice_follows() {
        let (clock, by_kernel) = (Call::Clock, Call::ClockSyscall);
        let (spawn, fork) = (Call::Spawn, Call::ForkExec);
        for (calls, expected) in [
            (
                &[(clock, 5e6), (by_kernel, 5.1e6)][..],
                &["Certain clock: …as long as a system call"][..],
            ),
            // It is read without the kernel.
            (&[(clock, 5e7), (by_kernel, 5e6)], &[]),
            (
                &[(spawn, 4e3), (fork, 2e3)],
                &["Certain spawn: …2.00 × as long. Start programs with posix_spawn"],
            ),
            (
                &[(spawn, 2e3), (fork, 4e3)],
                &["Certain spawn: …fork is no slower"],
            ),
            (
                &[(Call::Getpid, 1e7), (Call::Fork, 1e4), (Call::Thread, 1e5)],
                &[
                    "Certain thread: …takes 100 µs…10.0 × as long",
                    "Certain system_call: …takes 100 ns",
                ],
            ),
        ] {
            assert_said(&found(calls, 0.002), expected);
        }
        assert_said(&found(&[(spawn, 4e3), (fork, 2e3)], 0.4), &[]);
    }
}
