//! Findings of `process.calls`.

use super::{Call, Compared, comparison, cost, times};
use crate::estimates::found;
use crate::prelude::*;

/// All findings, the most important first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let compared = |key, weight, calls, say: fn(&Compared) -> Sentence| {
        Some(comparison(results, key, calls, say)?.weighing(weight))
    };
    found([
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
    ])
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
