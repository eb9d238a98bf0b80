//! Claims about threads and locks.

use super::inversion::{HIGH_ENDS, MIDDLE_ENDS, PROTOCOL, Protocol};
use super::io::{self, Mode, Sweep};
use super::kind::{self, KIND, Kind};
use super::lock::{Body, ENTRY, LockType, MIDDLE, RUN, at};
use super::monitor::{HELD, WAKING, Waking};
use super::two_locks::{self, KernelLock, by_processors};
use super::{create, slice, switch};
use crate::estimates::{ratio, ratios, side_by_side};
use crate::judging::{
    ALMOST, LITTLE, MARGIN, alike, both, decided, exceeds, larger, larger_along, larger_by,
    opposite,
};
use crate::prelude::*;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::point::LevelOf;

const LOCKS: &str = "threads.lock";
const TWO_LOCKS: &str = "threads.two_locks";
const INVERSION: &str = "threads.inversion";
const IO: &str = "threads.io";
const MONITOR: &str = "threads.monitor";
const SWITCH: &str = "threads.switch";
const CREATE: &str = "threads.create";
const SLICE: &str = "threads.slice";

/// A time that grows by this factor grows rapidly.
const RAPIDLY: f64 = 2.0;

/// The shortest slice that textbooks give.
const TEXTBOOK_SLICE: Count = Count(10_000);
/// The share of the processor that switching may take.
const AFFORDABLE: f64 = 0.01;

/// The most threads of the report.
const MOST: Count = Count(99);

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "spinning_collapses_where_threads_yield",
        says: "If threads of one worker yield inside the lock, a spin lock is ruinous.",
        source: "Report D, Table 1: 77.6 s against 969 µs with 99 threads",
        experiments: &[LOCKS],
        test: |evidence| {
            let one = run(evidence, Body::SimpleYield, LockType::SpinLock)?;
            let other = run(evidence, Body::SimpleYield, LockType::Lock)?;
            larger_by(100.0, one, other, |ratio| {
                sentence!("A run of 99 threads: {one} spinning, {other} blocking, {ratio}.")
            })
        },
    },
    Claim {
        key: "spinning_wins_where_nobody_yields",
        says: "If no thread yields inside the lock, a spin lock is faster than one that blocks.",
        source: "Report D, Table 1: 341 against 517 µs with 99 threads",
        experiments: &[LOCKS],
        test: |evidence| {
            let one = run(evidence, Body::Simple, LockType::Lock)?;
            let other = run(evidence, Body::Simple, LockType::SpinLock)?;
            larger(one, other, |ratio| {
                sentence!("A run of 99 threads: {one} blocking, {other} spinning, {ratio}.")
            })
        },
    },
    Claim {
        key: "within_a_slice_both_locks_are_alike",
        says: "If threads compute inside the lock for less than a slice, one that spins and one that \
               blocks take almost the same time.",
        source: "Report D, Table 1: 2152 and 2294 µs with 99 threads",
        experiments: &[LOCKS],
        test: |evidence| {
            let one = run(evidence, Body::complex(1000), LockType::Lock)?;
            let other = run(evidence, Body::complex(1000), LockType::SpinLock)?;
            alike(ALMOST, one, other, |ratio| {
                sentence!("A run of 99 threads: {one} blocking, {other} spinning, {ratio}.")
            })
        },
    },
    Claim {
        key: "many_io_threads_close_the_gap",
        says: "With 90 I/O threads, synchronous and asynchronous I/O take almost the same time.",
        source: "Report D, Table 2: 208 920 and 206 022 µs",
        experiments: &[IO],
        test: |evidence| {
            let of = |mode| {
                let levels = [
                    io::MODE.at(mode),
                    io::SWEEP.at(Sweep::ReportedThreads),
                    io::IO_THREADS.at(Count(90)),
                ];
                evidence.estimate(IO, io::RUN, &levels)
            };
            let (one, other) = (of(Mode::Asynchronous)?, of(Mode::Synchronous)?);
            alike(ALMOST, one, other, |ratio| {
                sentence!(
                    "90 threads write and read: {one} asynchronously, {other} synchronously, {ratio}."
                )
            })
        },
    },
    Claim {
        key: "one_io_thread_is_slower_asynchronously",
        says: "One I/O thread next to one that computes takes longer asynchronously, whatever it transfers.",
        source: "Report D, Table 2, first sweep",
        experiments: &[IO],
        test: |evidence| reported_sweep(evidence, io::LENGTH, Sweep::ReportedLengths),
    },
    Claim {
        key: "beside_computing_io_is_slower_asynchronously",
        says: "One I/O thread takes longer asynchronously next to any number of threads that compute.",
        source: "Report D, Table 2, third sweep",
        experiments: &[IO],
        test: |evidence| reported_sweep(evidence, io::COMPUTING, Sweep::ReportedComputing),
    },
    Claim {
        key: "the_length_of_a_transfer_matters_little",
        says: "The length that one I/O thread writes and reads, up to 100 000 bytes, affects its time only a \
               little.",
        source: "Report D, Table 2, first sweep: 82 to 116 µs and 6870 to 8882 µs",
        experiments: &[IO],
        test: length_matters_little,
    },
    Claim {
        key: "computing_delays_asynchronous_io_more",
        says: "Threads that compute add more to the time of asynchronous I/O than to that of synchronous \
               I/O.",
        source: "Report D, Table 2, third sweep: 1284 to 57 977 µs and 4545 to 156 638 µs",
        experiments: &[IO],
        test: computing_delays_more,
    },
    Claim {
        key: "asynchronous_reading_costs_a_single_thread_more",
        says: "A single thread reads from the page cache faster synchronously.",
        source: "Report D, Table 2: 82 against 6870 µs",
        experiments: &[IO],
        test: |evidence| {
            let read = |mode| {
                let levels = [
                    io::MODE.at(mode),
                    io::SWEEP.at(Sweep::Lengths),
                    io::LENGTH.at(Bytes(1)),
                ];
                evidence.estimate(IO, io::RUN, &levels)
            };
            let (one, other) = (read(Mode::Asynchronous)?, read(Mode::Synchronous)?);
            larger(one, other, |ratio| {
                sentence!(
                    "One thread and one byte: {one} asynchronously, {other} synchronously, {ratio}."
                )
            })
        },
    },
    Claim {
        key: "middle_priority_overtakes_without_a_remedy",
        says: "Without a remedy, a thread of middle priority ends before one of the highest.",
        source: "folklore",
        experiments: &[INVERSION],
        test: |evidence| {
            let [one, other] = ends(evidence, Protocol::None)?;
            larger(one, other, |_| {
                sentence!("A, of the highest priority, ends after {one}, B after {other}.")
            })
        },
    },
    Claim {
        key: "a_ceiling_keeps_the_order_of_priorities",
        says: "With a priority ceiling, the thread of the highest priority ends first of those that \
             wait.",
        source: "folklore",
        experiments: &[INVERSION],
        test: |evidence| {
            let [other, one] = ends(evidence, Protocol::Ceiling)?;
            larger(one, other, |_| {
                sentence!("B, of middle priority, ends after {one}, A after {other}.")
            })
        },
    },
    Claim {
        key: "decay_that_spares_owners_keeps_the_order",
        says: "If each tick lowers the priority of a thread that holds no lock, a thread of middle \
             priority does not end before one of the highest.",
        source: "Report D, Priority Inversion: C, A, B",
        experiments: &[INVERSION],
        test: decay_keeps_the_order,
    },
    Claim {
        key: "on_several_processors_blocking_is_better",
        says: "With 2n threads on n processors, half of them at each of two locks, blocking is generally \
               better than spinning.",
        source: "Report D, several processors",
        experiments: &[TWO_LOCKS],
        test: blocking_on_several,
    },
    Claim {
        key: "test_and_set_costs_more_with_more_processors",
        says: "With a lock that spins, the time of a critical section grows rapidly with the number of \
               processors.",
        source: "Report D, several processors",
        experiments: &[TWO_LOCKS],
        test: |evidence| {
            let results = evidence.of(TWO_LOCKS)?;
            let curve = by_processors(results, KernelLock::PthreadSpin, two_locks::SHORT);
            let ((fewest, other), (most, one)) = (*curve.first()?, *curve.last()?);
            if fewest == most {
                return None;
            }
            larger_by(RAPIDLY, one, other, |ratio| {
                sentence!(
                    "An entry takes {one} on {most} processors and {other} on {fewest}: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "kernel_threads_should_spin_on_short_sections",
        says: "Kernel threads on several cores, too, should spin if sections are short.",
        source: "folklore",
        experiments: &[LOCKS],
        test: |evidence| {
            let entry = |lock| evidence.estimate(LOCKS, ENTRY, &at(Body::Simple, lock, MIDDLE));
            let one = entry(LockType::PthreadMutex)?;
            let other = entry(LockType::PthreadSpin)?;
            larger(one, other, |ratio| {
                sentence!(
                    "An entry takes {one} with a mutex and {other} with a spin lock: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "asynchronous_reading_is_faster",
        says: "Asynchronous reading is faster than synchronous reading.",
        source: "folklore; report D, Table 2, saw it with 90 threads that read and compute no more",
        experiments: &[IO],
        test: asynchronous_is_faster,
    },
    Claim {
        key: "after_hoare_the_condition_still_holds",
        says: "In a monitor after Hoare, a woken thread finds the condition true that it waited for.",
        source: "Report D, Test-zoo",
        experiments: &[MONITOR],
        test: |evidence| held(evidence, Waking::Signal),
    },
    Claim {
        key: "after_mesa_it_still_holds_too",
        says: "In a monitor after Mesa, one check before waiting is enough.",
        source: "folklore",
        experiments: &[MONITOR],
        test: |evidence| held(evidence, Waking::Notify),
    },
    Claim {
        key: "user_threads_switch_faster",
        says: "User-level threads switch ten times as fast as the kernel's.",
        source: "folklore",
        experiments: &[SWITCH],
        test: |evidence| {
            let switch = |kind| {
                let levels = [KIND.at(kind), kind::THREADS.at(Count(2))];
                evidence.estimate(SWITCH, switch::SWITCH, &levels)
            };
            let (one, other) = (switch(Kind::Kernel)?, switch(Kind::User)?);
            larger_by(10.0, one, other, |ratio| {
                sentence!(
                    "A switch between kernel threads takes {one}, between user threads {other}: {ratio}."
                )
            })
        },
    },
    Claim {
        key: "user_threads_are_made_faster",
        says: "User-level threads are made a hundred times as fast as the kernel's.",
        source: "folklore",
        experiments: &[CREATE],
        test: |evidence| {
            let results = evidence.of(CREATE)?;
            let of = |kind| kind::curve(results, create::CREATE, kind);
            let (_, one, other) = side_by_side(&of(Kind::Kernel), &of(Kind::User)).pop()?;
            larger_by(100.0, one, other, |ratio| {
                sentence!(
                    "Making and joining a kernel thread takes {one}, a user thread {other}: \
                     {ratio}."
                )
            })
        },
    },
    Claim {
        key: "short_slices_cost_too_much",
        says: "With slices below 10 ms, switching takes more than 1 % of the processor.",
        source: "folklore; textbooks give slices of 10 to 100 ms",
        experiments: &[SLICE],
        test: |evidence| {
            let results = evidence.of(SLICE)?;
            let curve = results.along(slice::SLICE, slice::IN_TICKS, &[]);
            // The longest slice below those of the textbooks: if it is cheap, they need not be so long.
            let mut short = curve.iter().filter(|(slice, _)| *slice < TEXTBOOK_SLICE);
            let &(longest, share) = short.next_back()?;
            let share = share.quantity();
            let said = sentence!(
                "With slices of {slice}, ticks and switches of user threads take {share} of the \
                 processor.",
                slice = slice::duration(longest),
            );
            let because = Finding::new("because", said);
            Some(decided(exceeds(&share, AFFORDABLE), because))
        },
    },
];

/// Spinning over blocking at two locks, in short and in long sections.
fn blocking_on_several(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(TWO_LOCKS)?;
    let times = |steps| {
        let (processors, blocking, spinning) = two_locks::opposites(results, steps)?;
        Some((processors, ratio(spinning, blocking)?))
    };
    let ((processors, short), (_, long)) = (times(two_locks::SHORT)?, times(two_locks::LONG)?);
    let said = sentence!(
        "On {processors} processors, spinning takes {short} as long as blocking in short sections and \
         {long} in long ones."
    );
    let because = Finding::new("because", said)
        .with_number("short", short)
        .with_number("long", long);
    let ruling = match [short, long].map(|times| exceeds(&times, 1.0 + MARGIN)) {
        [Ruling::Holds, Ruling::Holds] => Ruling::Holds,
        [Ruling::Holds, _] | [_, Ruling::Holds] => Ruling::HoldsInPart,
        [Ruling::DoesNotHold, Ruling::DoesNotHold] => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    };
    Some(decided(ruling, because))
}

/// The run of the most threads, each of which enters once.
fn run<'a>(evidence: &Evidence<'a>, body: Body, lock: LockType) -> Option<&'a Estimate> {
    evidence.estimate(LOCKS, RUN, &at(body, lock, MOST))
}

/// Asynchronous over synchronous along a sweep of the report's table.
fn reported_sweep<L: LevelOf + Copy + Ord + Into<Quantity>>(
    evidence: &Evidence<'_>,
    axis: AxisOf<L>,
    sweep: Sweep,
) -> Option<Judgement> {
    let results = evidence.of(IO)?;
    let runs = |mode| {
        let levels = [io::MODE.at(mode), io::SWEEP.at(sweep)];
        results.along(axis, io::RUN, &levels)
    };
    let ratios = ratios(&runs(Mode::Asynchronous), &runs(Mode::Synchronous));
    larger_along("", &ratios, |[least, most]| {
        sentence!("Asynchronously it takes {least} to {most} as long.")
    })
}

/// The first and the last time along a sweep of the report's table.
fn sweep_ends<'a, L: LevelOf + Copy + Ord>(
    evidence: &Evidence<'a>,
    axis: AxisOf<L>,
    sweep: Sweep,
    mode: Mode,
) -> Option<[&'a Estimate; 2]> {
    let levels = [io::MODE.at(mode), io::SWEEP.at(sweep)];
    let curve = evidence.of(IO)?.along(axis, io::RUN, &levels);
    let ((first, short), (last, long)) = (*curve.first()?, *curve.last()?);
    (first < last).then_some([short, long])
}

/// The time of the longest transfer over that of a byte, both ways.
fn length_matters_little(evidence: &Evidence<'_>) -> Option<Judgement> {
    let growth = |mode| {
        let [short, long] = sweep_ends(evidence, io::LENGTH, Sweep::ReportedLengths, mode)?;
        ratio(long, short)
    };
    let (plain, other) = (growth(Mode::Synchronous)?, growth(Mode::Asynchronous)?);
    let ruling = [plain, other].map(|growth| opposite(exceeds(&growth, LITTLE)));
    let said = sentence!(
        "The longest transfer takes {plain} as long as one of a byte synchronously, and {other} \
         asynchronously."
    );
    let because = Finding::new("because", said);
    Some(decided(both(ruling[0], ruling[1]), because))
}

/// The time that the most computing threads add, both ways.
fn computing_delays_more(evidence: &Evidence<'_>) -> Option<Judgement> {
    let added = |mode| {
        let sweep = Sweep::ReportedComputing;
        let [few, many] = sweep_ends(evidence, io::COMPUTING, sweep, mode)?;
        let [few, many] = [few, many].map(Quantity::from);
        Some(many.minus(few))
    };
    let (plain, other) = (added(Mode::Synchronous)?, added(Mode::Asynchronous)?);
    let more = other.minus(plain);
    let ruling = match more.interval {
        Some(interval) if interval.low > 0.0 => Ruling::Holds,
        Some(interval) if interval.high < 0.0 => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    };
    let said = sentence!(
        "The most threads that compute add {plain} to synchronous I/O and {other} to asynchronous."
    );
    let because = Finding::new("because", said).with_number("more", more);
    Some(decided(ruling, because))
}

/// The ends of the threads of the highest and of middle priority.
fn ends<'a>(evidence: &Evidence<'a>, protocol: Protocol) -> Option<[&'a Estimate; 2]> {
    let moment = |metric| evidence.estimate(INVERSION, metric, &[PROTOCOL.at(protocol)]);
    Some([moment(HIGH_ENDS)?, moment(MIDDLE_ENDS)?])
}

/// The report's section lasts "longer than one slice". Whether its remedy helps depends on how much longer.
fn decay_keeps_the_order(evidence: &Evidence<'_>) -> Option<Judgement> {
    let middle_to_high = |protocol| {
        let [high, middle] = ends(evidence, protocol)?;
        ratio(middle, high)
    };
    let short = middle_to_high(Protocol::DecayShort)?;
    let long = middle_to_high(Protocol::Decay)?;
    let ruling = match [&short, &long].map(|ratio| exceeds(ratio, 1.0 + MARGIN)) {
        [Ruling::Holds, Ruling::DoesNotHold] => Ruling::HoldsInPart,
        [one, other] if one == other => one,
        _ => Ruling::Undecided,
    };
    let said = sentence!(
        "B ends at {short} the time of A if C leaves the lock within two slices, and at {long} if C \
         computes as long as B."
    );
    let because = Finding::new("because", said)
        .with_number("short", short)
        .with_number("long", long);
    Some(decided(ruling, because))
}

/// Along the number of threads that read from the device.
fn asynchronous_is_faster(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(IO)?;
    let runs = |mode| {
        let levels = [io::MODE.at(mode), io::SWEEP.at(Sweep::Device)];
        results.along(io::IO_THREADS, io::RUN, &levels)
    };
    let ratios = ratios(&runs(Mode::Synchronous), &runs(Mode::Asynchronous));
    larger_along("a thread count of ", &ratios, |[least, most]| {
        sentence!("From the device, synchronous threads take {least} to {most} as long.")
    })
}

/// The share of the wake-ups after which the condition held.
fn held(evidence: &Evidence<'_>, waking: Waking) -> Option<Judgement> {
    let point = evidence.of(MONITOR)?.at(&[WAKING.at(waking)])?;
    let share = point.estimate(HELD)?;
    let share = Quantity::exact(share.centre, share.unit);
    let because = Finding::new(
        "because",
        sentence!("The condition was true after {share} of the wake-ups."),
    );
    let ruling = if share.value >= 1.0 {
        Ruling::Holds
    } else {
        Ruling::DoesNotHold
    };
    Some(Judgement::new(ruling, because))
}

#[cfg(test)]
mod tests {
    use super::super::inversion::{HIGH_ENDS, Inversion, MIDDLE_ENDS, PROTOCOL, Protocol};
    use super::super::lock::Lock;
    use super::*;
    use crate::made_up::{judgement, measured};
    use crate::threads::lock::{Body, LockType, RUN, point};

    #[test]
    fn a_lock_that_collapses_is_judged_so() {
        let at = |lock, ns| measured(point(Body::SimpleYield, lock, MOST), &[(RUN, ns)]);
        let points = vec![at(LockType::Lock, 1e5), at(LockType::SpinLock, 5e8)];
        let judged = judgement(ALL, ALL[0].key, &Lock, points);
        assert_eq!(judged.ruling, Ruling::Holds);
    }

    /// The ruling on times in µs by length or by computing threads, synchronously and asynchronously.
    fn by_table_2(key: &str, [plain, other]: [[f64; 2]; 2]) -> Ruling {
        let at = |mode, index: usize, us: f64| {
            let point = |sweep| Point::new().at(io::MODE, mode).at(io::SWEEP, sweep);
            let length = [Bytes(1), Bytes(100_000)][index];
            let threads = [Count(1), Count(90)][index];
            [
                point(Sweep::ReportedLengths).at(io::LENGTH, length),
                point(Sweep::ReportedComputing).at(io::COMPUTING, threads),
            ]
            .map(|point| measured(point, &[(io::RUN, us * 1e3)]))
        };
        let points = [
            at(Mode::Synchronous, 0, plain[0]),
            at(Mode::Synchronous, 1, plain[1]),
            at(Mode::Asynchronous, 0, other[0]),
            at(Mode::Asynchronous, 1, other[1]),
        ];
        judgement(ALL, key, &io::Io, points.concat()).ruling
    }

    #[test]
    fn the_sweeps_of_table_2_are_judged() {
        let length = "the_length_of_a_transfer_matters_little";
        let as_printed = [[82.0, 116.0], [6870.0, 8882.0]];
        assert_eq!(by_table_2(length, as_printed), Ruling::Holds);
        let grows = [[82.0, 400.0], [6870.0, 8882.0]];
        assert_eq!(by_table_2(length, grows), Ruling::HoldsInPart);

        let computing = "computing_delays_asynchronous_io_more";
        let as_printed = [[1284.0, 57_977.0], [4545.0, 156_638.0]];
        assert_eq!(by_table_2(computing, as_printed), Ruling::Holds);
        let alike = [[1284.0, 57_977.0], [4545.0, 58_000.0]];
        assert_eq!(by_table_2(computing, alike), Ruling::DoesNotHold);
    }

    #[test]
    fn decay_is_a_remedy_where_the_section_is_short() {
        let at = |protocol, [high, middle]: [f64; 2]| {
            let point = Point::new().at(PROTOCOL, protocol);
            measured(point, &[(HIGH_ENDS, high), (MIDDLE_ENDS, middle)])
        };
        let (a_first, b_first) = ([1e6, 2e6], [3e6, 2e6]);
        for (short, long, expected) in [
            (a_first, a_first, Ruling::Holds),
            (a_first, b_first, Ruling::HoldsInPart),
            (b_first, b_first, Ruling::DoesNotHold),
            (b_first, a_first, Ruling::Undecided),
        ] {
            let points = vec![at(Protocol::DecayShort, short), at(Protocol::Decay, long)];
            let key = "decay_that_spares_owners_keeps_the_order";
            assert_eq!(judgement(ALL, key, &Inversion, points).ruling, expected);
        }
    }
}
