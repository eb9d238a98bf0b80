//! Claims about processes and calls.

use super::calls::{Call, DESIGN as CALLS, rate};
use super::fork_size::{self, DESIGN as FORK_SIZE};
use super::ipc::findings::{conditions, round_trip};
use super::ipc::{BANDWIDTH, DESIGN as IPC, MECHANISM, MESSAGE, Mechanism};
use super::poll::{self, DESIGN as POLL};
use super::switch::{DESIGN as SWITCH, Kind, pair};
use super::{PLACEMENT, Placement};
use crate::judging::{ALMOST, MARGIN, alike, larger, larger_by, opposite};
use crate::memory::pages::Pages;
use crate::prelude::*;
use crate::subjects::ROUND_TRIP;
use instrument::claim::{Claim, Evidence, Judgement};

/// The message whose bandwidth is compared: what a pipe holds.
const LARGE_MESSAGE: Bytes = Bytes(64 << 10);

/// The least factor that makes a difference.
const FASTER: f64 = 1.0 + MARGIN;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "malloc_needs_no_system_call",
        says: "Allocating and freeing memory is several times faster than a system call.",
        source: "Report E, section 5: 11.69 against 1.49 million a second",
        experiments: &[CALLS.id],
        test: |evidence| {
            let malloc = (Call::Malloc, "malloc and free");
            faster(evidence, 3.0, malloc, SYSTEM_CALL)
        },
    },
    Claim {
        key: "streams_cost_more_than_descriptors",
        says: "Opening a file as a stream of the C library costs more than opening a descriptor.",
        source: "Report E, section 5: 0.0946 against 0.3895 million a second",
        experiments: &[CALLS.id],
        test: |evidence| {
            let stream = (Call::Fopen, "fopen and fclose");
            faster(evidence, FASTER, (Call::Open, "open and close"), stream)
        },
    },
    Claim {
        key: "a_process_costs_hundreds_of_calls",
        says: "A new process costs as much as hundreds of system calls.",
        source: "Report E, section 5: 0.0033 against 1.4867 million a second",
        experiments: &[CALLS.id],
        test: |evidence| {
            let fork = (Call::Fork, "fork, exit and wait");
            faster(evidence, 200.0, SYSTEM_CALL, fork)
        },
    },
    Claim {
        key: "spawning_beats_forking",
        says: "To start a program, posix_spawn is faster than fork and exec.",
        source: "folklore",
        experiments: &[CALLS.id],
        test: |evidence| {
            let fork = (Call::ForkExec, "fork and exec");
            faster(evidence, FASTER, (Call::Spawn, "posix_spawn"), fork)
        },
    },
    Claim {
        key: "the_clock_needs_no_system_call",
        says: "Reading the clock needs no system call, and takes a fraction of the time of one.",
        source: "folklore",
        experiments: &[CALLS.id],
        test: |evidence| {
            let library = (Call::Clock, "clock_gettime through the library");
            let kernel = (Call::ClockSyscall, "as a system call");
            faster(evidence, 2.0, library, kernel)
        },
    },
    Claim {
        key: "forking_is_free_of_size",
        says: "Since pages are copied only when written, a fork costs the same for processes of any size.",
        source: "folklore",
        experiments: &[FORK_SIZE.id],
        test: |evidence| {
            let results = evidence.of(FORK_SIZE.id)?;
            let sizes = fork_size::by_size(results, Pages::base(results.machine)?);
            let (&(_, other), &(_, one)) = (sizes.first()?, sizes.last()?);
            let grows = larger(one, other, |ratio| {
                sentence!(
                    "A fork of the largest parent measured takes {one}, of the smallest {other}: \
                     {ratio}."
                )
            })?;
            Some(Judgement::new(opposite(grows.ruling), grows.because))
        },
    },
    Claim {
        key: "threads_switch_faster_than_processes",
        says: "Switching between threads is faster than switching between processes.",
        source: "folklore",
        experiments: &[SWITCH.id],
        test: |evidence| {
            let results = evidence.of(SWITCH.id)?;
            let one = pair(results, Kind::Processes, Placement::OneCore)?;
            let other = pair(results, Kind::Threads, Placement::OneCore)?;
            larger(one, other, |ratio| {
                sentence!(
                    "On one core, a switch between two processes takes {one}, and between two \
                     threads {other}: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "epoll_is_free_of_number",
        says: "A wait by epoll costs the same for any number of descriptors.",
        source: "folklore",
        experiments: &[POLL.id],
        test: |evidence| {
            let results = evidence.of(POLL.id)?;
            let waits = poll::by_count(results, poll::Call::Epoll);
            let (&(few, other), &(many, one)) = (waits.first()?, waits.last()?);
            if few == many {
                return None;
            }
            alike(ALMOST, one, other, |ratio| {
                sentence!(
                    "A wait by epoll takes {one} with {many} descriptors and {other} with {few}: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "two_cores_talk_faster_than_one",
        says: "Two processes talk faster when each has a core of its own.",
        source: "folklore",
        experiments: &[IPC.id],
        test: |evidence| {
            let results = evidence.of(IPC.id)?;
            let one = round_trip(results, Mechanism::Pipe, Placement::OneCore)?;
            let other = round_trip(results, Mechanism::Pipe, Placement::TwoCores)?;
            let judged = larger(one, other, |_| {
                sentence!(
                    "A round trip of a byte through pipes takes {one} on one core and {other} on two."
                )
            })?;
            let conditions = conditions(Mechanism::Pipe, Placement::TwoCores);
            let because = judged.because.about(ROUND_TRIP, other, conditions);
            Some(Judgement { because, ..judged })
        },
    },
    Claim {
        key: "unix_sockets_beat_tcp",
        says: "On one machine, Unix sockets are faster than TCP.",
        source: "folklore",
        experiments: &[IPC.id],
        test: |evidence| {
            let results = evidence.of(IPC.id)?;
            let one = round_trip(results, Mechanism::Tcp, Placement::OneCore)?;
            let other = round_trip(results, Mechanism::UnixSocket, Placement::OneCore)?;
            larger(one, other, |ratio| {
                sentence!(
                    "A round trip of a byte takes {one} over TCP and {other} over a Unix socket: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "shared_memory_moves_most",
        says: "Shared memory moves data faster than any means that needs system calls.",
        source: "folklore",
        experiments: &[IPC.id],
        test: |evidence| {
            let results = evidence.of(IPC.id)?;
            let bandwidth = |means: Mechanism| {
                let levels = [
                    MECHANISM.at(means),
                    MESSAGE.at(LARGE_MESSAGE),
                    PLACEMENT.at(Placement::TwoCores),
                ];
                results.sound(BANDWIDTH, &levels)
            };
            let others = [Mechanism::Pipe, Mechanism::UnixSocket, Mechanism::Tcp];
            let others = others.into_iter().filter_map(bandwidth);
            let other = others.max_by(|one, other| one.centre.total_cmp(&other.centre))?;
            let one = bandwidth(Mechanism::SharedMemory)?;
            larger(one, other, |ratio| {
                sentence!(
                    "Between two cores, a ring in shared memory transfers {one}, the best of the \
                     other means {other}: {ratio}."
                )
            })
        },
    },
];

const SYSTEM_CALL: (Call, &str) = (Call::Getpid, "a bare system call");

/// Judges "`one` can be called more than `factor` times as often as `other`", each with its name.
fn faster(
    evidence: &Evidence<'_>,
    factor: f64,
    (one, one_name): (Call, &str),
    (other, other_name): (Call, &str),
) -> Option<Judgement> {
    let results = evidence.of(CALLS.id)?;
    let (one, other) = (rate(results, one)?, rate(results, other)?);
    larger_by(factor, one, other, |ratio| {
        sentence!("{one_name}: {one}; {other_name}: {other}; {ratio} as many.")
    })
}
