//! Claims about threads and locks.

use super::inversion::{HIGH_ENDS, MIDDLE_ENDS, PROTOCOL, Protocol};
use super::io::{self, Mode, Sweep};
use super::kind::{self, Kind};
use super::lock::{
    self, BODY, Body, LOCK, LONG_SLICE_US, LockType, RUN, SLICE as SLICE_AXIS, spin_and_block,
    step_ns, user_spin_and_block, with_one_slice,
};
use super::monitor::{HELD, WAKING, Waking};
use super::two_locks::{self, KernelLock, by_processors};
use super::{create, slice, switch};
use crate::estimates::{pooled, ratio, ratios, side_by_side, value_at};
use crate::judging::{
    ALMOST, MARGIN, about, about_along, both, decided, exceeds, extremes, larger, larger_along,
    larger_along_by, larger_among, opposite, throughout,
};
use crate::prelude::*;

const LOCKS: &str = "threads.lock";
const TWO_LOCKS: &str = "threads.two_locks";
const INVERSION: &str = "threads.inversion";
const IO: &str = "threads.io";
const MONITOR: &str = "threads.monitor";
const SWITCH: &str = "threads.switch";
const CREATE: &str = "threads.create";
const SLICE: &str = "threads.slice";

/// A run that takes this number of times as long is ruined.
const RUINOUS: f64 = 10.0;
/// Report D calls an effect slight that its table shows as 82 to 185 µs.
const SLIGHTLY: f64 = 2.5;
/// A time that grows by this factor grows rapidly.
const RAPIDLY: f64 = 2.0;

/// The shortest slice that textbooks give.
const TEXTBOOK_SLICE: Count = Count(10_000);
/// The share of the processor that switching may take.
const AFFORDABLE: f64 = 0.01;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "spinning_collapses_where_threads_yield",
        says: "If threads of one worker yield inside the lock, a spin lock is ruinous.",
        source: "Report D, Table 1: 77.6 s against 969 µs with 99 threads",
        basis: Basis::One(LOCKS, |results| {
            let mut ratios = runs(
                results,
                Body::SimpleYield,
                LockType::SpinLock,
                LockType::Lock,
            );
            // A thread that is alone has nobody to yield to.
            ratios.retain(|(threads, _)| threads.0 > 1);
            larger_along_by(RUINOUS, "a thread count of ", &ratios, of_spinning)
        }),
    },
    Claim {
        key: "spinning_wins_where_nobody_yields",
        says: "If no thread yields inside the lock, a spin lock is faster than one that blocks.",
        source: "Report D, Table 1: 341 against 517 µs with 99 threads",
        basis: Basis::One(LOCKS, |results| {
            let ratios = runs(results, Body::Simple, LockType::Lock, LockType::SpinLock);
            larger_along("a thread count of ", &ratios, |[least, most]| {
                sentence!("A run takes {least} to {most} as long with a lock that blocks.")
            })
        }),
    },
    Claim {
        key: "within_a_slice_both_locks_are_alike",
        says: "If threads compute inside the lock for less than a slice, one that spins and one that \
               blocks take almost the same time.",
        source: "Report D, Table 1: 2152 and 2294 µs with 99 threads",
        basis: Basis::One(LOCKS, |results| {
            let (one, other) = (LockType::SpinLock, LockType::Lock);
            let ratios = runs(results, Body::complex(1000), one, other);
            about_along(1.0, ALMOST, &ratios, of_spinning)
        }),
    },
    Claim {
        key: "the_slice_decides_between_spinning_and_blocking",
        says: "On one processor, spinning is generally faster if a section is shorter than a slice, and blocking if \
               it is longer.",
        source: "Report D, size of a critical section",
        basis: Basis::One(LOCKS, slice_decides),
    },
    Claim {
        key: "many_io_threads_close_the_gap",
        says: "With 90 I/O threads, synchronous and asynchronous I/O take almost the same time.",
        source: "Report D, Table 2: 208 920 and 206 022 µs",
        basis: Basis::One(IO, |results| {
            let results = &results.without(io::WORKLOAD);
            let of = |mode| {
                let levels = [
                    io::MODE.at(mode),
                    io::SWEEP.at(Sweep::ReportedThreads),
                    io::IO_THREADS.at(Count(90)),
                ];
                results.sound(io::RUN, &levels)
            };
            let (one, other) = (of(Mode::Asynchronous)?, of(Mode::Synchronous)?);
            about(1.0, ALMOST, one, other, |ratio| {
                sentence!(
                    "90 threads write and read: {one} asynchronously, {other} synchronously, {ratio}."
                )
            })
        }),
    },
    Claim {
        key: "more_io_threads_favour_asynchronous_io",
        says: "With more than 90 I/O threads, asynchronous I/O is faster.",
        source: "Report D, Table 2: \"following the trend\"",
        basis: Basis::One(IO, |results| {
            let results = &results.without(io::WORKLOAD);
            let runs = |mode| along(results, io::IO_THREADS, Sweep::ReportedThreads, mode);
            let both = side_by_side(&runs(Mode::Synchronous), &runs(Mode::Asynchronous));
            let (threads, one, other) = both.into_iter().next_back()?;
            let is_more = threads.0 > io::MANY;
            is_more.then(|| {
                larger(one, other, |ratio| {
                    sentence!(
                        "{threads} threads write and read: {one} synchronously, {other} asynchronously, {ratio}."
                    )
                })
            })?
        }),
    },
    Claim {
        key: "one_io_thread_is_slower_asynchronously",
        says: "One I/O thread next to one that computes takes longer asynchronously, whatever it transfers.",
        source: "Report D, Table 2, first sweep",
        basis: Basis::One(IO, |results| {
            sweep(results, io::LENGTH, Sweep::ReportedLengths, "lengths of ")
        }),
    },
    Claim {
        key: "beside_computing_io_is_slower_asynchronously",
        says: "One I/O thread takes longer asynchronously next to any number of threads that compute.",
        source: "Report D, Table 2, third sweep",
        basis: Basis::One(IO, |results| {
            sweep(
                results,
                io::COMPUTING,
                Sweep::ReportedComputing,
                "a thread count of ",
            )
        }),
    },
    Claim {
        key: "the_length_of_a_transfer_matters_little",
        says: "The length that one I/O thread writes and reads, up to 100 000 bytes, affects its time only a \
               little.",
        source: "Report D, Table 2, first sweep: 82 to 116 µs and 6870 to 8882 µs",
        basis: Basis::One(IO, length_matters_little),
    },
    Claim {
        key: "computing_delays_asynchronous_io_more",
        says: "Threads that compute add more to the time of asynchronous I/O than to that of synchronous \
               I/O.",
        source: "Report D, Table 2, third sweep: 1284 to 57 977 µs and 4545 to 156 638 µs",
        basis: Basis::One(IO, computing_delays_more),
    },
    Claim {
        key: "more_computing_threads_add_less_each",
        says: "The more threads compute, the less each further one adds to the time of I/O.",
        source: "Report D, Table 2, third sweep: 1284, 20 492 and 57 977 µs with 1, 30 and 90 threads",
        basis: Basis::One(IO, each_adds_less),
    },
    Claim {
        key: "asynchronous_reading_costs_a_single_thread_more",
        says: "A single thread reads from the page cache faster synchronously, whatever the length.",
        source: "Report D, Table 2: 82 against 6870 µs",
        basis: Basis::One(IO, |results| {
            sweep(results, io::LENGTH, Sweep::Lengths, "lengths of ")
        }),
    },
    Claim {
        key: "middle_priority_overtakes_without_a_remedy",
        says: "Without a remedy, a thread of middle priority ends before one of the highest.",
        source: "folklore",
        basis: Basis::One(INVERSION, |results| {
            let [one, other] = ends(results, Protocol::None)?;
            larger(one, other, |_| {
                sentence!("A, of the highest priority, ends after {one}, B after {other}.")
            })
        }),
    },
    Claim {
        key: "a_ceiling_keeps_the_order_of_priorities",
        says: "With a priority ceiling, the thread of the highest priority ends first of those that \
             wait.",
        source: "folklore",
        basis: Basis::One(INVERSION, |results| {
            let [other, one] = ends(results, Protocol::Ceiling)?;
            larger(one, other, |_| {
                sentence!("B, of middle priority, ends after {one}, A after {other}.")
            })
        }),
    },
    Claim {
        key: "decay_that_spares_owners_keeps_the_order",
        says: "If each tick lowers the priority of a thread that holds no lock, a thread of middle \
             priority does not end before one of the highest.",
        source: "Report D, Priority Inversion: C, A, B",
        basis: Basis::One(INVERSION, decay_keeps_the_order),
    },
    Claim {
        key: "on_several_processors_blocking_is_better",
        says: "With 2n threads on n processors, half of them at each of two locks, blocking is generally \
               better than spinning.",
        source: "Report D, several processors",
        basis: Basis::One(TWO_LOCKS, blocking_on_several),
    },
    Claim {
        key: "test_and_set_costs_more_with_more_processors",
        says: "With a lock that spins, the time of a critical section grows rapidly with the number of \
               processors.",
        source: "Report D, several processors",
        basis: Basis::One(TWO_LOCKS, with_more_processors),
    },
    Claim {
        key: "kernel_threads_should_spin_on_short_sections",
        says: "Kernel threads on several cores, too, should spin if sections are short.",
        source: "folklore",
        basis: Basis::Several(&[LOCKS, SWITCH], |evidence| {
            let (short, _) = sections(evidence)?;
            larger_among(1.0 + MARGIN, &short, |[(slow, least), (fast, most)]| {
                sentence!(
                    "In sections shorter than two switches, an entry takes {least} (section of {slow}) \
                     to {most} ({fast}) as long with a mutex as with a spin lock."
                )
            })
        }),
    },
    Claim {
        key: "two_switches_decide_between_spinning_and_blocking",
        says: "On several processors, spinning pays if a thread waits for less than two switches, and \
               blocking if it waits longer.",
        source: "Report D, several processors",
        basis: Basis::Several(&[LOCKS, SWITCH], two_switches_decide),
    },
    Claim {
        key: "asynchronous_reading_is_faster",
        says: "Asynchronous reading is faster than synchronous reading.",
        source: "folklore; report D, Table 2, saw it with 90 threads that read and compute no more",
        basis: Basis::One(IO, asynchronous_is_faster),
    },
    Claim {
        key: "after_hoare_the_condition_still_holds",
        says: "In a monitor after Hoare, a woken thread finds the condition true that it waited for.",
        source: "Report D, Test-zoo",
        basis: Basis::One(MONITOR, |results| held(results, Waking::Signal)),
    },
    Claim {
        key: "after_mesa_it_still_holds_too",
        says: "In a monitor after Mesa, one check before waiting is enough.",
        source: "folklore",
        basis: Basis::One(MONITOR, |results| held(results, Waking::Notify)),
    },
    Claim {
        key: "user_threads_switch_faster",
        says: "User-level threads switch more than ten times as fast as the kernel's.",
        source: "folklore",
        basis: Basis::One(SWITCH, |results| {
            let of = |kind| kind::curve(results, switch::SWITCH, kind);
            let ratios = ratios(&of(Kind::Kernel), &of(Kind::User));
            larger_among(10.0, &ratios, |[(_, least), (_, most)]| {
                sentence!(
                    "A switch between kernel threads takes {least} to {most} as long as between as many user \
                     threads."
                )
            })
        }),
    },
    Claim {
        key: "user_threads_are_made_faster",
        says: "User-level threads are made more than a hundred times as fast as the kernel's.",
        source: "folklore",
        basis: Basis::One(CREATE, |results| {
            let of = |kind| kind::curve(results, create::CREATE, kind);
            let ratios = ratios(&of(Kind::Kernel), &of(Kind::User));
            larger_among(100.0, &ratios, |[(_, least), (_, most)]| {
                sentence!(
                    "Making and joining a kernel thread takes {least} to {most} as long as a user \
                     thread, with equal numbers of both."
                )
            })
        }),
    },
    Claim {
        key: "short_slices_cost_too_much",
        says: "With slices below 10 ms, switching takes more than 1 % of the processor.",
        source: "folklore; textbooks give slices of 10 to 100 ms",
        basis: Basis::One(SLICE, |results| {
            let curve = results.along(slice::SLICE, slice::IN_TICKS, &[]);
            let short = curve.iter().filter(|(slice, _)| *slice < TEXTBOOK_SLICE);
            let shares: Vec<_> = short
                .map(|(slice, share)| (*slice, share.quantity()))
                .collect();
            larger_among(AFFORDABLE, &shares, |[(long, least), (short, most)]| {
                sentence!(
                    "Ticks and switches of user threads take {least} of the processor with slices of \
                     {long}, and {most} with slices of {short}.",
                    long = slice::duration(long),
                    short = slice::duration(short),
                )
            })
        }),
    },
];

/// Spinning over blocking at two locks, in short and in long sections, on each number of processors.
fn blocking_on_several(results: &Results<'_>) -> Option<Judgement> {
    let [short, long] = [two_locks::SHORT, two_locks::LONG]
        .map(|steps| two_locks::spinning_over_blocking(results, steps));
    let ([(_, a), (_, b)], [(_, c), (_, d)]) = (extremes(&short)?, extremes(&long)?);
    let said = sentence!(
        "By the number of processors, spinning takes {a} to {b} as long as blocking in short sections and \
         {c} to {d} in long ones."
    );
    let all = short.iter().chain(&long);
    let ruling = throughout(all.map(|(_, times)| exceeds(times, 1.0 + MARGIN)));
    Some(decided(ruling, said))
}

/// An entry on the most processors over one on the fewest, in short and in long sections.
fn with_more_processors(results: &Results<'_>) -> Option<Judgement> {
    let growth = |steps| {
        let curve = by_processors(results, KernelLock::PthreadSpin, steps);
        let ((fewest, few), (most, many)) = (*curve.first()?, *curve.last()?);
        let growth = ratio(many, few)?;
        (fewest < most).then_some((most, growth))
    };
    let ((most, short), (_, long)) = (growth(two_locks::SHORT)?, growth(two_locks::LONG)?);
    let said = sentence!(
        "On {most} processors, an entry takes {short} as long as on the fewest in short sections, and \
         {long} in long ones."
    );
    let ruling = throughout([short, long].map(|growth| exceeds(&growth, RAPIDLY)));
    Some(decided(ruling, said))
}

/// By the length of a section, one lock over another.
type Sections = Vec<(Quantity, Quantity)>;

/// The sections in which kernel threads wait for less than two switches of threads, and for more.
fn sections(evidence: &Evidence<'_>) -> Option<(Sections, Sections)> {
    let results = evidence.of(LOCKS)?;
    let switch = kind::curve(evidence.of(SWITCH)?, switch::SWITCH, Kind::Kernel);
    let (_, switch) = switch.first()?;
    let step_ns = step_ns(results)?;
    let of = |(steps, spin, block): (u64, &Estimate, &Estimate)| {
        let length = Quantity::nanoseconds(steps as f64 * step_ns);
        Some((length, ratio(block, spin)?))
    };
    // The simple body adds 1, which is a step too.
    let simple = |of| results.sound(lock::ENTRY, &lock::at(Body::Simple, of, lock::MIDDLE));
    let simple = simple(LockType::PthreadSpin).zip(simple(LockType::PthreadMutex));
    let simple = simple.map(|(spin, block)| (1, spin, block));
    let all = simple
        .into_iter()
        .chain(spin_and_block(results))
        .filter_map(of);
    Some(all.partition(|(length, _)| length.value < 2.0 * switch.centre))
}

/// Spinning must pay in all shorter sections, and blocking in all longer ones.
fn two_switches_decide(evidence: &Evidence<'_>) -> Option<Judgement> {
    let (short, long) = sections(evidence)?;
    let spins = short.iter().map(|(_, times)| exceeds(times, 1.0 + MARGIN));
    let blocks = long.iter();
    let blocks = blocks.map(|(_, times)| opposite(exceeds(times, 1.0 / (1.0 + MARGIN))));
    let ruling = both(throughout(spins), throughout(blocks));
    let ([(_, a), (_, b)], [(_, c), (_, d)]) = (extremes(&short)?, extremes(&long)?);
    let said = sentence!(
        "An entry takes {a} to {b} as long with a mutex as with a spin lock in sections shorter than two \
         switches, and {c} to {d} in longer ones."
    );
    Some(decided(ruling, said))
}

/// Spinning must be faster in all sections shorter than a slice, and blocking in all longer ones.
fn slice_decides(results: &Results<'_>) -> Option<Judgement> {
    let results = with_one_slice(results);
    let mut points = results.points.iter();
    let chosen = points.find_map(|result| result.point.level(SLICE_AXIS).ok());
    let slice_us = chosen.map_or(LONG_SLICE_US, |Count(slice_us)| slice_us);
    let slice = Quantity::nanoseconds(slice_us as f64 * 1e3);
    let step_ns = step_ns(&results)?;
    let of = |(steps, spin, block): (u64, &Estimate, &Estimate)| {
        let length = Quantity::nanoseconds(steps as f64 * step_ns);
        Some((length, ratio(spin, block)?))
    };
    let all = user_spin_and_block(&results).filter_map(of);
    let (short, long): (Sections, Sections) =
        all.partition(|(length, _)| length.value < slice.value);
    let spins = short.iter().map(|(_, times)| opposite(exceeds(times, 1.0)));
    let blocks = long.iter().map(|(_, times)| exceeds(times, 1.0));
    let ruling = both(throughout(spins), throughout(blocks));
    let ([(_, a), (_, b)], [(_, c), (_, d)]) = (extremes(&short)?, extremes(&long)?);
    let said = sentence!(
        "A run takes {a} to {b} as long with a lock that spins in sections shorter than a slice of {slice}, and \
         {c} to {d} in longer ones."
    );
    Some(decided(ruling, said))
}

/// A run with one lock over a run with another, in which each thread enters once, by the number of threads.
fn runs(
    results: &Results<'_>,
    body: Body,
    one: LockType,
    other: LockType,
) -> Vec<(Count, Quantity)> {
    let results = with_one_slice(results);
    let of = |lock| results.along(lock::THREADS, RUN, &[BODY.at(body), LOCK.at(lock)]);
    ratios(&of(one), &of(other))
}

fn of_spinning([least, most]: [Quantity; 2]) -> Sentence {
    sentence!("A run takes {least} to {most} as long with a lock that spins.")
}

/// Asynchronous over synchronous along a sweep, whose places are named by `noun`.
fn sweep<L: LevelOf + Copy + Ord + Into<Quantity>>(
    results: &Results<'_>,
    axis: AxisOf<L>,
    sweep: Sweep,
    noun: &str,
) -> Option<Judgement> {
    let results = &results.without(io::WORKLOAD);
    let runs = |mode| along(results, axis, sweep, mode);
    let ratios = ratios(&runs(Mode::Asynchronous), &runs(Mode::Synchronous));
    larger_along(noun, &ratios, |[least, most]| {
        sentence!("Asynchronous I/O takes {least} to {most} as long.")
    })
}

/// The times along a sweep in one mode.
fn along<'r, L: LevelOf + Ord>(
    results: &'r Results<'_>,
    axis: AxisOf<L>,
    sweep: Sweep,
    mode: Mode,
) -> Vec<(L, &'r Estimate)> {
    results.along(axis, io::RUN, &[io::MODE.at(mode), io::SWEEP.at(sweep)])
}

/// The time of each length over that of the shortest, both ways.
fn length_matters_little(results: &Results<'_>) -> Option<Judgement> {
    let results = &results.without(io::WORKLOAD);
    let growth = |mode| {
        let curve = along(results, io::LENGTH, Sweep::ReportedLengths, mode);
        let ((_, shortest), longer) = curve.split_first()?;
        let growth = longer.iter();
        let growth = growth.map(|(length, time)| Some((*length, ratio(time, shortest)?)));
        growth.collect::<Option<Vec<_>>>()
    };
    let (plain, other) = (growth(Mode::Synchronous)?, growth(Mode::Asynchronous)?);
    let is_little = |growth: &[(Bytes, Quantity)]| {
        let rulings = growth.iter().map(|(_, it)| opposite(exceeds(it, SLIGHTLY)));
        throughout(rulings)
    };
    let ([_, (_, a)], [_, (_, b)]) = (extremes(&plain)?, extremes(&other)?);
    let said = sentence!(
        "Longer transfers take at most {a} as long as one of a byte synchronously, and {b} asynchronously."
    );
    Some(decided(both(is_little(&plain), is_little(&other)), said))
}

/// The time that each number of computing threads adds to that of one, both ways.
fn computing_delays_more(results: &Results<'_>) -> Option<Judgement> {
    let results = &results.without(io::WORKLOAD);
    let added = |mode| {
        let curve = along(results, io::COMPUTING, Sweep::ReportedComputing, mode);
        let ((_, one), more) = curve.split_first()?;
        let added = more.iter();
        let added = added.map(|(count, time)| (*count, time.quantity().minus(one.quantity())));
        Some(added.collect::<Vec<(Count, Quantity)>>())
    };
    let (plain, other) = (added(Mode::Synchronous)?, added(Mode::Asynchronous)?);
    let more = other.iter();
    let more = more.filter_map(|(count, other)| Some(other.minus(value_at(&plain, *count)?)));
    let ruling = throughout(more.map(|more| exceeds(&more, 0.0)));
    let ((_, plain), (count, other)) = (plain.last()?, other.last()?);
    let said = sentence!(
        "{count} threads that compute add {plain} to synchronous I/O and {other} to asynchronous."
    );
    Some(decided(ruling, said))
}

/// The time that each thread adds from the fewest to the last but one number of threads over that which each adds from
/// there to the most, both ways.
fn each_adds_less(results: &Results<'_>) -> Option<Judgement> {
    let results = &results.without(io::WORKLOAD);
    let first_over_last = |mode| {
        let curve = along(results, io::COMPUTING, Sweep::ReportedComputing, mode);
        let [(fewest, few), .., (middle, some), (most, many)] = curve[..] else {
            return None;
        };
        let each = |more: &Estimate, less: &Estimate, threads: u64| {
            let added = more.quantity().minus(less.quantity());
            added.times(1.0 / threads as f64)
        };
        let first = each(some, few, middle.0 - fewest.0);
        first.over(each(many, some, most.0 - middle.0))
    };
    let (plain, other) = (
        first_over_last(Mode::Synchronous)?,
        first_over_last(Mode::Asynchronous)?,
    );
    let ruling = both(exceeds(&plain, 1.0), exceeds(&other, 1.0));
    let said = sentence!(
        "Each of the first threads adds {plain} as much as each of the last to synchronous I/O, and {other} \
         as much to asynchronous."
    );
    Some(decided(ruling, said))
}

/// The ends of the threads of the highest and of middle priority.
fn ends<'r>(results: &'r Results<'_>, protocol: Protocol) -> Option<[&'r Estimate; 2]> {
    let moment = |metric| results.sound(metric, &[PROTOCOL.at(protocol)]);
    Some([moment(HIGH_ENDS)?, moment(MIDDLE_ENDS)?])
}

/// The report's section lasts "longer than one slice". Whether its remedy helps depends on how much longer.
fn decay_keeps_the_order(results: &Results<'_>) -> Option<Judgement> {
    let middle_to_high = |protocol| {
        let [high, middle] = ends(results, protocol)?;
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
    Some(
        decided(ruling, said)
            .with_number("short", short)
            .with_number("long", long),
    )
}

/// Along the number of threads that read: from the device, next to threads that compute and from the page cache.
fn asynchronous_is_faster(results: &Results<'_>) -> Option<Judgement> {
    let results = &results.without(io::WORKLOAD);
    let by_threads = [Sweep::Device, Sweep::WhileComputing, Sweep::Cached].map(|sweep| {
        let runs = |mode| along(results, io::IO_THREADS, sweep, mode);
        ratios(&runs(Mode::Synchronous), &runs(Mode::Asynchronous))
    });
    let runs = |mode| along(results, io::LENGTH, Sweep::Lengths, mode);
    let alone = ratios(&runs(Mode::Synchronous), &runs(Mode::Asynchronous)).into_iter();
    let alone = alone.map(|(_, times)| (Count(1), times)).collect();
    let ratios = pooled(by_threads.into_iter().chain([alone]));
    larger_along("a thread count of ", &ratios, |[least, most]| {
        sentence!(
            "From the device and from the page cache, synchronous threads take {least} to {most} as long."
        )
    })
}

/// The share of the wake-ups after which the condition held.
fn held(results: &Results<'_>, waking: Waking) -> Option<Judgement> {
    let share = results.sound(HELD, &[WAKING.at(waking)])?;
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
