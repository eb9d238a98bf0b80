//! Starting, ending and naming threads.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{Random, aborts, again, message, runtimes};
use corosensei::{Coroutine, CoroutineResult};
use uthread::{Builder, Exited, Runtime, spawn, suspend, yield_now};

#[test]
fn values_come_back_from_threads_of_threads() {
    fn sum(from: u64, to: u64) -> u64 {
        if to - from == 1 {
            return from;
        }
        let middle = u64::midpoint(from, to);
        let lower = spawn(move || sum(from, middle));
        let upper = spawn(move || sum(middle, to));
        lower.join().unwrap() + upper.join().unwrap()
    }
    assert_eq!(uthread::run(|| sum(0, 1000)), 499_500);
}

#[test]
fn run_borrows_and_returns() {
    let words = ["a", "b"];
    let joined = uthread::run(|| words.concat());
    assert_eq!((joined.as_str(), words.len()), ("ab", 2));
}

#[test]
fn large_functions_and_results_fit() {
    let large = [7u8; 16_000];
    let thread = move || {
        let mut copy = large;
        copy[0] = 1;
        copy
    };
    let back = uthread::run(|| spawn(thread).join().unwrap());
    assert_eq!((back[0], back[15_999]), (1, 7));
}

#[test]
fn a_panic_reaches_join_and_harms_no_other() {
    uthread::run(|| {
        let steady = spawn(|| {
            (0..100).for_each(|_| yield_now());
            "steady"
        });
        let threads: Vec<_> = (0..50)
            .map(|i| {
                spawn(move || {
                    yield_now();
                    assert!(i % 2 == 0, "odd {i}");
                    i
                })
            })
            .collect();
        for (i, thread) in threads.into_iter().enumerate() {
            match thread.join() {
                Ok(value) => assert_eq!((value, i % 2), (i, 0)),
                Err(payload) => assert_eq!(message(&*payload), format!("odd {i}")),
            }
        }
        assert_eq!(steady.join().unwrap(), "steady");
    });
}

#[test]
fn a_panic_of_main_comes_out_of_run_when_the_others_have_ended() {
    let ended = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ended);
    let run = catch_unwind(|| {
        uthread::run(|| {
            drop(spawn(move || {
                yield_now();
                counter.fetch_add(1, Ordering::Relaxed);
            }));
            panic!("main is out of luck");
        })
    });
    assert_eq!(message(&*run.unwrap_err()), "main is out of luck");
    assert_eq!(ended.load(Ordering::Relaxed), 1);
}

#[test]
fn exit_unwinds_and_join_returns_it() {
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Count(Arc::clone(&dropped));
    uthread::run(|| {
        let thread = spawn(move || {
            let _count = count;
            uthread::exit();
        });
        assert!(thread.join().unwrap_err().is::<Exited>());
    });
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn results_that_nobody_takes_are_dropped_once() {
    let value = Arc::new(());
    uthread::run(|| {
        let (a, b, c) = (Arc::clone(&value), Arc::clone(&value), Arc::clone(&value));
        drop(spawn(move || a)); // detached before it runs
        let finished = spawn(move || b);
        yield_now();
        assert!(finished.is_finished());
        drop(finished); // detached when it is over
        let dropped_at_end = spawn(move || c);
        std::mem::drop(spawn(move || drop(dropped_at_end)));
    });
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn handles_may_outlive_their_runtime() {
    let (handle, thread) = uthread::run(|| {
        let handle = Builder::new().name("survivor").spawn(|| 5).unwrap();
        let thread = handle.thread();
        (handle, thread)
    });
    assert!(handle.is_finished());
    assert_eq!(handle.join().unwrap(), 5);
    assert_eq!(thread.name(), Some("survivor"));
}

#[test]
fn handles_dropped_on_other_kernel_threads_leak_nothing() {
    let value = Arc::new(());
    let kept = Arc::clone(&value);
    uthread::run(|| {
        let handle = spawn(move || {
            yield_now();
            kept
        });
        std::thread::spawn(move || drop(handle)).join().unwrap();
    });
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn resume_before_suspend_is_kept_and_several_count_once() {
    uthread::run(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let inner = Arc::clone(&log);
        let thread = spawn(move || {
            for i in 0..3 {
                suspend();
                inner.lock().unwrap().push(i);
            }
        });
        let handle = thread.thread();
        handle.resume();
        handle.resume();
        yield_now();
        assert_eq!(*log.lock().unwrap(), [0]);
        for expected in [vec![0, 1], vec![0, 1, 2]] {
            handle.resume();
            yield_now();
            assert_eq!(*log.lock().unwrap(), expected);
        }
        thread.join().unwrap();
    });
}

#[test]
fn each_thread_has_its_own_locals_and_drops_them() {
    struct Noisy(u32, Arc<Mutex<Vec<u32>>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    uthread::thread_local! {
        static NUMBER: Cell<u32> = Cell::new(10);
        static NOISY: RefCell<Option<Noisy>> = RefCell::new(None);
    }
    let dropped = Arc::new(Mutex::new(Vec::new()));
    uthread::run(|| {
        let threads: Vec<_> = (0..5)
            .map(|i| {
                let dropped = Arc::clone(&dropped);
                spawn(move || {
                    NUMBER.with(|number| number.set(number.get() + i));
                    NOISY.with(|noisy| *noisy.borrow_mut() = Some(Noisy(i, dropped)));
                    yield_now();
                    NUMBER.with(Cell::get)
                })
            })
            .collect();
        let numbers: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        assert_eq!(numbers, [10, 11, 12, 13, 14]);
        assert_eq!(NUMBER.with(Cell::get), 10);
    });
    assert_eq!(*dropped.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn one_runtime_runs_again_and_several_run_side_by_side() {
    let runtime = Runtime::builder().build().unwrap();
    assert_eq!(runtime.run(|| 1) + runtime.run(|| 2), 3);
    let sums = (0..4).map(|i| {
        std::thread::spawn(move || {
            uthread::run(|| {
                let threads: Vec<_> = (0..100).map(|j| spawn(move || i + j)).collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .sum::<u32>()
            })
        })
    });
    let sums: Vec<_> = sums
        .collect::<Vec<_>>()
        .into_iter()
        .map(|t| t.join().unwrap())
        .collect();
    assert_eq!(sums, [4950, 5050, 5150, 5250]);
}

#[test]
fn misuse_is_a_panic_that_says_so() {
    let cases: [(&str, fn()); 3] = [
        ("spawn was called outside", || drop(spawn(|| {}))),
        ("started inside a user thread", || {
            uthread::run(|| uthread::run(|| {}));
        }),
        (
            "'main' called yield_now while it holds preemption off",
            || {
                uthread::run(|| {
                    let _guard = uthread::no_preempt();
                    yield_now();
                });
            },
        ),
    ];
    for (expected, misuse) in cases {
        let text = message(&*catch_unwind(misuse).unwrap_err());
        assert!(
            text.contains(expected),
            "{text:?} does not contain {expected:?}"
        );
    }
}

/// A kernel thread uses what `main` borrows for as long as that waits.
#[test]
fn a_deadlock_aborts_before_what_main_borrows_is_freed() {
    let test = "a_deadlock_aborts_before_what_main_borrows_is_freed";
    let output = aborts(test, || {
        let data = vec![7; 1000];
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            uthread::run(|| {
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        while std::hint::black_box(&data).iter().all(|value| *value == 7) {}
                    });
                    let lonely = Builder::new().name("lonely").spawn(suspend).unwrap();
                    lonely.join().unwrap();
                });
            });
        }));
        assert!(unwound.is_err(), "the run has ended");
    });
    let expected = "deadlock of all threads: 'main' joins a thread, 'lonely' is suspended";
    assert!(output.contains(expected), "{output}");
}

/// A thread that is left may use thread-local values of its kernel thread, which would end.
#[test]
fn a_deadlock_aborts_after_main_has_ended() {
    let test = "a_deadlock_aborts_after_main_has_ended";
    let output = aborts(test, || uthread::run(|| drop(spawn(suspend))));
    assert!(
        output.contains("deadlock of all threads: thread 2 is suspended"),
        "{output}"
    );
}

#[test]
fn guards_that_are_forgotten_or_leave_their_runtime_do_no_harm() {
    let lock = uthread::Lock::new(1);
    let spins = uthread::SpinLock::new(1);
    let (guard, held, spun) = uthread::run(|| {
        spawn(|| std::mem::forget(uthread::no_preempt()))
            .join()
            .unwrap();
        yield_now();
        let held = lock.lock().unwrap();
        (uthread::no_preempt(), held, spins.lock())
    });
    drop((guard, spun));
    assert_eq!(uthread::run(|| *spins.lock()), 1);
    let unlock = AssertUnwindSafe(|| uthread::run(|| drop(held)));
    let text = message(&*catch_unwind(unlock).unwrap_err());
    assert_eq!(text, "'main' unlocks a lock that it does not hold");
    assert_eq!(uthread::run(|| spawn(|| 2).join().unwrap()), 2);
}

/// Without debug information, only functions that are not inlined have names.
#[inline(never)]
fn backtrace() -> String {
    std::backtrace::Backtrace::force_capture().to_string()
}

#[test]
fn a_backtrace_ends_at_the_root_of_the_thread() {
    let text = uthread::run(|| {
        let thread = Builder::new().stack_size(1 << 20);
        thread.spawn(backtrace).unwrap().join().unwrap()
    });
    assert!(text.contains("threads::backtrace"), "{text}");
    assert!(
        !text.contains("run_first"),
        "the backtrace goes on beyond the thread: {text}"
    );
}

#[test]
fn a_panic_names_the_thread() {
    const ROLE: &str = "UTHREAD_PANICS";
    if std::env::var_os(ROLE).is_some() {
        for runtime in runtimes() {
            runtime.run(|| {
                let panics = || panic!("of a thread");
                let thread = Builder::new().name("the baker").spawn(panics);
                thread.unwrap().join().unwrap_err();
                spawn(|| panic!("without a name")).join().unwrap_err();
            });
        }
        return;
    }
    let output = again("a_panic_names_the_thread", ROLE);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    let named = lines.windows(2).filter(|lines| {
        lines[0] == "in the user thread 'the baker':" && lines[1].contains("panicked")
    });
    let panics = runtimes().len();
    assert_eq!(named.count(), panics, "{text}");
    assert_eq!(text.matches("in the user thread").count(), panics, "{text}");
}

#[test]
fn an_overflow_names_the_thread() {
    #[expect(unconditional_recursion, reason = "it is to overflow the stack")]
    fn dive(depth: &mut [u64; 64]) -> u64 {
        let mut deeper = *depth;
        deeper[0] += 1;
        dive(std::hint::black_box(&mut deeper)) + deeper[1]
    }
    if std::env::var_os("UTHREAD_OVERFLOW").is_some() {
        uthread::run(|| {
            Builder::new()
                .name("diver")
                .spawn(|| dive(&mut [0; 64]))
                .unwrap()
                .join()
        })
        .unwrap();
        return;
    }
    let output = again("an_overflow_names_the_thread", "UTHREAD_OVERFLOW");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    // With the guard, which is larger on Windows.
    let kib = if cfg!(windows) { 128 } else { 64 };
    let overflow = format!("'diver' has overflowed its stack of {kib} KiB");
    assert!(text.contains(&overflow), "{text}");
}

/// Programs of yields run in the same order as coroutines of another library.
#[test]
fn the_order_is_that_of_a_round_robin_over_corosensei() {
    for seed in 1..20 {
        let mut random = Random(seed * 77);
        let yields: Vec<u64> = (0..20).map(|_| random.below(30)).collect();
        assert_eq!(
            order_of_threads(&yields),
            order_of_coroutines(&yields),
            "seed {seed}"
        );
    }
}

fn order_of_threads(yields: &[u64]) -> Vec<(usize, u64)> {
    let log = Arc::new(Mutex::new(Vec::new()));
    uthread::run(|| {
        for (thread, count) in yields.iter().copied().enumerate() {
            let log = Arc::clone(&log);
            drop(spawn(move || {
                for step in 0..count {
                    log.lock().unwrap().push((thread, step));
                    yield_now();
                }
            }));
        }
    });
    Arc::into_inner(log).unwrap().into_inner().unwrap()
}

fn order_of_coroutines(yields: &[u64]) -> Vec<(usize, u64)> {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut ready: VecDeque<Coroutine<(), (), ()>> = yields
        .iter()
        .copied()
        .enumerate()
        .map(|(thread, count)| {
            let log = Rc::clone(&log);
            Coroutine::new(move |yielder, ()| {
                for step in 0..count {
                    log.borrow_mut().push((thread, step));
                    yielder.suspend(());
                }
            })
        })
        .collect();
    while let Some(mut coroutine) = ready.pop_front() {
        if let CoroutineResult::Yield(()) = coroutine.resume(()) {
            ready.push_back(coroutine);
        }
    }
    log.take()
}

#[test]
fn a_trace_holds_the_last_events_and_causes_of_waits() {
    let runtime = Runtime::builder().trace(50).build().unwrap();
    runtime.run(|| {
        (0..100).for_each(|_| yield_now());
        Builder::new()
            .name("na\"me")
            .spawn(|| {})
            .unwrap()
            .join()
            .unwrap();
    });
    let trace = runtime.trace();
    assert!(trace.events().len() <= 50);
    assert!(trace.chrome_json().contains("joins a thread"));
    assert!(trace.chrome_json().contains(r#""name":"na\"me""#));
    let timeline = trace.timeline(40);
    assert!(
        timeline
            .lines()
            .any(|line| line.starts_with("na\"me") && line.contains('#')),
        "{timeline}"
    );
    let unwind = catch_unwind(AssertUnwindSafe(|| runtime.run(|| panic!("again"))));
    assert!(unwind.is_err());
}

#[test]
fn a_semaphore_that_counts_no_further_is_misuse() {
    uthread::run(|| {
        let semaphore = uthread::Semaphore::new(usize::MAX - 1);
        let release = |permits| catch_unwind(AssertUnwindSafe(|| semaphore.release(permits)));
        assert!(release(1).is_ok());
        for permits in [1, usize::MAX] {
            let text = message(&*release(permits).unwrap_err());
            assert_eq!(text, "Semaphore::release: there would be too many permits");
        }
        assert!(semaphore.try_acquire() && release(1).is_ok());
    });
}

#[test]
fn a_stack_that_no_system_has_is_refused() {
    for bytes in [usize::MAX, usize::MAX / 2, 1 << 40] {
        for builder in [
            Runtime::builder().stack_size(bytes),
            Runtime::builder().main_stack_size(bytes),
        ] {
            let refused = builder.build().unwrap_err();
            assert!(refused.to_string().contains("too large"), "{refused}");
        }
        uthread::run(|| {
            let refused = Builder::new().stack_size(bytes).spawn(|| ()).unwrap_err();
            assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
        });
    }
}

#[test]
fn thread_local_values_that_come_back_without_end_abort() {
    struct Again;
    impl Drop for Again {
        fn drop(&mut self) {
            AGAIN.with(|_| ());
        }
    }
    uthread::thread_local! {
        static AGAIN: Again = Again;
    }
    let test = "thread_local_values_that_come_back_without_end_abort";
    let output = aborts(test, || {
        uthread::run(|| spawn(|| AGAIN.with(|_| ())).join().unwrap());
    });
    assert!(output.contains("create values without end"), "{output}");
}
