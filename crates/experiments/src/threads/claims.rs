//! Claims about threads and locks.

use super::inversion::{CEILING, HIGH_ENDS, MIDDLE_ENDS, NONE, PROTOCOL};
use super::lock::{BODY, LOCK, LOCK_ONE, SIMPLE, SIMPLE_YIELD, SPIN_ONE, THREADS};
use super::{io, lock};
use crate::judging::{is_larger, is_larger_by};
use instrument::claim::{Claim, Evidence, Judgement};
use instrument::quantity::Unit;
use instrument::results::Estimate;

const LOCKS: &str = "threads.lock";
const INVERSION: &str = "threads.inversion";
const IO: &str = "threads.io";

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
