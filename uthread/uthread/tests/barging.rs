//! The lock that running threads may take before those that wait.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{message, preemptive};
use uthread::io::sleep;
use uthread::{Condvar, Lock, Runtime, spawn, yield_now};

const MOST_PASSES: u32 = 256;

/// Runtimes of all kinds.
fn runtimes() -> impl Iterator<Item = Runtime> {
    let builders = [
        Runtime::builder(),
        Runtime::builder().workers(2),
        Runtime::builder().workers(3),
        preemptive(Duration::from_micros(50)),
        preemptive(Duration::from_micros(50)).workers(2),
    ];
    let seeds = (0..20).map(|seed| Runtime::builder().deterministic(seed));
    let all = builders.into_iter().chain(seeds);
    all.map(|builder| builder.build().unwrap())
}

/// The number of times that the running thread makes `pass` before a thread that waits for the lock has it.
fn passes_before_a_waiter(pass: fn(&Lock<i32>)) -> u32 {
    Runtime::builder().build().unwrap().run(|| {
        let lock = Arc::new(Lock::new(0));
        let taken = Arc::new(AtomicBool::new(false));
        let guard = lock.lock().unwrap();
        let waiter = {
            let (lock, taken) = (Arc::clone(&lock), Arc::clone(&taken));
            spawn(move || {
                let _guard = lock.lock().unwrap();
                taken.store(true, Ordering::Relaxed);
            })
        };
        yield_now();
        drop(guard);
        let mut passes = 0;
        while !taken.load(Ordering::Relaxed) {
            pass(&lock);
            passes += 1;
        }
        waiter.join().unwrap();
        passes
    })
}

#[test]
fn a_running_thread_passes_a_waiting_one_but_not_for_ever() {
    let passes = passes_before_a_waiter(|lock| drop(lock.lock().unwrap()));
    assert!(passes > 1, "the lock was handed over at once");
    assert!(passes <= MOST_PASSES + 1, "{passes} passes");
}

#[test]
fn a_thread_that_waits_for_a_millisecond_gets_the_lock() {
    let passes = passes_before_a_waiter(|lock| {
        let _guard = lock.lock().unwrap();
        let entered = Instant::now();
        while entered.elapsed() < Duration::from_millis(1) {}
    });
    // The first pass starts the clock, the second finds that time is up, and the third waits.
    assert_eq!(passes, 3);
}

/// Each waiter in its turn is overtaken a limited number of times.
#[test]
fn all_of_several_waiters_get_in_after_a_limited_number_of_passes() {
    const WAITERS: u32 = 5;
    Runtime::builder().build().unwrap().run(|| {
        let lock = Arc::new(Lock::new(0));
        let guard = lock.lock().unwrap();
        let taken = Arc::new(AtomicU32::new(0));
        let waiters = [(); WAITERS as usize].map(|()| {
            let (lock, taken) = (Arc::clone(&lock), Arc::clone(&taken));
            spawn(move || {
                let _guard = lock.lock().unwrap();
                taken.fetch_add(1, Ordering::Relaxed);
            })
        });
        yield_now();
        drop(guard);
        let mut passes = 0;
        while taken.load(Ordering::Relaxed) < WAITERS {
            drop(lock.lock().unwrap());
            passes += 1;
        }
        assert!(passes <= WAITERS * (MOST_PASSES + 1), "{passes} passes");
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn sections_exclude_each_other_and_everybody_gets_in() {
    const THREADS: u64 = 30;
    const EACH: u64 = 500;
    for runtime in runtimes() {
        let sum = runtime.run(|| {
            let lock = Arc::new(Lock::new(0));
            let threads: Vec<_> = (0..THREADS)
                .map(|i| {
                    let lock = Arc::clone(&lock);
                    spawn(move || {
                        for round in 0..EACH {
                            let mut sum = lock.lock().unwrap();
                            let before = *sum;
                            if (round + i).is_multiple_of(64) {
                                yield_now();
                            }
                            *sum = before + 1;
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            *lock.lock().unwrap()
        });
        assert_eq!(sum, THREADS * EACH);
    }
}

#[test]
fn a_thread_that_gave_up_is_not_handed_the_lock() {
    for runtime in runtimes() {
        runtime.run(|| {
            let lock = Arc::new(Lock::new(()));
            let got = Arc::new(AtomicU32::new(0));
            let threads: Vec<_> = (0..20u64)
                .map(|i| {
                    let (lock, got) = (Arc::clone(&lock), Arc::clone(&got));
                    spawn(move || {
                        for round in 0..50 {
                            let limit = Duration::from_nanos((i + round) % 7 * 500);
                            if let Ok(_guard) = lock.lock_timeout(limit) {
                                got.fetch_add(1, Ordering::Relaxed);
                                yield_now();
                            }
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(got.load(Ordering::Relaxed) > 0);
            assert!(lock.try_lock().is_ok(), "the lock is held by nobody");
        });
    }
}

/// Hoare's monitor hands the lock over in any case, so `if` is enough.
#[test]
fn signals_hand_the_lock_over() {
    for runtime in runtimes() {
        runtime.run(|| {
            let monitor = Arc::new((Lock::new(0u32), Condvar::new()));
            let takers: Vec<_> = (0..10)
                .map(|_| {
                    let monitor = Arc::clone(&monitor);
                    spawn(move || {
                        let mut units = monitor.0.lock().unwrap();
                        if *units == 0 {
                            units = monitor.1.wait(units).unwrap();
                            assert!(*units > 0, "somebody came between");
                        }
                        *units -= 1;
                    })
                })
                .collect();
            let givers: Vec<_> = (0..10)
                .map(|i| {
                    let monitor = Arc::clone(&monitor);
                    spawn(move || {
                        let mut units = monitor.0.lock().unwrap();
                        *units += 1;
                        if i % 2 == 0 {
                            drop(monitor.1.signal(units).unwrap());
                        } else {
                            monitor.1.signal_exit(units);
                        }
                    })
                })
                .collect();
            takers
                .into_iter()
                .chain(givers)
                .for_each(|t| t.join().unwrap());
            assert_eq!(*monitor.0.lock().unwrap(), 0);
        });
    }
}

#[test]
fn a_notified_thread_continues_only_with_the_lock() {
    for runtime in runtimes() {
        runtime.run(|| {
            const WAITERS: u32 = 10;
            let monitor = Arc::new((Lock::new(0u32), Condvar::new()));
            let inside = Arc::new(AtomicBool::new(false));
            let waiters: Vec<_> = (0..WAITERS)
                .map(|_| {
                    let (monitor, inside) = (Arc::clone(&monitor), Arc::clone(&inside));
                    spawn(move || {
                        let units = monitor.0.lock().unwrap();
                        let wait = |units: &mut u32| *units == 0;
                        let mut units = monitor.1.wait_while(units, wait).unwrap();
                        assert!(!inside.load(Ordering::Relaxed), "two threads are inside");
                        *units -= 1;
                    })
                })
                .collect();
            yield_now();
            for i in 0..WAITERS {
                let mut units = monitor.0.lock().unwrap();
                *units += 1;
                match i % 4 {
                    0 => monitor.1.notify(&units),
                    1 => monitor.1.notify_all(&units),
                    _ => {}
                }
                drop(units);
                match i % 4 {
                    2 => monitor.1.notify_outside(),
                    3 => monitor.1.notify_all_outside(),
                    _ => {}
                }
                let _passes_the_notified = monitor.0.lock().unwrap();
                inside.store(true, Ordering::Relaxed);
                yield_now();
                inside.store(false, Ordering::Relaxed);
            }
            for waiter in waiters {
                waiter.join().unwrap();
            }
            assert_eq!(*monitor.0.lock().unwrap(), 0);
        });
    }
}

#[test]
fn a_broadcast_comes_before_all_that_enter() {
    for runtime in runtimes() {
        runtime.run(|| {
            let monitor = Arc::new((Lock::new((false, 0u32)), Condvar::new()));
            let waiting = Arc::new(AtomicU32::new(0));
            let waiters: Vec<_> = (0..10)
                .map(|_| {
                    let (monitor, waiting) = (Arc::clone(&monitor), Arc::clone(&waiting));
                    spawn(move || {
                        let state = monitor.0.lock().unwrap();
                        waiting.fetch_add(1, Ordering::Relaxed);
                        let mut state = monitor.1.wait(state).unwrap();
                        state.1 += 1;
                    })
                })
                .collect();
            while waiting.load(Ordering::Relaxed) < 10 {
                yield_now();
            }
            let mut state = monitor.0.lock().unwrap();
            state.0 = true;
            monitor.1.broadcast(&state);
            drop(state);
            assert_eq!(*monitor.0.lock().unwrap(), (true, 10));
            for waiter in waiters {
                waiter.join().unwrap();
            }
        });
    }
}

#[test]
fn a_cycle_of_waiting_threads_is_reported() {
    Runtime::builder().build().unwrap().run(|| {
        let locks = Arc::new([Lock::new(()), Lock::new(())]);
        let take = |mine: usize| {
            let locks = Arc::clone(&locks);
            spawn(move || {
                let _mine = locks[mine].lock().unwrap();
                sleep(Duration::from_millis(1));
                drop(locks[1 - mine].lock());
            })
        };
        let results = [take(0), take(1)].map(uthread::JoinHandle::join);
        let errors: Vec<_> = results.iter().filter_map(|r| r.as_ref().err()).collect();
        assert_eq!(errors.len(), 1);
        assert!(message(&**errors[0]).contains("deadlock"));
    });
}
