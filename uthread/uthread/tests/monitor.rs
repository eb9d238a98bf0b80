//! Hoare and Mesa monitors.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::preemptive;
use uthread::{Condvar, Lock, LockGuard, Runtime, spawn, yield_now};

/// A buffer with one slot.
#[derive(Default)]
struct Buffer {
    place: Lock<Option<u64>>,
    filled: Condvar,
    emptied: Condvar,
}

impl Buffer {
    /// Uses `if`, where Mesa semantics would need `while`.
    fn put(&self, value: u64) {
        let mut place = self.place.lock().unwrap();
        if place.is_some() {
            place = self.emptied.wait(place).unwrap();
            assert!(place.is_none(), "Hoare's condition is true for the woken");
        }
        *place = Some(value);
        self.filled.signal_exit(place);
    }

    fn take(&self) -> u64 {
        let mut place = self.place.lock().unwrap();
        if place.is_none() {
            place = self.filled.wait(place).unwrap();
        }
        let value = place
            .take()
            .expect("Hoare's condition is true for the woken");
        drop(self.emptied.signal(place).unwrap());
        value
    }
}

fn pass_through(runtime: &Runtime, rounds: u64) -> u64 {
    const PAIRS: u64 = 4;
    runtime.run(|| {
        let buffer = Arc::new(Buffer::default());
        for pair in 0..PAIRS {
            let buffer = Arc::clone(&buffer);
            drop(spawn(move || {
                (0..rounds).for_each(|i| buffer.put(pair * rounds + i));
            }));
        }
        let takers: Vec<_> = (0..PAIRS)
            .map(|_| {
                let buffer = Arc::clone(&buffer);
                spawn(move || (0..rounds).map(|_| buffer.take()).sum::<u64>())
            })
            .collect();
        let total = PAIRS * rounds;
        let sum: u64 = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
        assert_eq!(sum, total * (total - 1) / 2);
        total
    })
}

/// A million rounds on request; fewer in an ordinary test.
#[test]
fn the_condition_holds_for_every_waiter_that_is_signalled() {
    let million = std::env::var_os("UTHREAD_THOROUGH").is_some();
    let rounds = if million { 125_000 } else { 5_000 };
    for seed in 0..2 {
        pass_through(
            &Runtime::builder().deterministic(seed).build().unwrap(),
            rounds,
        );
    }
    pass_through(
        &preemptive(Duration::from_micros(50)).build().unwrap(),
        rounds,
    );
    pass_through(&Runtime::builder().workers(2).build().unwrap(), rounds / 5);
}

/// The same program with `notify`: another thread can run in between, so `if` is wrong.
#[test]
fn after_mesas_notify_the_condition_may_be_false() {
    let surprised = uthread::run(|| {
        let buffer = Arc::new(Buffer::default());
        let waiter = {
            let buffer = Arc::clone(&buffer);
            spawn(move || {
                let place = buffer.place.lock().unwrap();
                let place = buffer.filled.wait(place).unwrap();
                place.is_none()
            })
        };
        yield_now();
        let mut place = buffer.place.lock().unwrap();
        let thief = {
            let buffer = Arc::clone(&buffer);
            spawn(move || buffer.place.lock().unwrap().take())
        };
        yield_now(); // the thief queues for the lock
        *place = Some(1);
        buffer.filled.notify(&place);
        drop(place);
        assert_eq!(thief.join().unwrap(), Some(1));
        waiter.join().unwrap()
    });
    assert!(surprised, "notify let the waiter in before the thief");
}

#[test]
fn the_signaller_is_served_before_newcomers() {
    let log = Arc::new(Mutex::new(Vec::new()));
    uthread::run(|| {
        let monitor = Arc::new((Lock::new(()), Condvar::new()));
        let note = |text: &'static str| log.lock().unwrap().push(text);
        let in_monitor = |wait: bool, text: &'static str| {
            let (monitor, log) = (Arc::clone(&monitor), Arc::clone(&log));
            spawn(move || {
                let mut guard = monitor.0.lock().unwrap();
                if wait {
                    guard = monitor.1.wait(guard).unwrap();
                }
                log.lock().unwrap().push(text);
                yield_now();
                drop(guard);
            })
        };
        let waiter = in_monitor(true, "waiter");
        yield_now();
        let guard = monitor.0.lock().unwrap();
        let newcomer = in_monitor(false, "newcomer");
        yield_now();
        let guard = monitor.1.signal(guard).unwrap();
        note("signaller");
        drop(guard);
        waiter.join().unwrap();
        newcomer.join().unwrap();
    });
    assert_eq!(*log.lock().unwrap(), ["waiter", "signaller", "newcomer"]);
}

#[test]
fn broadcast_serves_all_waiters_in_order_before_newcomers() {
    let log = Arc::new(Mutex::new(Vec::new()));
    uthread::run(|| {
        let monitor = Arc::new((Lock::new(()), Condvar::new()));
        let enter = |i: u32| {
            let (monitor, log) = (Arc::clone(&monitor), Arc::clone(&log));
            drop(spawn(move || {
                let mut guard = monitor.0.lock().unwrap();
                if i < 10 {
                    guard = monitor.1.wait(guard).unwrap();
                }
                log.lock().unwrap().push(i);
                drop(guard);
            }));
        };
        (0..10).for_each(enter);
        yield_now();
        let guard = monitor.0.lock().unwrap();
        enter(10);
        yield_now();
        monitor.1.broadcast(&guard);
        drop(guard);
    });
    assert!(log.lock().unwrap().iter().copied().eq(0..11));
}

#[test]
fn a_condition_has_one_lock() {
    let result = uthread::run(|| {
        let shared = Arc::new((Lock::new(()), Lock::new(()), Condvar::new()));
        let inner = Arc::clone(&shared);
        drop(spawn(move || drop(inner.2.wait(inner.0.lock().unwrap()))));
        yield_now();
        let misuse = || drop(shared.2.wait(shared.1.lock().unwrap()));
        let result = uthread::catch_unwind(std::panic::AssertUnwindSafe(misuse));
        shared.2.notify(&shared.0.lock().unwrap());
        result
    });
    let text = common::message(&*result.unwrap_err());
    assert_eq!(
        text,
        "Condvar::wait: threads wait for this condition with another lock"
    );
}

/// Safe code can give a guard away by a thread-local value of the kernel thread.
#[test]
fn a_guard_of_another_thread_is_refused() {
    static LOCK: Lock<()> = Lock::new(());
    static CONDITION: Condvar = Condvar::new();
    std::thread_local! {
        static GIVEN: RefCell<Option<LockGuard<'static, ()>>> = const { RefCell::new(None) };
    }
    let misuses: [fn(LockGuard<'static, ()>); 4] = [
        |guard| drop(CONDITION.wait(guard)),
        |guard| drop(CONDITION.wait_timeout(guard, Duration::ZERO)),
        |guard| drop(CONDITION.signal(guard)),
        |guard| CONDITION.signal_exit(guard),
    ];
    uthread::run(|| {
        for misuse in misuses {
            let owner = spawn(|| {
                GIVEN.set(Some(LOCK.lock().unwrap()));
                uthread::suspend();
                // SAFETY: the other guard was forgotten.
                drop(unsafe { LOCK.guard_again() });
            });
            yield_now();
            let other = spawn(move || misuse(GIVEN.take().unwrap()));
            let text = common::message(&*other.join().unwrap_err());
            assert!(text.contains("does not hold the lock"), "{text}");
            assert!(LOCK.try_lock().is_err());
            owner.thread().resume();
            owner.join().unwrap();
        }
    });
}
