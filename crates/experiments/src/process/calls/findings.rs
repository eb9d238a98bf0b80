//! What the calls' costs mean.

use super::operations::{
    CALLS, CLOCK, CLOCK_SYSCALL, CREATE, FOPEN, FORK, FORK_EXEC, GETPID, MALLOC, OPEN, READ,
    REPORTED, SIGNAL_DELIVER, SPAWN, THREAD, VFORK,
};
use super::{AXIS, LATENCY, OPTIMISED, RATE, UNOPTIMISED};
use crate::estimates::{WithEstimate, differs_from, grade, ratio, time_ns};
use crate::levels::OPTIMISATION;
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::statistics::Estimated;

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

/// What was estimated of `metric` for `call`, if it may be used.
fn of<'r>(results: &'r Results, call: &str, metric: &str) -> Option<&'r Estimate> {
    at_level(results, call, OPTIMISED, metric)
}

/// The same, repeated by a loop of this optimisation level.
fn at_level<'r>(
    results: &'r Results,
    call: &str,
    optimisation: u64,
    metric: &str,
) -> Option<&'r Estimate> {
    let levels = [(AXIS, call.into()), (OPTIMISATION, optimisation.into())];
    let estimate = results.at(&levels)?.estimate(metric)?;
    estimate.is_sound().then_some(estimate)
}

/// The time of a call in ns.
fn cost(results: &Results, call: &str) -> Option<Estimated> {
    time_ns(of(results, call, RATE)?, 1.0)
}

/// How many times as long `call` takes as `other`.
fn times(results: &Results, call: &str, other: &str) -> Option<Estimated> {
    ratio(of(results, other, RATE)?, of(results, call, RATE)?)
}

/// A finding on two calls: `{cost}` of the first, `{other}` of the second, and `{times}`, the first
/// over the second.
fn comparison(
    results: &Results,
    (key, template): (&str, &str),
    call: &str,
    other: &str,
) -> Option<Finding> {
    let times = times(results, call, other)?;
    let finding = Finding::new(key, template)
        .with("cost", &cost(results, call)?, Unit::Nanoseconds)
        .with("other", &cost(results, other)?, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)))
}

fn system_call(results: &Results) -> Option<Finding> {
    let template = "A system call takes at least {cost}: that is the way into the kernel and back.";
    let cost = cost(results, GETPID)?;
    let finding = Finding::new("system_call", template).with("cost", &cost, Unit::Nanoseconds);
    Some(finding.weighing(0.7))
}

fn fork(results: &Results) -> Option<Finding> {
    let calls = times(results, FORK, GETPID)?;
    let template = "Making a process and waiting for its end takes {cost}, the time of {calls} \
                    system calls.";
    let finding = Finding::new("fork", template)
        .with("cost", &cost(results, FORK)?, Unit::Nanoseconds)
        .with("calls", &calls, Unit::Count);
    Some(finding.graded(grade(&calls, 1.0)).weighing(0.65))
}

fn spawn(results: &Results) -> Option<Finding> {
    let times = times(results, FORK_EXEC, SPAWN)?;
    let template = if !differs_from(&times, 1.0) {
        "Starting a program that does nothing takes {other} by posix_spawn and {cost} by fork and \
         exec, {times} as long: from a process as small as this one it does not matter which."
    } else if times.centre > 1.0 {
        "Starting a program that does nothing takes {other} by posix_spawn and {cost} by fork and \
         exec, {times} as long: start programs by posix_spawn, the more so from large processes."
    } else {
        "Starting a program that does nothing takes {other} by posix_spawn and {cost} by fork and \
         exec, {times} as long: from a process as small as this one fork is no loss."
    };
    let finding = comparison(results, ("spawn", template), FORK_EXEC, SPAWN)?;
    Some(finding.weighing(0.6))
}

fn thread(results: &Results) -> Option<Finding> {
    let template = "Making a process takes {cost} and a thread {other}, both waited for: {times} as \
                    long.";
    let finding = comparison(results, ("thread", template), FORK, THREAD)?;
    Some(finding.weighing(0.55))
}

fn vfork(results: &Results) -> Option<Finding> {
    let template = "A child that borrows its parent's memory (vfork) takes {other}, one with a copy \
                    of it (fork) {cost}: {times} as long.";
    let finding = comparison(results, ("vfork", template), FORK, VFORK)?;
    Some(finding.weighing(0.5))
}

fn clock(results: &Results) -> Option<Finding> {
    let times = times(results, CLOCK_SYSCALL, CLOCK)?;
    // A library that had to enter the kernel would take as long as a system call.
    let template = if times.centre > 1.5 {
        "Reading the clock takes {other} without entering the kernel, and would take {cost} by a \
         system call, {times} as long: it may be read often."
    } else {
        "Reading the clock takes {other}, and {cost} by a system call, {times} as long: the clock \
         source of this machine has to be asked in the kernel, so read it sparingly."
    };
    let finding = comparison(results, ("clock", template), CLOCK_SYSCALL, CLOCK)?;
    Some(finding.weighing(0.45))
}

fn signal(results: &Results) -> Option<Finding> {
    let template = "A signal that is sent to oneself and handled takes {cost}, {times} the time of \
                    the shortest system call.";
    let finding = comparison(results, ("signal", template), SIGNAL_DELIVER, GETPID)?;
    Some(finding.weighing(0.35))
}

fn library(results: &Results) -> Option<Finding> {
    let template = "Opening and closing a file takes {other}, and {cost} by a stream of the C \
                    library: {times} as long before a byte is read.";
    let finding = comparison(results, ("library", template), FOPEN, OPEN)?;
    Some(finding.weighing(0.45))
}

fn create_delete(results: &Results) -> Option<Finding> {
    let template = "Making and deleting an empty file takes {cost}, {times} the time of opening \
                    and closing one that exists.";
    let finding = comparison(results, ("create_delete", template), CREATE, OPEN)?;
    Some(finding.weighing(0.45))
}

fn allocation(results: &Results) -> Option<Finding> {
    let count = times(results, GETPID, MALLOC)?;
    let template = "Taking and giving back a little memory takes {cost}: {count} times within one \
                    system call, so the allocator does not call the system.";
    let faster = count.interval.map_or(count.centre, |interval| interval.low) > 1.0;
    // Otherwise it is the sentence's conclusion that does not follow.
    let finding = Finding::new("allocation", template)
        .with("cost", &cost(results, MALLOC)?, Unit::Nanoseconds)
        .with("count", &count, Unit::Count);
    faster.then(|| finding.graded(grade(&count, 1.0)).weighing(0.4))
}

fn read_byte(results: &Results) -> Option<Finding> {
    let template = "Reading a single byte of a file in memory takes {cost}, {times} the time of \
                    the shortest system call: read in larger blocks.";
    let finding = comparison(results, ("read_byte", template), READ, GETPID)?;
    Some(finding.weighing(0.4))
}

/// The cheapest call and the dearest, if there is a sound figure of each that was measured.
fn range(results: &Results) -> Option<Finding> {
    let is_lost = |call: &str| {
        let levels = [(AXIS, call.into()), (OPTIMISATION, OPTIMISED.into())];
        results.at(&levels).is_some() && of(results, call, RATE).is_none()
    };
    if CALLS.iter().any(|call| is_lost(call)) {
        return None;
    }
    let rates = || {
        CALLS
            .iter()
            .filter_map(|call| Some((*call, of(results, call, RATE)?.centre)))
    };
    let (cheapest, _) = rates().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (dearest, _) = rates().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let template = format!(
        "The dearest of these calls, {dearest}, takes {{cost}}, {{times}} as long as the cheapest, \
         {cheapest} ({{other}})."
    );
    let finding = comparison(results, ("range", &template), dearest, cheapest)?;
    (dearest != cheapest).then(|| finding.weighing(0.3))
}

/// The call to which optimisation makes the greatest difference, of those that it makes one to.
fn optimisation(results: &Results) -> Option<Finding> {
    let gains = REPORTED.iter().filter_map(|call| {
        let optimised = at_level(results, call, OPTIMISED, RATE)?;
        let gain = ratio(optimised, at_level(results, call, UNOPTIMISED, RATE)?)?;
        Some((*call, gain))
    });
    let gains: Vec<_> = gains.collect();
    let (call, gain) = gains
        .iter()
        .max_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre))?;
    let template = if differs_from(gain, 1.0) && gain.centre > 1.0 {
        format!(
            "A program's own optimisation matters most to {call}, which is repeated {{gain}} as \
             often in optimised code: what the calls themselves do is compiled already."
        )
    } else {
        "Optimising the program that calls gains nothing that shows: what the calls themselves do \
         is compiled already. (At most {gain}.)"
            .into()
    };
    let finding = Finding::new("optimisation", &template).with("gain", gain, Unit::Ratio);
    Some(finding.graded(grade(gain, 1.0)).weighing(0.35))
}

/// The call whose slowest 1 % stands furthest from its median.
fn tail(results: &Results) -> Option<Finding> {
    let percentiles = CALLS.iter().filter_map(|call| {
        let percentiles = of(results, call, LATENCY)?.percentiles?;
        let reach = percentiles.p99_ns / percentiles.p50_ns;
        reach.is_finite().then_some((call, percentiles, reach))
    });
    let (call, percentiles, reach) = percentiles.max_by(|(.., a), (.., b)| a.total_cmp(b))?;
    let template = format!(
        "The slowest hundredth of {call} takes {{p99}} or more, {{reach}} the median of {{p50}}."
    );
    let finding = Finding::new("tail", &template)
        .given("p99", percentiles.p99_ns, Unit::Nanoseconds)
        .given("reach", reach, Unit::Ratio)
        .given("p50", percentiles.p50_ns, Unit::Nanoseconds);
    Some(finding.weighing(0.3))
}

#[cfg(test)]
mod tests {
    use super::super::operations::{
        CLOCK, CLOCK_SYSCALL, FORK, FORK_EXEC, GETPID, MALLOC, OPEN, SPAWN,
    };
    use super::super::{Calls, OPTIMISED, RATE, UNOPTIMISED, point};
    use crate::made_up::{machine, number, result, results, spread};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::results::PointResult;

    fn at(call: &str, rate: f64) -> PointResult {
        result(point(call, OPTIMISED), &[(RATE, rate)])
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        let (definition, machine) = (Calls.definition(), machine());
        Calls.findings(&results(&definition, &machine, points))
    }

    fn find<'f>(findings: &'f [Finding], key: &str) -> Option<&'f Finding> {
        findings.iter().find(|finding| finding.key == key)
    }

    #[test]
    fn the_cost_of_a_fork_is_told_in_system_calls() {
        let findings = findings(vec![at(GETPID, 1e7), at(FORK, 1e4)]);
        let fork = find(&findings, "fork").expect("both are there");
        assert!(
            (number(fork, "calls").value - 1000.0).abs() < 1.0,
            "{fork:?}"
        );
        assert_eq!(fork.grade, Grade::Certain);
    }

    #[test]
    fn what_was_not_measured_gives_no_finding() {
        let (definition, machine) = (Calls.definition(), machine());
        let results = results(&definition, &machine, vec![at(FORK, 1e4), at(OPEN, 1e6)]);
        let keys: Vec<_> = Calls.findings(&results);
        assert!(
            keys.iter().all(|finding| finding.key == "range"),
            "{keys:?}"
        );
        let figures = Calls.figures(&results);
        assert_eq!(figures[0].series[0].points.len(), 2);
    }

    #[test]
    fn no_call_is_the_cheapest_while_another_may_be_cheaper() {
        let range = |points| find(&findings(points), "range").cloned();
        let told = range(vec![at(GETPID, 1e7), at(FORK, 1e4)]).expect("both are there");
        assert!(told.template.contains(FORK) && told.template.contains(GETPID));
        let mut lost = at(GETPID, 1e7);
        lost.estimates[0].verdict = instrument::results::Verdict::BelowResolution;
        assert_eq!(range(vec![lost, at(OPEN, 1e6), at(FORK, 1e4)]), None);
    }

    #[test]
    fn an_allocator_no_faster_than_the_kernel_is_not_called_so() {
        let noisy = spread(point(MALLOC, OPTIMISED), &[(RATE, 1.05e7)], 0.1);
        let findings = findings(vec![at(GETPID, 1e7), noisy]);
        assert_eq!(find(&findings, "allocation"), None);
    }

    #[test]
    fn what_optimisation_gains_is_told_of_the_call_that_gains_most() {
        let unoptimised = |call, rate| result(point(call, UNOPTIMISED), &[(RATE, rate)]);
        let gained = findings(vec![
            at(MALLOC, 1e8),
            at(FORK, 1e4),
            unoptimised(MALLOC, 8e7),
            unoptimised(FORK, 1e4),
        ]);
        let gained = find(&gained, "optimisation").expect("both are there");
        assert!(gained.template.contains("most to malloc"), "{gained:?}");
        assert!((number(gained, "gain").value - 1.25).abs() < 0.01);
        let same = findings(vec![at(FORK, 1e4), unoptimised(FORK, 1e4)]);
        let same = find(&same, "optimisation").expect("both are there");
        assert_eq!(same.grade, Grade::CannotBeTold);
    }

    #[test]
    fn a_clock_that_must_be_asked_in_the_kernel_is_found() {
        let quick = findings(vec![at(CLOCK, 5e7), at(CLOCK_SYSCALL, 5e6)]);
        let quick = find(&quick, "clock").expect("both are there");
        assert!(
            (number(quick, "times").value - 10.0).abs() < 0.1,
            "{quick:?}"
        );
        assert!(quick.template.contains("without entering"), "{quick:?}");
        let slow = findings(vec![at(CLOCK, 5e6), at(CLOCK_SYSCALL, 5.1e6)]);
        let slow = find(&slow, "clock").expect("both are there");
        assert!(slow.template.contains("clock source"), "{slow:?}");
    }

    #[test]
    fn the_advice_on_starting_programs_follows_the_figures() {
        let spawn = |spawn, fork| findings(vec![at(SPAWN, spawn), at(FORK_EXEC, fork)]);
        let better = spawn(4e3, 2e3);
        let better = find(&better, "spawn").expect("both are there");
        assert!(
            better.template.contains("start programs by posix_spawn"),
            "{better:?}"
        );
        let worse = spawn(2e3, 2e3);
        let worse = find(&worse, "spawn").expect("both are there");
        assert_eq!(worse.grade, Grade::CannotBeTold);
        assert!(
            !worse.template.contains("start programs by posix_spawn"),
            "{worse:?}"
        );
    }
}
