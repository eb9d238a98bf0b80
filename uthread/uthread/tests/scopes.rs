//! Scopes: threads that borrow, deadlines for a subtree, and panics. Most run on virtual time.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{HOUR, MINUTE, again, everywhere, message, on_virtual_time, virtual_time};
use proptest::prelude::*;
use uthread::io::sleep;
use uthread::{
    Builder, Cancelled, Exited, Lock, Runtime, Semaphore, TimedOut, catch_unwind, current, scope,
    scope_timeout, spawn, suspend, yield_now,
};

/// Counts itself while it lives, as what a thread borrows does.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn get(count: &AtomicUsize) -> usize {
    count.load(Ordering::Relaxed)
}

/// The panic of `work`, as its payload.
fn panic_of<T>(work: impl FnOnce() -> T) -> Box<dyn std::any::Any + Send> {
    match catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(_) => panic!("it returned"),
        Err(payload) => payload,
    }
}

#[test]
fn threads_borrow_from_the_frame_around_them() {
    everywhere(|| {
        let mut numbers: Vec<usize> = (0..100).collect();
        let total = Lock::new(0);
        let add = |part: &mut [usize]| {
            for number in &mut *part {
                *number += 1;
            }
            yield_now();
            let sum = part.iter().sum::<usize>();
            *total.lock().unwrap() += sum;
            sum
        };
        let sums = scope(|scope| {
            let start = |part| scope.spawn(move || add(part));
            let threads: Vec<_> = numbers.chunks_mut(7).map(start).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum::<usize>()
        });
        assert_eq!((sums, *total.lock().unwrap()), (5050, 5050));
    });
}

#[test]
fn a_scope_waits_for_threads_without_handles_and_for_those_that_they_start() {
    everywhere(|| {
        let (ended, live) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|scope| {
            for number in 0..10 {
                let (ended, live) = (&ended, &live);
                let handle = scope.spawn(move || {
                    let _counted = Counted::new(live);
                    sleep(Duration::from_micros(number));
                    scope.spawn(move || {
                        let counted = Counted::new(live);
                        yield_now();
                        ended.fetch_add(1, Ordering::Relaxed);
                        counted // the value is dropped before the scope ends
                    });
                });
                if number % 2 == 0 {
                    std::mem::forget(handle);
                }
            }
        });
        assert_eq!((get(&ended), get(&live)), (10, 0));
    });
}

#[test]
fn a_deadline_ends_the_whole_subtree() {
    let begin = Instant::now();
    on_virtual_time(|| {
        let (live, late) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let clock = {
            let late = Arc::clone(&late);
            spawn(move || {
                sleep(2 * MINUTE);
                late.store(true, Ordering::Relaxed);
            })
        };
        let result = scope_timeout(MINUTE, |outer| {
            for _ in 0..3 {
                outer.spawn(|| {
                    let _counted = Counted::new(&live);
                    scope(|inner| {
                        inner.spawn(|| {
                            let _counted = Counted::new(&live);
                            let _ = scope_timeout(HOUR, |_| sleep(HOUR));
                            sleep(HOUR);
                        });
                        inner.spawn(|| {
                            let _counted = Counted::new(&live);
                            suspend();
                        });
                    });
                });
            }
        });
        assert_eq!((result, get(&live)), (Err(TimedOut), 0));
        assert!(
            !late.load(Ordering::Relaxed),
            "a minute was longer than two"
        );
        // The body is ended as well, and nothing is left that would end a later wait.
        let result = scope_timeout(MINUTE, |_| {
            sleep(HOUR);
            unreachable!("the deadline is over")
        });
        assert_eq!(result, Err::<(), _>(TimedOut));
        let computes = scope_timeout(MINUTE, |scope| {
            scope.spawn(|| catch_unwind(|| sleep(HOUR)));
            let _ = catch_unwind(|| sleep(HOUR));
        });
        assert_eq!(computes, Err(TimedOut));
        sleep(MINUTE);
        clock.join().unwrap();
    });
    // The virtual runs sleep longer.
    assert!(
        begin.elapsed() < 20 * 4 * MINUTE,
        "the time was not virtual"
    );
}

#[test]
fn a_scope_in_time_leaves_no_request_behind() {
    everywhere(|| {
        for turn in 0..10 {
            let got = scope_timeout(HOUR, |scope| scope.spawn(move || turn).join().unwrap());
            assert_eq!(got, Ok(turn));
            sleep(Duration::from_nanos(1));
        }
    });
    // A deadline that comes just when the threads and the body end.
    for seed in 0..200 {
        virtual_time(seed).run(|| {
            let micros = Duration::from_micros(seed % 3);
            let _ = scope_timeout(Duration::from_micros(1), |scope| {
                scope.spawn(move || sleep(micros));
                sleep(micros);
            });
            sleep(MINUTE);
        });
    }
}

#[test]
fn a_panic_is_passed_on_after_all_have_ended() {
    everywhere(|| {
        let live = AtomicUsize::new(0);
        let payload = panic_of(|| {
            scope(|scope| {
                scope.spawn(|| {
                    let _counted = Counted::new(&live);
                    suspend(); // nobody resumes it: the panic of its sibling cancels it
                });
                yield_now();
                scope.spawn(|| std::panic::resume_unwind(Box::new("no luck")));
            });
        });
        assert_eq!(message(&*payload), "no luck");
        assert_eq!(get(&live), 0);
        // The panic of a thread that was joined is not passed on, nor is an exit.
        scope(|scope| {
            let thread = scope.spawn(|| std::panic::resume_unwind(Box::new("no luck")));
            assert_eq!(message(&*thread.join().unwrap_err()), "no luck");
            let exits = scope.spawn(|| -> u32 { uthread::exit() });
            assert!(exits.join().unwrap_err().is::<Exited>());
            scope.spawn(|| -> u32 { uthread::exit() });
        });
    });
}

#[test]
fn a_panic_of_the_body_cancels_the_threads() {
    everywhere(|| {
        let live = AtomicUsize::new(0);
        let payload = panic_of(|| {
            scope(|scope| {
                scope.spawn(|| {
                    let _counted = Counted::new(&live);
                    suspend();
                });
                yield_now();
                // Starts after the body has ended, and is cancelled as well.
                scope.spawn(suspend);
                std::panic::resume_unwind(Box::new("no luck"))
            })
        });
        assert_eq!(message(&*payload), "no luck");
        assert_eq!(get(&live), 0);
    });
}

#[test]
fn who_is_cancelled_in_a_scope_cancels_its_threads() {
    everywhere(|| {
        let live = Arc::new(AtomicUsize::new(0));
        for in_body in [false, true] {
            let inside = Arc::clone(&live);
            let owner = spawn(move || {
                scope(|scope| {
                    scope.spawn(|| {
                        let _counted = Counted::new(&inside);
                        suspend();
                    });
                    if in_body {
                        suspend();
                    }
                });
            });
            for _ in 0..3 {
                yield_now();
            }
            owner.cancel();
            assert!(owner.join().unwrap_err().is::<Cancelled>());
            assert_eq!(get(&live), 0);
        }
        // Only the threads, on request.
        scope(|scope| {
            let thread = scope.spawn(suspend);
            scope.cancel();
            assert!(thread.join().unwrap_err().is::<Cancelled>());
            assert!(scope.spawn(suspend).join().is_err());
            sleep(Duration::from_nanos(1));
        });
    });
}

#[test]
fn preempted_threads_borrow_too() {
    let runtime = common::preemptive(Duration::from_micros(200))
        .build()
        .unwrap();
    let mut counts = [0u32; 4];
    let late = runtime.run(|| {
        scope_timeout(Duration::from_millis(5), |scope| {
            for count in &mut counts {
                scope.spawn(move || {
                    loop {
                        *count += 1;
                        if *count % 1000 == 0 {
                            yield_now();
                        }
                    }
                });
            }
        })
    });
    assert_eq!(late, Err(TimedOut));
    assert!(counts.iter().all(|count| *count > 0));
}

#[test]
fn misuse_is_reported() {
    let outside = virtual_time(1).run(|| {
        scope(|scope| {
            let kernel_thread = std::thread::scope(|threads| {
                let spawn = || drop(scope.spawn(|| ()));
                threads.spawn(spawn).join().unwrap_err()
            });
            message(&*kernel_thread)
        })
    });
    assert!(
        outside.contains("outside the runtime of the scope"),
        "{outside}"
    );
    let held = virtual_time(1).run(|| {
        let _guard = uthread::no_preempt();
        message(&*panic_of(|| scope(|_| ())))
    });
    assert!(held.contains("holds preemption off"), "{held}");
}

/// It may neither wait for the threads, nor return before them.
#[test]
fn a_scope_that_must_not_wait_ends_the_process() {
    if std::env::var_os("UTHREAD_LEAKS_A_GUARD").is_some() {
        uthread::run(|| {
            scope(|scope| {
                scope.spawn(suspend);
                std::mem::forget(uthread::no_preempt());
            });
        });
        return;
    }
    let output = again(
        "a_scope_that_must_not_wait_ends_the_process",
        "UTHREAD_LEAKS_A_GUARD",
    );
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        reported.contains("ends while preemption is held off"),
        "{reported}"
    );
}

/// A thread of a random tree; times are in us.
#[derive(Clone, Debug)]
struct Tree {
    limit_us: Option<u64>,
    steps: Vec<Step>,
    /// At the end it catches what ends a wait. Its scope must end all the same.
    catches: bool,
    children: Vec<Tree>,
}

#[derive(Clone, Debug)]
enum Step {
    Sleep(u64),
    Acquire,
    Release,
    CancelThreads,
    CancelSelf,
    Panic,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..5u64).prop_map(Step::Sleep),
        2 => Just(Step::Acquire),
        2 => Just(Step::Release),
        1 => Just(Step::CancelThreads),
        1 => Just(Step::CancelSelf),
        1 => Just(Step::Panic),
    ]
}

fn trees() -> impl Strategy<Value = Tree> {
    let steps = || prop::collection::vec(step(), 0..5);
    let limit = || prop::option::of(0..8u64);
    let tree = |(limit_us, steps, catches, children)| Tree {
        limit_us,
        steps,
        catches,
        children,
    };
    let leaf = (limit(), steps(), any::<bool>(), Just(Vec::new())).prop_map(tree);
    leaf.prop_recursive(3, 20, 4, move |inner| {
        let children = prop::collection::vec(inner, 0..4);
        (limit(), steps(), any::<bool>(), children).prop_map(tree)
    })
}

/// Runs a tree in a scope of its own. Nothing of it is left afterwards, whatever has ended it.
fn grow(tree: &Tree, permits: &Semaphore) -> bool {
    let live = AtomicUsize::new(0);
    let ended = catch_unwind(std::panic::AssertUnwindSafe(|| {
        if let Some(limit_us) = tree.limit_us {
            let limit = Duration::from_micros(limit_us);
            scope_timeout(limit, |s| climb(s, tree, permits, &live)).is_ok()
        } else {
            scope(|s| climb(s, tree, permits, &live));
            true
        }
    }));
    assert_eq!(get(&live), 0, "a thread outlived its scope");
    match ended {
        Ok(in_time) => in_time,
        Err(payload) if message(&*payload).contains("outlived") => {
            std::panic::resume_unwind(payload)
        }
        Err(_) => false,
    }
}

fn climb<'scope>(
    scope: &'scope uthread::Scope<'scope, '_>,
    tree: &'scope Tree,
    permits: &'scope Semaphore,
    live: &'scope AtomicUsize,
) {
    for child in &tree.children {
        scope.spawn(move || {
            let _counted = Counted::new(live);
            grow(child, permits)
        });
    }
    for step in &tree.steps {
        match step {
            Step::Sleep(us) => sleep(Duration::from_micros(*us)),
            Step::Acquire => permits.acquire(),
            Step::Release => permits.release(1),
            Step::CancelThreads => scope.cancel(),
            Step::CancelSelf => current().cancel(),
            Step::Panic => std::panic::resume_unwind(Box::new("as planned")),
        }
    }
    if tree.catches {
        let _ = catch_unwind(|| sleep(HOUR));
    }
}

/// A deadline around the tree ends also those that wait for a permit that nobody brings.
fn run_tree(tree: &Tree, runtime: &Runtime) -> bool {
    runtime.run(|| {
        let root = Tree {
            limit_us: Some(50),
            steps: Vec::new(),
            catches: false,
            children: vec![tree.clone()],
        };
        grow(&root, &Semaphore::new(0))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_thread_outlives_its_scope(tree in trees(), seed in any::<u64>()) {
        let first = run_tree(&tree, &virtual_time(seed));
        prop_assert_eq!(first, run_tree(&tree, &virtual_time(seed)));
    }

    #[test]
    fn no_thread_outlives_its_scope_on_two_workers(tree in trees()) {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        run_tree(&tree, &runtime);
    }
}

#[test]
fn threads_of_a_scope_have_properties() {
    uthread::run(|| {
        let name = scope(|scope| {
            let builder = Builder::new().name("reader");
            let thread = scope
                .spawn_with(builder, || current().name().map(str::to_owned))
                .unwrap();
            thread.join().unwrap()
        });
        assert_eq!(name.as_deref(), Some("reader"));
    });
}
