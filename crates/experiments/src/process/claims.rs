//! Claims about processes and calls.

use super::calls::{
    AXIS, CLOCK, CLOCK_SYSCALL, FOPEN, FORK, FORK_EXEC, GETPID, MALLOC, OPEN, OPTIMISED, RATE,
    SPAWN,
};
use super::fork_size::{COST, SIZE};
use super::ipc::{BANDWIDTH, MECHANISM, MESSAGE, Mechanism, ROUND_TRIP};
use super::placement::{ONE_CORE, PLACEMENT, TWO_CORES};
use super::switch::{COUNT, KIND, PROCESSES, SWITCH, THREADS, WORKING_SET};
use crate::judging::{is_larger, is_larger_by};
use crate::levels::OPTIMISATION;
use crate::memory::pages::{self, PAGES};
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::quantity::Unit;
use instrument::results::Estimate;

const CALLS: &str = "process.calls";
const FORK_SIZE: &str = "process.fork_size";
const SWITCHES: &str = "process.switch";
const IPC: &str = "process.ipc";

/// The message whose bandwidth is compared, in bytes: what a pipe holds.
const LARGE_MESSAGE: u64 = 64 << 10;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "malloc_needs_no_system_call",
        says: "Memory is taken and given back several times faster than the system is called.",
        source: "Report E, section 5: 11.69 against 1.49 million a second",
        experiments: &[CALLS],
        test: |evidence| {
            faster_by(
                3.0,
                evidence,
                MALLOC,
                GETPID,
                "malloc and free: {one}; a bare system call: {other}; {ratio} as many.",
            )
        },
    },
    Claim {
        key: "streams_cost_more_than_descriptors",
        says: "Opening a file as a stream of the C library costs more than opening it alone.",
        source: "Report E, section 5: 0.0946 against 0.3895 million a second",
        experiments: &[CALLS],
        test: |evidence| {
            faster(
                evidence,
                OPEN,
                FOPEN,
                "open and close: {one}; fopen and fclose: {other}; {ratio} as many.",
            )
        },
    },
    Claim {
        key: "a_process_costs_hundreds_of_calls",
        says: "A new process costs as much as hundreds of system calls.",
        source: "Report E, section 5: 0.0033 against 1.4867 million a second",
        experiments: &[CALLS],
        test: |evidence| {
            faster_by(
                200.0,
                evidence,
                GETPID,
                FORK,
                "a bare system call: {one}; fork, exit and wait: {other}; {ratio} as many.",
            )
        },
    },
    Claim {
        key: "spawning_beats_forking",
        says: "To start a program, posix_spawn is faster than fork and exec.",
        source: "folklore",
        experiments: &[CALLS],
        test: |evidence| {
            faster(
                evidence,
                SPAWN,
                FORK_EXEC,
                "posix_spawn: {one}; fork and exec: {other}; {ratio} as many.",
            )
        },
    },
    Claim {
        key: "the_clock_needs_no_system_call",
        says: "Asking for the time takes no system call, and so a fraction of one.",
        source: "folklore",
        experiments: &[CALLS],
        test: |evidence| {
            faster_by(
                2.0,
                evidence,
                CLOCK,
                CLOCK_SYSCALL,
                "clock_gettime through the library: {one}; as a system call: {other}; {ratio} as many.",
            )
        },
    },
    Claim {
        key: "forking_is_free_of_size",
        says: "Since pages are copied only when written, a fork costs the same whatever the process holds.",
        source: "folklore",
        experiments: &[FORK_SIZE],
        test: fork_is_free_of_size,
    },
    Claim {
        key: "threads_switch_faster_than_processes",
        says: "Switching between threads is faster than switching between processes.",
        source: "folklore",
        experiments: &[SWITCHES],
        test: |evidence| {
            let switch = |kind: &str, placement: &str| {
                let levels = [
                    (KIND, kind.into()),
                    (COUNT, 2.into()),
                    (WORKING_SET, 0.into()),
                    (PLACEMENT, placement.into()),
                ];
                evidence.estimate(SWITCHES, SWITCH, &levels)
            };
            is_larger(
                (switch(PROCESSES, ONE_CORE)?, switch(THREADS, ONE_CORE)?),
                Unit::Nanoseconds,
                "On one core, a switch between two processes takes {one}, between two threads \
                 {other}: {ratio}.",
            )
        },
    },
    Claim {
        key: "two_cores_talk_faster_than_one",
        says: "Two processes talk faster when each has a core of its own.",
        source: "folklore",
        experiments: &[IPC],
        test: |evidence| {
            is_larger(
                (
                    round_trip(evidence, Mechanism::Pipe, ONE_CORE)?,
                    round_trip(evidence, Mechanism::Pipe, TWO_CORES)?,
                ),
                Unit::Nanoseconds,
                "A byte goes through pipes and back in {one} on one core, and in {other} on two.",
            )
        },
    },
    Claim {
        key: "unix_sockets_beat_tcp",
        says: "On one machine, Unix sockets are faster than TCP.",
        source: "folklore",
        experiments: &[IPC],
        test: |evidence| {
            is_larger(
                (
                    round_trip(evidence, Mechanism::Tcp, ONE_CORE)?,
                    round_trip(evidence, Mechanism::UnixSocket, ONE_CORE)?,
                ),
                Unit::Nanoseconds,
                "A byte there and back takes {one} by TCP and {other} by a Unix socket: {ratio}.",
            )
        },
    },
    Claim {
        key: "shared_memory_moves_most",
        says: "Shared memory moves data faster than any means that calls the system.",
        source: "folklore",
        experiments: &[IPC],
        test: |evidence| {
            let bandwidth = |means: Mechanism| {
                let levels = [
                    (MECHANISM, means.name().into()),
                    (MESSAGE, LARGE_MESSAGE.into()),
                    (PLACEMENT, TWO_CORES.into()),
                ];
                evidence.estimate(IPC, BANDWIDTH, &levels)
            };
            let others = [Mechanism::Pipe, Mechanism::UnixSocket, Mechanism::Tcp];
            let best = others
                .into_iter()
                .filter_map(bandwidth)
                .max_by(|one, other| one.centre.total_cmp(&other.centre))?;
            is_larger(
                (bandwidth(Mechanism::SharedMemory)?, best),
                Unit::BytesPerSecond,
                "Between two cores, a ring in shared memory carries {one}, the best of the others \
                 {other}: {ratio}.",
            )
        },
    },
];

fn rate<'a>(evidence: &Evidence<'a>, call: &str) -> Option<&'a Estimate> {
    let levels = [(AXIS, call.into()), (OPTIMISATION, OPTIMISED.into())];
    evidence.estimate(CALLS, RATE, &levels)
}

/// Judges "`one` can be called more often than `other`".
fn faster(evidence: &Evidence<'_>, one: &str, other: &str, sentence: &str) -> Option<Judgement> {
    let rates = (rate(evidence, one)?, rate(evidence, other)?);
    is_larger(rates, Unit::OperationsPerSecond, sentence)
}

/// As [`faster`], by more than `factor`.
fn faster_by(
    factor: f64,
    evidence: &Evidence<'_>,
    one: &str,
    other: &str,
    sentence: &str,
) -> Option<Judgement> {
    let rates = (rate(evidence, one)?, rate(evidence, other)?);
    is_larger_by(factor, rates, Unit::OperationsPerSecond, sentence)
}

/// The round trip of one byte, or of what the means carries.
fn round_trip<'a>(
    evidence: &Evidence<'a>,
    means: Mechanism,
    placement: &str,
) -> Option<&'a Estimate> {
    let message = means.fixed_message().unwrap_or(1);
    let levels = [
        (MECHANISM, means.name().into()),
        (MESSAGE, message.into()),
        (PLACEMENT, placement.into()),
    ];
    evidence.estimate(IPC, ROUND_TRIP, &levels)
}

/// Whether the largest parent forks as fast as the smallest.
fn fork_is_free_of_size(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(FORK_SIZE)?;
    let page = pages::base(results.machine)?;
    let sizes = results.curve(COST, SIZE, &[(PAGES, page.as_str().into())]);
    let ((_, small), (_, large)) = (sizes.first()?, sizes.last()?);
    let grows = is_larger(
        (*large, *small),
        Unit::Nanoseconds,
        "The largest parent measured forks in {one}, the smallest in {other}: {ratio}.",
    )?;
    let ruling = match grows.ruling {
        Ruling::Holds => Ruling::DoesNotHold,
        Ruling::DoesNotHold => Ruling::Holds,
        undecided => undecided,
    };
    Some(Judgement::new(ruling, grows.because))
}
