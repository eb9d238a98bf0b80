//! `threads.lock`: whether a thread that finds a lock held should spin or block.

mod figures;
mod findings;
mod points;

use super::measure;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::sampler::Sampler;

pub(super) use findings::{spin_and_block, step_ns};
pub(super) use points::{MIDDLE, PAIR};

/// Whether a thread that finds a lock held should spin or block.
pub(crate) struct Lock;

pub(super) const BODY: &str = "body";
pub(super) const THREADS: &str = "threads";
pub(super) const LOCK: &str = "lock";

pub(super) const RUN: &str = "run";
pub(super) const ENTRY: &str = "entry";
pub(super) const TURNS_TAKEN: &str = "turns_taken";

pub(super) const SIMPLE: &str = "simple";
pub(super) const SIMPLE_YIELD: &str = "simple yield";

/// User threads on one worker.
pub(super) const LOCK_ONE: &str = "Lock";
pub(super) const SPIN_ONE: &str = "SpinLock";
/// User threads on as many workers as there are processors.
pub(super) const LOCK_ALL: &str = "Lock, all cores";
pub(super) const SPIN_ALL: &str = "SpinLock, all cores";
/// Kernel threads on all processors.
pub(super) const PTHREAD_MUTEX: &str = "pthread mutex";
pub(super) const STD_MUTEX: &str = "std Mutex";
pub(super) const PTHREAD_SPIN: &str = "pthread spin";

/// Steps of the *complex* body, where they are not themselves varied.
const COMPLEX_STEPS: u64 = 1000;

/// The *complex* body of so many steps, and back.
fn complex(steps: u64) -> String {
    format!("complex, {steps} steps")
}

pub(super) fn complex_steps(body: &str) -> Option<u64> {
    let steps = body.strip_prefix("complex, ")?.strip_suffix(" steps")?;
    steps.parse().ok()
}

/// The slice in runs of the *simple yield* body and in all long runs. It is as short as can be
/// afforded, so that 99 threads that burn their slices are done within a second.
pub(super) const SHORT_SLICE_US: u64 = 50;
/// The slice in runs in which every thread enters once, within which they are over.
pub(super) const LONG_SLICE_US: u64 = 2000;

impl Experiment for Lock {
    fn id(&self) -> &'static str {
        "threads.lock"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Locks that spin and locks that block".into(),
            question: "Should a thread that finds a lock held spin or block?".into(),
            method: format!(
                "A number of threads want one lock. Inside, the body *simple* adds 1 to a shared \
                 number; *simple yield* adds 1 and yields before it unlocks; *complex* computes a \
                 number of steps, each of which needs the one before (xorshift on the shared \
                 number), so that the compiler can leave none out. The number at the end is \
                 checked: it must be what one thread alone would have computed. `run`, on one \
                 worker, is the wall time of starting all threads, of which each enters once, and \
                 of joining them, as in the report. `entry` is the wall time for each entry in a \
                 long run, in which the threads start together and enter again and again: \
                 starting and joining are taken off. On several processors, and where several \
                 threads compute, such a run lasts 40 ms at least, so that threads lose their \
                 turn inside as they do in programs; starting and joining, a hundredth at most, \
                 are left in it. With two kernel threads, by which the length of the section is \
                 varied, it lasts 10 ms. User threads are those of the `uthread` library, \
                 preemptive and of one priority, on one worker or on as many as there are \
                 processors; the locks are its Lock (blocks; handed over in the order of coming) \
                 and its plain SpinLock. Kernel threads use all processors, and pthread_mutex_t, \
                 the standard library's futex lock, and pthread_spinlock_t. The slice is \
                 {LONG_SLICE_US} µs in a `run`, so that it is over within one, as the report's \
                 were, and {SHORT_SLICE_US} µs with the body *simple yield* and in long runs. \
                 `turns_taken` counts how often a thread's turn was taken from it in one run of \
                 *simple yield*. There, spinning threads are timed from before the runtime \
                 starts."
            ),
            source: "Report D, section 3.2".into(),
            axes: vec![
                Axis::choice(BODY, "body"),
                Axis::choice(LOCK, "lock"),
                Axis::count(THREADS, "threads"),
            ],
            metrics: vec![
                Metric::new(
                    RUN,
                    "run, each enters once",
                    Unit::Nanoseconds,
                    Better::Lower,
                ),
                Metric {
                    // Since then runs are long enough for threads to lose their turn inside.
                    version: 2,
                    ..Metric::new(
                        ENTRY,
                        "entry in a long run",
                        Unit::Nanoseconds,
                        Better::Lower,
                    )
                },
                Metric::new(
                    TURNS_TAKEN,
                    "turns taken in a run",
                    Unit::Count,
                    Better::Neither,
                ),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        measure::lock(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        figures::all(results)
    }
}

/// The point of these levels.
pub(super) fn point(body: &str, lock: &str, threads: u64) -> Point {
    Point::new()
        .with(BODY, body)
        .with(LOCK, lock)
        .with(THREADS, threads)
}

#[cfg(all(
    test,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod tests {
    use super::{
        ENTRY, LOCK_ALL, LOCK_ONE, Lock, PTHREAD_MUTEX, PTHREAD_SPIN, RUN, SIMPLE, SIMPLE_YIELD,
        SPIN_ALL, SPIN_ONE, STD_MUTEX, TURNS_TAKEN, complex, complex_steps, point,
    };
    use crate::made_up::{count, measure};
    use instrument::sample::Reading;

    #[test]
    fn every_lock_is_measured_here() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let locks = [
            LOCK_ONE,
            SPIN_ONE,
            LOCK_ALL,
            SPIN_ALL,
            PTHREAD_MUTEX,
            STD_MUTEX,
            PTHREAD_SPIN,
        ];
        for lock in locks {
            for body in [SIMPLE, &complex(100)] {
                let point = point(body, lock, 3);
                let (samples, _) = measure(&Lock, &point, scratch.path()).expect("they work");
                assert!(count(&samples, ENTRY) >= 1, "{point}");
                let on_one = [LOCK_ONE, SPIN_ONE].contains(&lock);
                assert!(!on_one || count(&samples, RUN) >= 1, "{point}");
            }
        }
    }

    #[test]
    fn every_spinner_loses_its_turn_once_for_each_who_goes_before() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let point = point(SIMPLE_YIELD, SPIN_ONE, 5);
        let (samples, _) = measure(&Lock, &point, scratch.path()).expect("it works");
        assert_eq!(count(&samples, ENTRY), 0);
        assert!(count(&samples, TURNS_TAKEN) >= 1);
        let turns = samples.iter().filter(|sample| sample.metric == TURNS_TAKEN);
        for sample in turns {
            // On a busy machine a tick may be late, and strike twice as well as not at all.
            let is_sane = matches!(sample.reading, Reading::Value(turns) if turns >= 4.0);
            assert!(is_sane, "{sample:?}");
        }
    }

    #[test]
    fn a_body_or_lock_of_another_version_is_refused() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in [point(SIMPLE, "ticket", 2), point("heavy", LOCK_ONE, 2)] {
            let error = measure(&Lock, &point, scratch.path()).expect_err("there is none");
            assert!(error.to_string().starts_with("there is no "), "{error}");
        }
        assert_eq!(complex_steps(&complex(100)), Some(100));
        assert_eq!(complex_steps(SIMPLE), None);
    }
}
