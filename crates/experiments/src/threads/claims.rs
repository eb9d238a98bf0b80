//! Claims about threads and locks.

use super::inversion::{CEILING, HIGH_ENDS, MIDDLE_ENDS, NONE, PROTOCOL};
use super::lock::{
    BODY, ENTRY, LOCK, LOCK_ONE, PTHREAD_MUTEX, PTHREAD_SPIN, SIMPLE, SIMPLE_YIELD, SPIN_ONE,
    THREADS,
};
use super::{create, io, lock, monitor, switch};
use crate::estimates::{ratios, side_by_side};
use crate::judging::{Range, is_larger, is_larger_by};
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::Estimate;

const LOCKS: &str = "threads.lock";
const INVERSION: &str = "threads.inversion";
const IO: &str = "threads.io";
const MONITOR: &str = "threads.monitor";
const SWITCH: &str = "threads.switch";
const CREATE: &str = "threads.create";

/// The most threads of the report.
const MOST: u64 = 99;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "spinning_collapses_where_threads_yield",
        says: "Where threads of one worker yield inside, a spin lock is ruinous.",
        source: "Report D, section 3.2: 77.6 s against 969 µs with 99 threads",
        experiments: &[LOCKS],
        test: |evidence| {
            let spin = run(evidence, SIMPLE_YIELD, SPIN_ONE)?;
            let block = run(evidence, SIMPLE_YIELD, LOCK_ONE)?;
            let sentence = "A run of 99 threads: {one} spinning, {other} blocking, {ratio}.";
            is_larger_by(100.0, (spin, block), Unit::Nanoseconds, sentence)
        },
    },
    Claim {
        key: "spinning_wins_where_nobody_yields",
        says: "Where nobody yields inside, a spin lock is faster than one that blocks.",
        source: "Report D, section 3.2: 341 against 517 µs with 99 threads",
        experiments: &[LOCKS],
        test: |evidence| {
            let spin = run(evidence, SIMPLE, SPIN_ONE)?;
            let block = run(evidence, SIMPLE, LOCK_ONE)?;
            let sentence = "A run of 99 threads: {one} blocking, {other} spinning, {ratio}.";
            is_larger((block, spin), Unit::Nanoseconds, sentence)
        },
    },
    Claim {
        key: "asynchronous_reading_costs_a_single_thread_more",
        says: "A single thread reads what is in memory faster synchronously.",
        source: "Report D, section 3.3: 82 against 6870 µs",
        experiments: &[IO],
        test: one_reader,
    },
    Claim {
        key: "middle_priority_overtakes_without_a_remedy",
        says: "Without a remedy a thread of middle priority ends before one of the highest.",
        source: "Report D, section 3.4",
        experiments: &[INVERSION],
        test: |evidence| {
            let (high, middle) = ends(evidence, NONE)?;
            let sentence = "A, of the highest priority, ends after {one}, B after {other}.";
            is_larger((high, middle), Unit::Nanoseconds, sentence)
        },
    },
    Claim {
        key: "a_ceiling_keeps_the_order_of_priorities",
        says: "With a priority ceiling the thread of the highest priority ends first of those that \
               wait.",
        source: "Report D, section 3.4: C, A, B",
        experiments: &[INVERSION],
        test: |evidence| {
            let (high, middle) = ends(evidence, CEILING)?;
            let sentence = "B, of middle priority, ends after {one}, A after {other}.";
            is_larger((middle, high), Unit::Nanoseconds, sentence)
        },
    },
    Claim {
        key: "kernel_threads_should_spin_on_short_sections",
        says: "Kernel threads on several cores, too, should spin where sections are short.",
        source: "folklore",
        experiments: &[LOCKS],
        test: |evidence| {
            let entry = |lock: &str| {
                let point = lock::point(SIMPLE, lock, lock::MIDDLE);
                let results = evidence.of(LOCKS)?;
                let found = results.points.iter().find(|result| result.point == point)?;
                found.estimate(ENTRY).filter(|entry| entry.is_sound())
            };
            is_larger(
                (entry(PTHREAD_MUTEX)?, entry(PTHREAD_SPIN)?),
                Unit::Nanoseconds,
                "An entry takes {one} with a mutex and {other} with a spin lock: {ratio}.",
            )
        },
    },
    Claim {
        key: "asynchronous_reading_is_faster",
        says: "Asynchronous reading is faster than synchronous reading.",
        source: "folklore; report D, section 3.3, saw it with 90 threads that read and compute no more",
        experiments: &[IO],
        test: asynchronous_is_faster,
    },
    Claim {
        key: "after_hoare_the_condition_still_holds",
        says: "In a monitor after Hoare, whoever is woken finds true what it waited for.",
        source: "Report D, section 3.5",
        experiments: &[MONITOR],
        test: |evidence| held(evidence, monitor::SIGNAL),
    },
    Claim {
        key: "after_mesa_it_still_holds_too",
        says: "In a monitor after Mesa, one look before waiting is enough.",
        source: "folklore",
        experiments: &[MONITOR],
        test: |evidence| held(evidence, monitor::NOTIFY),
    },
    Claim {
        key: "user_threads_switch_faster",
        says: "User-level threads switch ten times as fast as the kernel's.",
        source: "folklore",
        experiments: &[SWITCH],
        test: |evidence| {
            let switch = |kind: &str| {
                let levels = [(switch::KIND, kind.into()), (switch::THREADS, 2.into())];
                evidence.estimate(SWITCH, switch::SWITCH, &levels)
            };
            is_larger_by(
                10.0,
                (switch(switch::KERNEL)?, switch(switch::USER)?),
                Unit::Nanoseconds,
                "A switch takes kernel threads {one} and user threads {other}: {ratio}.",
            )
        },
    },
    Claim {
        key: "user_threads_are_made_faster",
        says: "User-level threads are made a hundred times as fast as the kernel's.",
        source: "folklore",
        experiments: &[CREATE],
        test: |evidence| {
            let results = evidence.of(CREATE)?;
            let of = |kind: &str| {
                results.curve(
                    create::CREATE,
                    create::THREADS,
                    &[(create::KIND, kind.into())],
                )
            };
            let both = side_by_side(&of(create::KERNEL), &of(create::USER));
            let (_, kernel, user) = *both.last()?;
            is_larger_by(
                100.0,
                (kernel, user),
                Unit::Nanoseconds,
                "To make and join one takes {one} in the kernel and {other} here: {ratio}.",
            )
        },
    },
];

/// The run of the most threads, each of which enters once.
fn run<'a>(evidence: &Evidence<'a>, body: &str, kind: &str) -> Option<&'a Estimate> {
    let levels = [
        (BODY, body.into()),
        (LOCK, kind.into()),
        (THREADS, MOST.into()),
    ];
    evidence.estimate(LOCKS, lock::RUN, &levels)
}

/// When the threads of the highest and of middle priority end.
fn ends<'a>(evidence: &Evidence<'a>, protocol: &str) -> Option<(&'a Estimate, &'a Estimate)> {
    let moment = |metric| evidence.estimate(INVERSION, metric, &[(PROTOCOL, protocol.into())]);
    Some((moment(HIGH_ENDS)?, moment(MIDDLE_ENDS)?))
}

fn one_reader(evidence: &Evidence<'_>) -> Option<Judgement> {
    let read = |mode: &str| {
        let levels = [
            (io::MODE, mode.into()),
            (io::SWEEP, io::LENGTHS.into()),
            (io::LENGTH, 1.into()),
        ];
        evidence.estimate(IO, io::RUN, &levels)
    };
    let (synchronous, asynchronous) = (read(io::SYNCHRONOUS)?, read(io::ASYNCHRONOUS)?);
    let sentence = "One thread and one byte: {one} asynchronously, {other} synchronously, {ratio}.";
    is_larger((asynchronous, synchronous), Unit::Nanoseconds, sentence)
}

/// Along the number of threads that read from the device.
fn asynchronous_is_faster(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(IO)?;
    let runs = |mode: &str| {
        let levels = [(io::MODE, mode.into()), (io::SWEEP, io::DEVICE.into())];
        results.curve(io::RUN, io::IO_THREADS, &levels)
    };
    Range {
        unit: Unit::Count,
        everywhere: "From the device, synchronous threads take {least} to {most} as long.",
        from_on: "From {from} threads on that read from the device; in all, synchronous ones take \
                  {least} to {most} as long.",
        nowhere: "From the device, synchronous threads take {least} to {most} as long.",
        mixed: "With some numbers of threads only: from the device, synchronous ones take {least} \
                to {most} as long.",
    }
    .judge(&ratios(&runs(io::SYNCHRONOUS), &runs(io::ASYNCHRONOUS)))
}

/// Whether the condition held after every wake-up.
fn held(evidence: &Evidence<'_>, waking: &str) -> Option<Judgement> {
    let results = evidence.of(MONITOR)?;
    let point = results.at(&[(monitor::WAKING, waking.into())])?;
    let share = point.estimate(monitor::HELD)?;
    let because = Finding::new("because", "It was true after {share} of the wake-ups.");
    let because = because.given("share", share.centre, Unit::Share);
    let ruling = if share.centre >= 1.0 {
        Ruling::Holds
    } else {
        Ruling::DoesNotHold
    };
    Some(Judgement::new(ruling, because.graded(Grade::Certain)))
}

#[cfg(test)]
mod tests {
    use super::super::lock::{Lock, RUN};
    use super::{ALL, BODY, LOCK, LOCK_ONE, MOST, SIMPLE_YIELD, SPIN_ONE, THREADS};
    use crate::made_up::{machine, result, results};
    use instrument::claim::{Evidence, Ruling};
    use instrument::experiment::Experiment;
    use instrument::point::Point;

    #[test]
    fn a_lock_that_collapses_is_judged_so() {
        let at = |lock: &str, ns| {
            let point = Point::new().with(BODY, SIMPLE_YIELD).with(LOCK, lock);
            result(point.with(THREADS, MOST), &[(RUN, ns)])
        };
        let (definition, machine) = (Lock.definition(), machine());
        let points = vec![at(LOCK_ONE, 1e5), at(SPIN_ONE, 5e8)];
        let results = [results(&definition, &machine, points)];
        let judged: Vec<_> = ALL
            .iter()
            .map(|claim| claim.judge(&Evidence::new(&results)).ruling)
            .collect();
        assert_eq!(judged[0], Ruling::Holds);
        assert!(
            judged[1..]
                .iter()
                .all(|ruling| *ruling == Ruling::CannotBeTold)
        );
    }
}
