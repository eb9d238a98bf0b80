//! Locks of readers and writers, recursive locks, functions that run once, and guards of parts.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{HOUR, MINUTE, aborts, everywhere, message, preemptive};
use uthread::io::sleep;
use uthread::{
    Cancelled, JoinHandle, Lock, LockGuard, MappedLockGuard, Once, RecursiveLock, RwLock,
    RwLockWriteGuard, Semaphore, catch_unwind, scope, spawn, yield_now,
};

const MOMENT: Duration = Duration::from_millis(1);

/// Runs `work` everywhere, and under ticks.
fn also_under_ticks(work: impl Fn() + Copy + Send) {
    everywhere(work);
    for workers in 1..=2 {
        let builder = preemptive(Duration::from_micros(50)).workers(workers);
        builder.build().unwrap().run(work);
    }
}

#[test]
fn a_writer_is_alone_and_readers_are_together() {
    also_under_ticks(|| {
        let lock = RwLock::new((0, 0));
        let inside = AtomicU32::new(0);
        let most = AtomicU32::new(0);
        scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let mut pair = lock.write().unwrap();
                        assert_eq!(inside.load(Ordering::Relaxed), 0);
                        pair.0 += 1;
                        yield_now();
                        pair.1 += 1;
                    }
                });
                scope.spawn(|| {
                    for _ in 0..50 {
                        let pair = lock.read().unwrap();
                        let readers = inside.fetch_add(1, Ordering::Relaxed) + 1;
                        most.fetch_max(readers, Ordering::Relaxed);
                        yield_now();
                        assert_eq!(pair.0, pair.1);
                        inside.fetch_sub(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(lock.into_inner().unwrap(), (150, 150));
        assert!(most.into_inner() <= 3);
    });
}

#[test]
fn readers_hold_the_lock_at_the_same_time() {
    everywhere(|| {
        let lock = RwLock::new(7);
        let first = lock.read().unwrap();
        scope(|scope| {
            let second = scope.spawn(|| *lock.read().unwrap());
            assert_eq!(second.join().unwrap(), 7);
        });
        assert!(lock.try_read().is_ok() && lock.try_write().is_err());
        drop(first);
        assert!(lock.try_write().is_ok());
    });
}

/// A reader that comes after a writer waits for it, and goes on if the writer gives up.
#[test]
fn the_order_of_coming_counts() {
    everywhere(|| {
        let lock = Arc::new(RwLock::new(0));
        let first = lock.read().unwrap();
        let writer = {
            let lock = Arc::clone(&lock);
            spawn(move || lock.write_timeout(HOUR).is_ok())
        };
        while lock.try_read().is_ok() {
            yield_now();
        }
        let reader = {
            let lock = Arc::clone(&lock);
            spawn(move || *lock.read().unwrap())
        };
        sleep(MOMENT);
        assert!(!reader.is_finished());
        writer.cancel();
        assert_eq!(reader.join().unwrap(), 0);
        assert!(writer.join().unwrap_err().is::<Cancelled>());
        drop(first);
    });
}

#[test]
fn waits_for_a_shared_lock_have_limits() {
    everywhere(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let guard = lock.write().unwrap();
        let late = spawn(move || {
            let (read, write) = (other.read_timeout(MOMENT), other.write_timeout(MOMENT));
            (read.is_err(), write.is_err())
        });
        assert_eq!(late.join().unwrap(), (true, true));
        drop(guard);
        assert!(lock.read_timeout(MOMENT).is_ok());
        assert!(lock.write_timeout(MOMENT).is_ok());
    });
}

#[test]
fn a_writer_that_waits_for_itself_is_a_panic_that_names_it() {
    everywhere(|| {
        let lock = RwLock::new(7);
        let held = lock.write().unwrap();
        let ways: [fn(&RwLock<i32>); 4] = [
            |lock| drop(lock.read()),
            |lock| drop(lock.write()),
            |lock| drop(lock.read_timeout(HOUR)),
            |lock| drop(lock.write_timeout(HOUR)),
        ];
        for way in ways {
            let caught = catch_unwind(std::panic::AssertUnwindSafe(|| way(&lock)));
            let expected = "deadlock: 'main' waits for an RwLock that it writes";
            assert_eq!(message(&*caught.unwrap_err()), expected);
        }
        assert!(lock.try_read().is_err() && lock.try_write().is_err());
        drop(held);
        assert_eq!(*lock.read().unwrap(), 7);
    });
}

#[test]
fn a_writer_that_panics_poisons_the_lock() {
    everywhere(|| {
        let lock = RwLock::new(7);
        let panics = |writes: bool| {
            catch_unwind(std::panic::AssertUnwindSafe(|| {
                let held = writes.then(|| lock.write().unwrap());
                let read = (!writes).then(|| lock.read().unwrap());
                std::panic::resume_unwind(Box::new((held.is_some(), read.is_some())));
            }))
            .is_err()
        };
        assert!(panics(false) && !lock.is_poisoned());
        assert!(panics(true) && lock.is_poisoned());
        assert!(lock.read().is_err() && lock.try_write().is_err());
        lock.clear_poison();
        assert_eq!(*lock.read().unwrap(), 7);
    });
}

#[test]
fn a_guard_of_a_part_holds_the_whole() {
    everywhere(|| {
        let lock = Lock::new(((1, 2), 3));
        let inner = LockGuard::map(lock.lock().unwrap(), |(pair, _)| pair);
        let mut second = MappedLockGuard::map(inner, |(_, second)| second);
        assert!(lock.try_lock().is_err());
        *second = 7;
        drop(second);
        assert_eq!(*lock.lock().unwrap(), ((1, 7), 3));

        let shared = RwLock::new((1, 2));
        let mut part = RwLockWriteGuard::map(shared.write().unwrap(), |(_, second)| second);
        *part = 7;
        assert!(shared.try_read().is_err());
        drop(part);
        assert_eq!(*shared.read().unwrap(), (1, 7));

        let panics = catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _part = LockGuard::map(lock.lock().unwrap(), |(pair, _)| pair);
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panics.is_err() && lock.is_poisoned());
    });
}

#[test]
fn the_owner_takes_a_recursive_lock_again() {
    also_under_ticks(|| {
        let lock = RecursiveLock::new(Cell::new(0));
        scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let outer = lock.lock();
                        let before = outer.get();
                        yield_now();
                        {
                            let inner = lock.try_lock().unwrap();
                            inner.set(before + 1);
                        }
                        yield_now();
                        assert_eq!(lock.lock_timeout(MINUTE).unwrap().get(), before + 1);
                    }
                });
            }
        });
        assert_eq!(lock.into_inner().get(), 150);
    });
}

#[test]
fn a_recursive_lock_is_free_after_the_last_guard() {
    everywhere(|| {
        let lock = Arc::new(RecursiveLock::new(()));
        let free = || {
            let lock = Arc::clone(&lock);
            let tries =
                spawn(move || lock.try_lock().is_some() && lock.lock_timeout(MOMENT).is_some());
            tries.join().unwrap()
        };
        let (first, second) = (lock.lock(), lock.lock());
        assert!(!free());
        drop(first);
        assert!(!free());
        drop(second);
        assert!(free());
    });
}

#[test]
fn a_function_runs_once_and_all_wait_for_it() {
    also_under_ticks(|| {
        let (once, times) = (Once::new(), AtomicU32::new(0));
        scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    once.call(|| {
                        assert!(!once.is_completed());
                        sleep(MOMENT);
                        times.fetch_add(1, Ordering::Relaxed);
                    });
                    assert!(once.is_completed());
                    assert_eq!(times.load(Ordering::Relaxed), 1);
                });
            }
        });
        assert!(once.call_timeout(MOMENT, || unreachable!("it has run")));
    });
}

/// A thread that is in the function, once it enters it, until it is resumed or cancelled.
fn stuck(once: &Arc<Once>, entered: &Arc<Semaphore>) -> JoinHandle<()> {
    let (once, entered) = (Arc::clone(once), Arc::clone(entered));
    spawn(move || {
        once.call(|| {
            entered.release(1);
            uthread::suspend();
        });
    })
}

#[test]
fn another_thread_runs_the_function_if_one_unwinds() {
    everywhere(|| {
        let (once, entered) = (Arc::new(Once::new()), Arc::new(Semaphore::new(0)));
        let first = stuck(&once, &entered);
        entered.acquire();
        assert!(!once.call_timeout(MOMENT, || unreachable!("another is in it")));
        let second = stuck(&once, &entered);
        let third = {
            let once = Arc::clone(&once);
            spawn(move || once.call(|| unreachable!("another is in it")))
        };
        sleep(MOMENT);
        third.cancel();
        assert!(third.join().unwrap_err().is::<Cancelled>());
        first.cancel();
        assert!(first.join().unwrap_err().is::<Cancelled>());
        entered.acquire();
        assert!(!once.is_completed());
        second.thread().resume();
        second.join().unwrap();
        assert!(once.is_completed());
    });
}

#[test]
fn a_function_that_asks_for_itself_is_a_panic() {
    everywhere(|| {
        let once = Once::new();
        let panics = || once.call(|| once.call(|| ()));
        let panic = catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
        assert_eq!(message(&*panic), "deadlock: 'main' waits for its own Once");
        once.call(|| ());
    });
}

#[test]
fn a_deadlock_of_a_shared_lock_names_the_thread() {
    let text = aborts("a_deadlock_of_a_shared_lock_names_the_thread", || {
        uthread::run(|| {
            let lock = RwLock::new(());
            let _held = lock.read().unwrap();
            drop(lock.write());
        });
    });
    assert!(text.contains("'main' waits for a lock"), "{text}");
}
