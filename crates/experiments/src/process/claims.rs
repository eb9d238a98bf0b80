//! Claims about processes and calls.

use super::Placement;
use super::calls::{CALL, Call, DESIGN as CALLS, RATE, rate};
use super::fork_size::{self, DESIGN as FORK_SIZE};
use super::ipc::findings::{by_message, round_trip};
use super::ipc::{BANDWIDTH, DESIGN as IPC, Mechanism};
use super::poll::{self, DESIGN as POLL};
use super::switch::{DESIGN as SWITCH, Kind, pair};
use crate::estimates::{ratio, ratios};
use crate::judging::{
    ALMOST, MARGIN, about_along, decided, exceeds, extremes, larger_among, opposite, throughout,
};
use crate::memory::pages::Pages;
use crate::optimisation::{OPTIMISATION, Optimisation};
use crate::prelude::*;

/// Hundreds are more than one hundred and less than ten.
const HUNDREDS: f64 = 316.0;
const OF_HUNDREDS: f64 = 3.16;

/// The least factor that makes a difference.
const FASTER: f64 = 1.0 + MARGIN;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "malloc_needs_no_system_call",
        says: "Allocating and freeing memory is several times faster than a system call.",
        source: "Report E, section 5: 11.69 against 1.49 million a second",
        basis: Basis::One(CALLS.id, |results| {
            faster(results, 3.0, MALLOC, SYSTEM_CALL)
        }),
    },
    Claim {
        key: "streams_cost_more_than_descriptors",
        says: "Opening a file as a stream of the C library costs more than opening a descriptor.",
        source: "Report E, section 5: 0.0946 against 0.3895 million a second",
        basis: Basis::One(CALLS.id, |results| {
            faster(results, FASTER, (Call::Open, "open and close"), STREAM)
        }),
    },
    Claim {
        key: "a_process_costs_hundreds_of_calls",
        says: "A new process costs as much as hundreds of system calls.",
        source: "Report E, section 5: 0.0033 against 1.4867 million a second",
        basis: Basis::One(CALLS.id, |results| {
            let ratios = rates_over(results, Call::Getpid, Call::Fork);
            about_along(HUNDREDS, OF_HUNDREDS, &ratios, |[least, most]| {
                let [least, most] = [least, most].map(|times| times.in_unit(Unit::Count));
                sentence!(
                    "In the time of one fork, exit and wait, a bare system call is made {least} to {most} \
                     times."
                )
            })
        }),
    },
    Claim {
        key: "spawning_beats_forking",
        says: "To start a program, posix_spawn is faster than fork and exec.",
        source: "folklore",
        basis: Basis::One(CALLS.id, |results| {
            let fork = (Call::ForkExec, "fork and exec");
            faster(results, FASTER, (Call::Spawn, "posix_spawn"), fork)
        }),
    },
    Claim {
        key: "the_clock_needs_no_system_call",
        says: "Reading the clock needs no system call, and takes a fraction of the time of one.",
        source: "folklore",
        basis: Basis::One(CALLS.id, |results| {
            let library = (Call::Clock, "clock_gettime through the library");
            let kernel = (Call::ClockSyscall, "as a system call");
            faster(results, 2.0, library, kernel)
        }),
    },
    Claim {
        key: "forking_is_free_of_size",
        says: "Since pages are copied only when written, a fork costs the same for processes of any size.",
        source: "folklore",
        basis: Basis::One(FORK_SIZE.id, |results| {
            let of = |pages| {
                let sizes = fork_size::by_size(results, pages);
                let growth = ratio(sizes.last()?.1, sizes.first()?.1)?;
                (sizes.len() > 1).then_some((pages, growth))
            };
            let growth: Vec<_> = Pages::of_machine(results.machine).filter_map(of).collect();
            let ruling = throughout(growth.iter().map(|(_, it)| opposite(exceeds(it, FASTER))));
            let [(_, least), (pages, most)] = extremes(&growth)?;
            let said = sentence!(
                "Forking the largest parent measured takes {least} to {most} as long as forking \
                 the smallest, the longest in {pages}."
            );
            Some(decided(ruling, said))
        }),
    },
    Claim {
        key: "threads_switch_faster_than_processes",
        says: "Switching between threads is faster than switching between processes.",
        source: "folklore",
        basis: Basis::One(SWITCH.id, |results| {
            let of = |placement: &Placement| {
                let switch = |kind| pair(results, kind, *placement);
                let times = ratio(switch(Kind::Processes)?, switch(Kind::Threads)?)?;
                Some((placement.name(), times))
            };
            let times: Vec<_> = Placement::ALL.iter().filter_map(of).collect();
            larger_among(FASTER, &times, |[(few, least), (many, most)]| {
                sentence!(
                    "A switch between two processes takes {least} as long as between two threads on \
                     {few}, and {most} on {many}."
                )
            })
        }),
    },
    Claim {
        key: "epoll_is_free_of_number",
        says: "A wait by epoll costs the same for any number of descriptors.",
        source: "folklore",
        basis: Basis::One(POLL.id, |results| {
            let waits = poll::by_count(results, poll::Call::Epoll);
            let (&(few, fewest), rest) = waits.split_first()?;
            let ratios = rest
                .iter()
                .map(|(count, wait)| Some((*count, ratio(wait, fewest)?)));
            let ratios: Vec<_> = ratios.collect::<Option<_>>()?;
            about_along(1.0, ALMOST, &ratios, |[least, most]| {
                sentence!(
                    "A wait by epoll takes {least} to {most} as long with more descriptors as with {few}."
                )
            })
        }),
    },
    Claim {
        key: "two_cores_talk_faster_than_one",
        says: "Two processes answer each other faster when each has a core of its own, by any means.",
        source: "folklore",
        basis: Basis::One(IPC.id, |results| {
            let of = |means: &Mechanism| {
                let answer = |placement| round_trip(results, *means, placement);
                let (one, two) = (answer(Placement::OneCore)?, answer(Placement::TwoCores)?);
                Some((means.name(), ratio(one, two)?))
            };
            let gains: Vec<_> = Mechanism::ALL.iter().filter_map(of).collect();
            larger_among(FASTER, &gains, |[(slow, least), (fast, most)]| {
                sentence!(
                    "For a short message, the round trip on two cores is {least} as fast as on one by \
                     {slow}, and {most} as fast by {fast}."
                )
            })
        }),
    },
    Claim {
        key: "unix_sockets_beat_tcp",
        says: "On one machine, Unix sockets are faster than TCP.",
        source: "folklore",
        basis: Basis::One(IPC.id, |results| {
            let of = |placement: &Placement| {
                let trip = |means| round_trip(results, means, *placement);
                let trips = trip(Mechanism::Tcp).zip(trip(Mechanism::UnixSocket));
                let trips = trips.and_then(|(tcp, unix)| Some(("round trips", ratio(tcp, unix)?)));
                let stream = |means| by_message(results, BANDWIDTH, means, *placement);
                let streams = ratios(&stream(Mechanism::UnixSocket), &stream(Mechanism::Tcp));
                let streams = streams.into_iter().map(|(_, gain)| ("streams", gain));
                trips.into_iter().chain(streams)
            };
            let gains: Vec<_> = Placement::ALL.iter().flat_map(of).collect();
            larger_among(FASTER, &gains, |[(slow, least), (fast, most)]| {
                sentence!(
                    "On one core and two, a Unix socket is {least} as fast as TCP in the worst case, of \
                     {slow}, and {most} as fast in the best, of {fast}."
                )
            })
        }),
    },
    Claim {
        key: "shared_memory_moves_most",
        says: "Shared memory moves data faster than any means that needs system calls.",
        source: "folklore",
        basis: Basis::One(IPC.id, |results| {
            let of = |placement: &Placement| {
                let stream = |means| by_message(results, BANDWIDTH, means, *placement);
                let others = [Mechanism::Pipe, Mechanism::UnixSocket, Mechanism::Tcp];
                let gains =
                    others.map(|other| ratios(&stream(Mechanism::SharedMemory), &stream(other)));
                let (gains, placed) = (gains.into_iter().flatten(), placement.name());
                gains.map(move |(_, gain)| (placed, gain))
            };
            let gains: Vec<_> = Placement::ALL.iter().flat_map(of).collect();
            larger_among(FASTER, &gains, |[(slow, least), (fast, most)]| {
                sentence!(
                    "Over all sizes of messages, a ring in shared memory transfers {least} as much as \
                     another means at worst, on {slow}, and {most} at best, on {fast}."
                )
            })
        }),
    },
];

const SYSTEM_CALL: (Call, &str) = (Call::Getpid, "a bare system call");
const MALLOC: (Call, &str) = (Call::Malloc, "malloc and free");
const STREAM: (Call, &str) = (Call::Fopen, "fopen and fclose");

/// Judges "`one` can be called more than `factor` times as often as `other`", each with its name, at every level of
/// optimisation.
fn faster(
    results: &Results<'_>,
    factor: f64,
    (one, one_name): (Call, &str),
    (other, other_name): (Call, &str),
) -> Option<Judgement> {
    let ratios = rates_over(results, one, other);
    let ruling = throughout(ratios.iter().map(|(_, ratio)| exceeds(ratio, factor)));
    let (one, other) = (rate(results, one)?, rate(results, other)?);
    let [(_, least), (_, most)] = extremes(&ratios)?;
    let said = if ratios.len() > 1 {
        sentence!(
            "{one_name}: {one}; {other_name}: {other}; {least} to {most} as many, by the loop's level of \
             optimisation."
        )
    } else {
        sentence!("{one_name}: {one}; {other_name}: {other}; {most} as many.")
    };
    Some(
        decided(ruling, said)
            .with_number("one", one)
            .with_number("other", other)
            .with_number("ratio", most),
    )
}

/// The rate of one call over that of another, by the level of optimisation of the loop around them.
fn rates_over(results: &Results<'_>, one: Call, other: Call) -> Vec<(Optimisation, Quantity)> {
    let of = |call: Call| results.along(OPTIMISATION, RATE, &[CALL.at(call)]);
    ratios(&of(one), &of(other))
}
