//! Findings of `process.calls`.

use super::{Call, Compared, LATENCY, RATE, REPORTED, at_level, comparison, cost, rate, times};
use crate::estimates::{grade, ratio};
use crate::optimisation::Optimisation;
use crate::prelude::*;

/// All findings, the most telling first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let findings = [
        system_call(results),
        fork(results),
        spawn(results),
        thread(results),
        vfork(results),
        clock(results),
        signal(results),
        library(results),
        create_delete(results),
        allocation(results),
        read_byte(results),
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
    let finding = Finding::new("fork", said);
    Some(finding.graded(grade(&calls, 1.0)).weighing(0.65))
}

fn spawn(results: &Results) -> Option<Finding> {
    let calls = (Call::ForkExec, Call::Spawn);
    let say = |Compared { cost, other, times }: &Compared| {
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
    };
    Some(comparison(results, "spawn", calls, say)?.weighing(0.6))
}

fn thread(results: &Results) -> Option<Finding> {
    let calls = (Call::Fork, Call::Thread);
    let say = |Compared { cost, other, times }: &Compared| {
        sentence!(
            "Creating a process and waiting for its end takes {cost}, a thread {other}: {times} as long."
        )
    };
    Some(comparison(results, "thread", calls, say)?.weighing(0.55))
}

fn vfork(results: &Results) -> Option<Finding> {
    let calls = (Call::Fork, Call::Vfork);
    let say = |Compared { cost, other, times }: &Compared| {
        sentence!(
            "A child that borrows its parent's memory (vfork) takes {other}, a child with a copy of it \
             (fork) {cost}: {times} as long."
        )
    };
    Some(comparison(results, "vfork", calls, say)?.weighing(0.5))
}

fn clock(results: &Results) -> Option<Finding> {
    let calls = (Call::ClockSyscall, Call::Clock);
    let say = |Compared { cost, other, times }: &Compared| {
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
    };
    Some(comparison(results, "clock", calls, say)?.weighing(0.45))
}

fn signal(results: &Results) -> Option<Finding> {
    let calls = (Call::SignalDeliver, Call::Getpid);
    let say = |Compared { cost, times, .. }: &Compared| {
        sentence!(
            "A signal that a thread sends to itself and handles takes {cost}, {times} the time of the \
             shortest system call."
        )
    };
    Some(comparison(results, "signal", calls, say)?.weighing(0.35))
}

fn library(results: &Results) -> Option<Finding> {
    let calls = (Call::Fopen, Call::Open);
    let say = |Compared { cost, other, times }: &Compared| {
        sentence!(
            "Opening and closing a file takes {other}; as a stream of the C library it takes {cost}, \
             {times} as long, before a byte is read."
        )
    };
    Some(comparison(results, "library", calls, say)?.weighing(0.45))
}

fn create_delete(results: &Results) -> Option<Finding> {
    let calls = (Call::Create, Call::Open);
    let say = |Compared { cost, times, .. }: &Compared| {
        sentence!(
            "Creating and deleting an empty file takes {cost}, {times} the time of opening and \
             closing one that exists."
        )
    };
    Some(comparison(results, "create_delete", calls, say)?.weighing(0.45))
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
    let finding = Finding::new("allocation", said);
    faster.then(|| finding.graded(grade(&count, 1.0)).weighing(0.4))
}

fn read_byte(results: &Results) -> Option<Finding> {
    let calls = (Call::Read, Call::Getpid);
    let say = |Compared { cost, times, .. }: &Compared| {
        sentence!(
            "Reading a single byte of a file in memory takes {cost}, {times} the time of the \
             shortest system call: read in larger blocks."
        )
    };
    Some(comparison(results, "read_byte", calls, say)?.weighing(0.4))
}

/// The cheapest call and the dearest, if every call that was measured has a sound rate.
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
            "Optimising the calling program gains nothing measurable (at most {gain}): the library \
             and the kernel are compiled already."
        )
    };
    let finding = Finding::new("optimisation", said);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.35))
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
    use super::{Call, Optimisation, RATE};
    use crate::made_up::{figures, findings, measured, measured_apart, number};
    use crate::prelude::*;
    use crate::process::calls::point;
    use instrument::results::{PointResult, Verdict};

    fn at(call: Call, rate: f64) -> PointResult {
        measured(point(call, Optimisation::FULL), &[(RATE, rate)])
    }

    fn find<'f>(findings: &'f [Finding], key: &str) -> Option<&'f Finding> {
        findings.iter().find(|finding| finding.key == key)
    }

    #[test]
    fn the_cost_of_a_fork_is_told_in_system_calls() {
        let findings = findings(&Calls, vec![at(Call::Getpid, 1e7), at(Call::Fork, 1e4)]);
        let fork = find(&findings, "fork").expect("both are there");
        assert!(
            (number(fork, "calls").value - 1000.0).abs() < 1.0,
            "{fork:?}"
        );
        assert_eq!(fork.grade, Grade::Certain);
    }

    #[test]
    fn what_was_not_measured_gives_no_finding() {
        let points = || vec![at(Call::Fork, 1e4), at(Call::Open, 1e6)];
        let findings = findings(&Calls, points());
        assert!(
            findings.iter().all(|finding| finding.key == "range"),
            "{findings:?}"
        );
        let figures = figures(&Calls, points());
        assert_eq!(figures[0].series[0].points.len(), 2);
    }

    #[test]
    fn no_call_is_the_cheapest_while_another_may_be_cheaper() {
        let range = |points| find(&findings(&Calls, points), "range").cloned();
        let told = range(vec![at(Call::Getpid, 1e7), at(Call::Fork, 1e4)]).expect("both are there");
        let said = told.sentence.to_string();
        assert!(said.contains(Call::Fork.name()) && said.contains(Call::Getpid.name()));
        let mut lost = at(Call::Getpid, 1e7);
        lost.estimates[0].verdict = Verdict::BelowResolution;
        assert_eq!(
            range(vec![lost, at(Call::Open, 1e6), at(Call::Fork, 1e4)]),
            None
        );
    }

    #[test]
    fn an_allocator_no_faster_than_the_kernel_is_not_called_so() {
        let noisy = measured_apart(
            point(Call::Malloc, Optimisation::FULL),
            &[(RATE, 1.05e7)],
            0.1,
        );
        let findings = findings(&Calls, vec![at(Call::Getpid, 1e7), noisy]);
        assert_eq!(find(&findings, "allocation"), None);
    }

    #[test]
    fn what_optimisation_gains_is_told_of_the_call_that_gains_most() {
        let unoptimised = |call, rate| measured(point(call, Optimisation::NONE), &[(RATE, rate)]);
        let gained = findings(
            &Calls,
            vec![
                at(Call::Malloc, 1e8),
                at(Call::Fork, 1e4),
                unoptimised(Call::Malloc, 8e7),
                unoptimised(Call::Fork, 1e4),
            ],
        );
        let gained = find(&gained, "optimisation").expect("both are there");
        assert!(
            gained.sentence.to_string().contains("most for malloc"),
            "{gained:?}"
        );
        assert!((number(gained, "gain").value - 1.25).abs() < 0.01);
        let same = findings(
            &Calls,
            vec![at(Call::Fork, 1e4), unoptimised(Call::Fork, 1e4)],
        );
        let same = find(&same, "optimisation").expect("both are there");
        assert_eq!(same.grade, Grade::CannotBeTold);
    }

    #[test]
    fn a_clock_that_must_be_asked_in_the_kernel_is_found() {
        let quick = findings(
            &Calls,
            vec![at(Call::Clock, 5e7), at(Call::ClockSyscall, 5e6)],
        );
        let quick = find(&quick, "clock").expect("both are there");
        assert!(
            (number(quick, "times").value - 10.0).abs() < 0.1,
            "{quick:?}"
        );
        assert!(
            quick.sentence.to_string().contains("without entering"),
            "{quick:?}"
        );
        let slow = findings(
            &Calls,
            vec![at(Call::Clock, 5e6), at(Call::ClockSyscall, 5.1e6)],
        );
        let slow = find(&slow, "clock").expect("both are there");
        assert!(
            slow.sentence.to_string().contains("clock source"),
            "{slow:?}"
        );
    }

    #[test]
    fn the_advice_on_starting_programs_follows_the_figures() {
        let spawn = |spawn, fork| {
            findings(
                &Calls,
                vec![at(Call::Spawn, spawn), at(Call::ForkExec, fork)],
            )
        };
        let better = spawn(4e3, 2e3);
        let better = find(&better, "spawn").expect("both are there");
        assert!(
            better
                .sentence
                .to_string()
                .contains("start programs with posix_spawn"),
            "{better:?}"
        );
        let worse = spawn(2e3, 2e3);
        let worse = find(&worse, "spawn").expect("both are there");
        assert_eq!(worse.grade, Grade::CannotBeTold);
        assert!(
            !worse
                .sentence
                .to_string()
                .contains("start programs with posix_spawn"),
            "{worse:?}"
        );
        let noisy =
            |call, rate| measured_apart(point(call, Optimisation::FULL), &[(RATE, rate)], 0.4);
        let open = findings(
            &Calls,
            vec![noisy(Call::Spawn, 4e3), noisy(Call::ForkExec, 2e3)],
        );
        let open = find(&open, "spawn").expect("both are there");
        assert_eq!(open.grade, Grade::CannotBeTold);
        let said = open.sentence.to_string();
        assert!(said.contains("does not show which is faster"), "{said}");
    }
}
