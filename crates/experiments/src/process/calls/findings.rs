//! Findings of `process.calls`.

use super::{Call, Compared, LATENCY, RATE, REPORTED, at_level, comparison, cost, rate, times};
use crate::estimates::{by_ratio, ratio};
use crate::optimisation::Optimisation;
use crate::prelude::*;

/// All findings, the most telling first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let compared = |key, weight, calls, say: fn(&Compared) -> Sentence| {
        Some(comparison(results, key, calls, say)?.weighing(weight))
    };
    let findings = [
        system_call(results),
        fork(results),
        compared("spawn", 0.6, (Call::ForkExec, Call::Spawn), spawn),
        compared("thread", 0.55, (Call::Fork, Call::Thread), |it| {
            let Compared { cost, other, times } = it;
            sentence!(
                "Creating a process and waiting for its end takes {cost}, a thread {other}: {times} as \
                 long."
            )
        }),
        compared("vfork", 0.5, (Call::Fork, Call::Vfork), |it| {
            let Compared { cost, other, times } = it;
            sentence!(
                "A child that borrows its parent's memory (vfork) takes {other}, a child with a copy of \
                 it (fork) {cost}: {times} as long."
            )
        }),
        compared("clock", 0.45, (Call::ClockSyscall, Call::Clock), clock),
        compared("signal", 0.35, (Call::SignalDeliver, Call::Getpid), |it| {
            let Compared { cost, times, .. } = it;
            sentence!(
                "A signal that a thread sends to itself and handles takes {cost}, {times} the time of \
                 the shortest system call."
            )
        }),
        compared("library", 0.45, (Call::Fopen, Call::Open), |it| {
            let Compared { cost, other, times } = it;
            sentence!(
                "Opening and closing a file takes {other}; as a stream of the C library it takes {cost}, \
                 {times} as long, before a byte is read."
            )
        }),
        compared("create_delete", 0.45, (Call::Create, Call::Open), |it| {
            let Compared { cost, times, .. } = it;
            sentence!(
                "Creating and deleting an empty file takes {cost}, {times} the time of opening and \
                 closing one that exists."
            )
        }),
        allocation(results),
        compared("read_byte", 0.4, (Call::Read, Call::Getpid), |it| {
            let Compared { cost, times, .. } = it;
            sentence!(
                "Reading a single byte of a file in memory takes {cost}, {times} the time of the \
                 shortest system call: read in larger blocks."
            )
        }),
        range(results),
        optimisation(results),
        tail(results),
    ];
    findings.into_iter().flatten().collect()
}

fn system_call(results: &Results) -> Option<Finding> {
    let said = sentence!(
        "A system call takes at least {cost}: the cost of entering and leaving the kernel.",
        cost = cost(results, Call::Getpid)?
    );
    Some(Finding::new("system_call", said).weighing(0.7))
}

fn fork(results: &Results) -> Option<Finding> {
    let calls = times(results, Call::Fork, Call::Getpid)?.in_unit(Unit::Count);
    let said = sentence!(
        "Forking a process and waiting for its end takes {cost}, the time of {calls} system calls.",
        cost = cost(results, Call::Fork)?
    );
    Some(by_ratio("fork", said, &calls).weighing(0.65))
}

fn spawn(Compared { cost, other, times }: &Compared) -> Sentence {
    if !times.differs_from(1.0) {
        sentence!(
            "Starting a program that does nothing takes {other} with posix_spawn and {cost} with \
             fork and exec, {times} as long: this measurement does not show which is faster."
        )
    } else if times.value > 1.0 {
        sentence!(
            "Starting a program that does nothing takes {other} with posix_spawn and {cost} \
             with fork and exec, {times} as long. So start programs with posix_spawn, from \
             large processes above all."
        )
    } else {
        sentence!(
            "Starting a program that does nothing takes {other} with posix_spawn and {cost} \
             with fork and exec, {times} as long. For a process as small as this one, fork is \
             no slower."
        )
    }
}

fn clock(Compared { cost, other, times }: &Compared) -> Sentence {
    // A library that enters the kernel takes as long as a system call.
    if times.value > 1.5 {
        sentence!(
            "Reading the clock takes {other} without entering the kernel. A system call takes \
             {cost}, {times} as long: programs can read the clock often."
        )
    } else {
        sentence!(
            "Reading the clock takes {other}, and {cost} by a system call, {times} as long: only \
             the kernel can read the clock source of this machine, so read the clock sparingly."
        )
    }
}

fn allocation(results: &Results) -> Option<Finding> {
    let count = times(results, Call::Getpid, Call::Malloc)?.in_unit(Unit::Count);
    let said = sentence!(
        "Allocating and freeing a little memory takes {cost}: {count} times within the time of one \
         system call, so the allocator makes no system call.",
        cost = cost(results, Call::Malloc)?
    );
    // Otherwise the sentence's conclusion does not follow.
    let faster = count.extent().low > 1.0;
    faster.then(|| by_ratio("allocation", said, &count).weighing(0.4))
}

/// The cheapest call and the most expensive, if every call that was measured has a sound rate.
fn range(results: &Results) -> Option<Finding> {
    let is_lost = |call: &Call| {
        let result = at_level(results, *call, Optimisation::FULL);
        result.is_some_and(|result| result.sound(RATE).is_none())
    };
    if Call::ALL.iter().any(is_lost) {
        return None;
    }
    let rates = || {
        let calls = Call::ALL.iter();
        calls.filter_map(|call| Some((*call, rate(results, *call)?.centre)))
    };
    let (cheapest, _) = rates().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (dearest, _) = rates().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let say = |Compared { cost, other, times }: &Compared| {
        sentence!(
            "The most expensive of these calls, {dearest}, takes {cost}, {times} as long as the \
             cheapest, {cheapest} ({other}).",
            dearest = dearest.name(),
            cheapest = cheapest.name(),
        )
    };
    let finding = comparison(results, "range", (dearest, cheapest), say)?;
    (dearest != cheapest).then(|| finding.weighing(0.3))
}

/// The call that gains most from optimisation.
fn optimisation(results: &Results) -> Option<Finding> {
    let gains = REPORTED.iter().filter_map(|call| {
        let unoptimised = at_level(results, *call, Optimisation::NONE)?.sound(RATE)?;
        Some((*call, ratio(rate(results, *call)?, unoptimised)?))
    });
    let (call, gain) = gains.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
    let said = if gain.differs_from(1.0) && gain.value > 1.0 {
        sentence!(
            "Optimising the calling program gains most for {call}, which runs {gain} as often in \
             optimised code: the library and the kernel are compiled already.",
            call = call.name()
        )
    } else {
        sentence!(
            "Optimising the calling program gains nothing measurable (at most {most}): the library \
             and the kernel are compiled already.",
            most = Quantity::exact(gain.extent().high, gain.unit),
        )
    };
    Some(by_ratio("optimisation", said, &gain).weighing(0.35))
}

/// The call whose slowest 1 % is furthest from its median.
fn tail(results: &Results) -> Option<Finding> {
    let percentiles = Call::ALL.iter().filter_map(|call| {
        let latency = at_level(results, *call, Optimisation::FULL)?.sound(LATENCY)?;
        let percentiles = latency.percentiles?;
        let reach = percentiles.p99_ns / percentiles.p50_ns;
        reach.is_finite().then_some((call, percentiles, reach))
    });
    let (call, percentiles, reach) = percentiles.max_by(|(.., a), (.., b)| a.total_cmp(b))?;
    let said = sentence!(
        "The slowest 1 % of {call} calls take {p99} or more, {reach} the median of {p50}.",
        call = call.name(),
        p99 = Quantity::nanoseconds(percentiles.p99_ns),
        reach = Quantity::exact(reach, Unit::Ratio),
        p50 = Quantity::nanoseconds(percentiles.p50_ns),
    );
    Some(Finding::new("tail", said).weighing(0.3))
}

#[cfg(test)]
mod tests {
    use super::super::Calls;
    use super::*;
    use crate::made_up::{assert_said, findings, measured, measured_apart};
    use crate::process::calls::point;
    use instrument::results::{PointResult, Verdict};

    fn at(call: Call, rate: f64) -> PointResult {
        measured(point(call, Optimisation::FULL), &[(RATE, rate)])
    }

    fn noisy(call: Call, rate: f64, step: f64) -> PointResult {
        measured_apart(point(call, Optimisation::FULL), &[(RATE, rate)], step)
    }

    /// The findings but that on the range of all calls, which any two calls have.
    fn found(points: Vec<PointResult>) -> Vec<Finding> {
        let mut found = findings(&Calls, points);
        found.retain(|finding| finding.key != "range");
        found
    }

    #[test]
    fn calls_are_compared_and_advice_follows() {
        let (clock, by_kernel) = (Call::Clock, Call::ClockSyscall);
        let (spawn, fork) = (Call::Spawn, Call::ForkExec);
        for (points, expected) in [
            (
                [at(clock, 5e7), at(by_kernel, 5e6)],
                "Certain clock: …without entering…10.0 × as long",
            ),
            (
                [at(clock, 5e6), at(by_kernel, 5.1e6)],
                "clock: …only the kernel can read the clock source",
            ),
            (
                [at(spawn, 4e3), at(fork, 2e3)],
                "Certain spawn: …2.00 × as long. So start programs with posix_spawn",
            ),
            (
                [at(spawn, 2e3), at(fork, 4e3)],
                "Certain spawn: …fork is no slower",
            ),
            (
                [noisy(spawn, 4e3, 0.4), noisy(fork, 2e3, 0.4)],
                "Undecided spawn: …does not show which is faster",
            ),
        ] {
            assert_said(&found(points.to_vec()), &[expected]);
        }
        let system_call = "Certain system_call: …at least 100 ns";
        let calls = vec![at(Call::Getpid, 1e7), at(Call::Fork, 1e4)];
        let fork = "Certain fork: …100 µs, the time of 1000 system calls";
        assert_said(&found(calls), &[system_call, fork]);
        // An allocator no faster than the kernel is not called so.
        let calls = vec![at(Call::Getpid, 1e7), noisy(Call::Malloc, 1.05e7, 0.1)];
        assert_said(&found(calls), &[system_call]);
    }

    #[test]
    fn no_call_is_the_cheapest_while_another_may_be_cheaper() {
        let mut points = vec![
            at(Call::Malloc, 1e7),
            at(Call::Open, 1e6),
            at(Call::Fork, 1e4),
        ];
        let expected = ["Certain range: …fork+exit+wait, takes…cheapest, malloc+free"];
        assert_said(&findings(&Calls, points.clone()), &expected);
        points[0].estimates[0].verdict = Verdict::BelowResolution;
        assert_said(&findings(&Calls, points), &[]);
    }

    #[test]
    fn the_call_that_gains_most_from_optimisation_is_named() {
        let gained = |optimised| {
            let levels = [(Optimisation::FULL, optimised), (Optimisation::NONE, 8e7)];
            let malloc =
                levels.map(|(level, rate)| measured(point(Call::Malloc, level), &[(RATE, rate)]));
            found(malloc.to_vec())
        };
        let expected = "Certain optimisation: …most for malloc+free, which runs 1.25 × as often";
        assert_said(&gained(1e8), &[expected]);
        let expected = "Undecided optimisation: …gains nothing measurable";
        assert_said(&gained(8e7), &[expected]);
    }
}
