//! Locks: exclusion, order, protocols, poison, misuse.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::panic::catch_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{aborts, message, preemptive};
use uthread::Priority::{Green, Orange, Red};
use uthread::{
    Barrier, Builder, JoinHandle, Lock, Priority, Protocol, Runtime, RwLock, Semaphore, SpinLock,
    bounded, current, spawn, yield_now,
};

/// Starts a named thread with a priority.
fn start(name: &str, priority: Priority, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    Builder::new()
        .name(name)
        .priority(priority)
        .spawn(work)
        .unwrap()
}

fn panics(work: fn()) -> String {
    message(&*catch_unwind(work).unwrap_err())
}

#[test]
fn a_lock_is_handed_over_in_the_order_of_coming() {
    let locks: [fn() -> Lock<()>; 3] = [
        || Lock::fifo(()),
        || Lock::with_protocol((), Protocol::Inheritance),
        || Lock::with_protocol((), Protocol::Ceiling(Red)),
    ];
    for new in locks {
        let protocol = new().protocol();
        let order = Arc::new(Mutex::new(Vec::new()));
        uthread::run(|| {
            let lock = Arc::new(new());
            let guard = lock.lock().unwrap();
            for i in 0..20 {
                let (lock, order) = (Arc::clone(&lock), Arc::clone(&order));
                drop(spawn(move || {
                    let _guard = lock.lock().unwrap();
                    yield_now();
                    order.lock().unwrap().push(i);
                }));
            }
            yield_now();
            drop(guard);
        });
        assert!(
            order.lock().unwrap().iter().copied().eq(0..20),
            "{protocol:?}"
        );
    }
}

#[test]
fn contended_counts_are_exact_under_ticks() {
    let runtime = preemptive(Duration::from_micros(50)).build().unwrap();
    for protocol in [
        Protocol::None,
        Protocol::Inheritance,
        Protocol::Ceiling(Red),
    ] {
        let total = runtime.run(|| {
            let counters = Arc::new((
                Lock::with_protocol(0u64, protocol),
                SpinLock::new(0u64),
                SpinLock::holding_preemption_off(0u64),
            ));
            let threads: Vec<_> = (0..20)
                .map(|_| {
                    let counters = Arc::clone(&counters);
                    spawn(move || {
                        for _ in 0..2000 {
                            *counters.0.lock().unwrap() += 1;
                            *counters.1.lock() += 1;
                            *counters.2.lock() += 1;
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            let counter = Arc::into_inner(counters).unwrap();
            (
                counter.0.into_inner().unwrap(),
                counter.1.into_inner(),
                counter.2.into_inner(),
            )
        });
        assert_eq!(total, (40_000, 40_000, 40_000));
    }
}

/// GREEN holds the lock, RED wants it, ORANGE is ready. Returns the order in which they finish.
fn order_of_finishing(protocol: Protocol) -> Vec<&'static str> {
    let order = Arc::new(Mutex::new(Vec::new()));
    let runtime = Runtime::builder().decay(false).build().unwrap();
    runtime.run(|| {
        current().set_priority(Red);
        let lock = Arc::new(Lock::with_protocol((), protocol));
        let ended = |name| {
            let order = Arc::clone(&order);
            move || order.lock().unwrap().push(name)
        };
        let (a, b, c) = (ended("A"), ended("B"), ended("C"));
        let (ours, theirs) = (Arc::clone(&lock), lock);
        let low = start("C", Green, move || {
            let guard = ours.lock().unwrap();
            (0..100).for_each(|_| yield_now());
            c();
            drop(guard);
        });
        current().set_priority(Green);
        yield_now(); // C takes the lock
        current().set_priority(Red);
        let high = start("A", Red, move || {
            let _guard = theirs.lock().unwrap();
            a();
        });
        let middle = start("B", Orange, move || {
            (0..100).for_each(|_| yield_now());
            b();
        });
        for thread in [low, middle, high] {
            thread.join().unwrap();
        }
    });
    Arc::into_inner(order).unwrap().into_inner().unwrap()
}

#[test]
fn inversion_happens_without_a_protocol_and_not_with_one() {
    assert_eq!(order_of_finishing(Protocol::None), ["B", "C", "A"]);
    assert_eq!(order_of_finishing(Protocol::Inheritance), ["C", "A", "B"]);
    assert_eq!(order_of_finishing(Protocol::Ceiling(Red)), ["C", "A", "B"]);
}

#[test]
fn inheritance_goes_through_a_chain_and_ends_with_the_unlock() {
    let runtime = Runtime::builder().decay(false).build().unwrap();
    runtime.run(|| {
        let first = Arc::new(Lock::with_protocol((), Protocol::Inheritance));
        let second = Arc::new(Lock::with_protocol((), Protocol::Inheritance));
        current().set_priority(Green);
        let held = first.lock().unwrap();
        let (one, two) = (Arc::clone(&first), Arc::clone(&second));
        let middle = start("middle", Orange, move || {
            let _two = two.lock().unwrap();
            let _one = one.lock().unwrap();
        });
        yield_now();
        assert_eq!(current().priority(), Orange);
        let high = start("high", Red, move || drop(second.lock().unwrap()));
        yield_now();
        assert_eq!(
            (current().priority(), middle.thread().priority()),
            (Red, Red)
        );
        middle.thread().set_priority(Green);
        high.thread().set_priority(Orange);
        assert_eq!(
            (current().priority(), middle.thread().priority()),
            (Orange, Orange)
        );
        drop(held);
        assert_eq!(current().priority(), Green);
        middle.join().unwrap();
        high.join().unwrap();
    });
}

#[test]
fn ceilings_may_be_unlocked_in_any_order() {
    uthread::run(|| {
        let low = Lock::with_protocol((), Protocol::Ceiling(Orange));
        let high = Lock::with_protocol((), Protocol::Ceiling(Red));
        current().set_priority(Green);
        let (a, b) = (low.lock().unwrap(), high.lock().unwrap());
        assert_eq!(current().priority(), Red);
        drop(a);
        assert_eq!(current().priority(), Red);
        let a = low.lock().unwrap();
        drop(b);
        assert_eq!(current().priority(), Orange);
        drop(a);
        assert_eq!(current().priority(), Green);
    });
}

#[test]
fn a_panic_inside_poisons() {
    uthread::run(|| {
        let lock = Arc::new(Lock::new(1));
        let inner = Arc::clone(&lock);
        let thread = spawn(move || {
            let _guard = inner.lock().unwrap();
            panic!("inside");
        });
        assert!(thread.join().is_err());
        assert!(lock.is_poisoned());
        assert_eq!(*lock.lock().unwrap_err().into_inner(), 1);
        lock.clear_poison();
        assert_eq!(*lock.lock().unwrap(), 1);
    });
}

#[test]
fn a_forgotten_guard_keeps_the_lock_and_its_owner_known() {
    let test = "a_forgotten_guard_keeps_the_lock_and_its_owner_known";
    let output = aborts(test, || {
        uthread::run(|| {
            let lock = Arc::new(Lock::new(()));
            let inner = Arc::clone(&lock);
            let forgetful = move || std::mem::forget(inner.lock().unwrap());
            start("forgetful", Orange, forgetful).join().unwrap();
            assert!(lock.try_lock().is_err());
            drop(lock.lock());
        });
    });
    let expected = "deadlock of all threads: 'main' waits for a lock";
    assert!(output.contains(expected), "{output}");
}

/// The next threads in the place of one that has ended do not count as the owner of what it holds.
#[test]
fn a_forgotten_guard_of_a_spin_lock_or_a_writer_keeps_its_owner_known() {
    uthread::run(|| {
        let (spins, shared) = (Arc::new(SpinLock::new(())), Arc::new(RwLock::new(())));
        let (inner, written) = (Arc::clone(&spins), Arc::clone(&shared));
        let forgetful = move || {
            std::mem::forget(inner.lock());
            std::mem::forget(written.write());
        };
        start("forgetful", Orange, forgetful).join().unwrap();
        for _ in 0..3 {
            let (inner, written) = (Arc::clone(&spins), Arc::clone(&shared));
            let spinner = start("spinner", Orange, move || {
                assert!(written.write_timeout(Duration::from_millis(1)).is_err());
                drop(inner.lock());
            });
            let expected =
                "'spinner' waits for a spin lock of 'forgetful', which cannot run meanwhile";
            assert_eq!(message(&*spinner.join().unwrap_err()), expected);
        }
    });
}

#[test]
fn locking_twice_is_a_panic() {
    let text = panics(|| {
        uthread::run(|| {
            let lock = Lock::new(());
            let _guard = lock.lock().unwrap();
            drop(lock.lock());
        });
    });
    assert_eq!(text, "'main' locks a lock that it holds");
}

#[test]
fn a_circle_of_locks_is_a_panic_that_names_the_threads() {
    uthread::run(|| {
        let (a, b) = (Arc::new(Lock::new(())), Arc::new(Lock::new(())));
        let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
        let first = start("first", Orange, move || {
            let _a = a.lock().unwrap();
            yield_now();
            drop(b.lock());
        });
        let second = start("second", Orange, move || {
            let _b = b2.lock().unwrap();
            yield_now();
            drop(a2.lock());
        });
        let text = message(&*second.join().unwrap_err());
        let expected =
            "deadlock: 'second' waits for a lock of 'first', which waits for one of 'second'";
        assert_eq!(text, expected);
        first.join().unwrap();
    });
}

#[test]
fn locking_above_the_ceiling_is_a_panic() {
    uthread::run(|| {
        let lock = Arc::new(Lock::with_protocol((), Protocol::Ceiling(Orange)));
        let thread = start("high", Red, move || drop(lock.lock()));
        let text = message(&*thread.join().unwrap_err());
        assert_eq!(
            text,
            "'high' of priority RED locks a lock whose ceiling is ORANGE"
        );
        yield_now(); // preemption is on again
    });
}

#[test]
fn blocking_while_preemption_is_off_is_a_panic() {
    let cases: [fn(); 5] = [
        || drop(Lock::new(()).lock()),
        || Semaphore::new(0).acquire(),
        || assert!(bounded::<u8>(0).1.recv().is_ok()),
        || assert!(Barrier::new(2).wait().is_leader()),
        || uthread::io::sleep(Duration::ZERO),
    ];
    for case in cases {
        let text = uthread::run(|| {
            let thread = start("careless", Orange, move || {
                let _guard = uthread::no_preempt();
                case();
            });
            message(&*thread.join().unwrap_err())
        });
        assert!(text.starts_with("'careless' called"), "{text}");
        assert!(text.ends_with("while it holds preemption off"), "{text}");
    }
}

#[test]
fn spinning_for_ever_is_a_panic() {
    let twice = panics(|| {
        uthread::run(|| {
            let lock = SpinLock::new(());
            let _guard = lock.lock();
            drop(lock.lock());
        });
    });
    assert_eq!(twice, "'main' locks a spin lock that it holds");
    uthread::run(|| {
        let lock = Arc::new(SpinLock::new(()));
        let inner = Arc::clone(&lock);
        let guard = lock.lock();
        let spinner = start("spinner", Orange, move || drop(inner.lock()));
        let text = message(&*spinner.join().unwrap_err());
        assert_eq!(
            text,
            "'spinner' waits for a spin lock of 'main', which cannot run meanwhile"
        );
        drop(guard);
    });
}

#[test]
fn an_object_belongs_to_one_runtime_at_a_time() {
    static LOCK: Lock<u32> = Lock::new(0);
    uthread::run(|| *LOCK.lock().unwrap() += 1);
    uthread::run(|| {
        *LOCK.lock().unwrap() += 1;
        let other = std::thread::spawn(|| catch_unwind(|| uthread::run(|| drop(LOCK.lock()))));
        let text = message(&*other.join().unwrap().unwrap_err());
        assert!(
            text.contains("belongs to the threads of another runtime"),
            "{text}"
        );
        assert_eq!(*LOCK.lock().unwrap(), 2);
    });
}

#[test]
fn channels_keep_the_order_at_every_capacity() {
    for capacity in [0, 1, 3, usize::MAX] {
        let received = uthread::run(|| {
            let (sender, receiver) = bounded(capacity);
            let senders: Vec<_> = (0..5)
                .map(|i| {
                    let sender = sender.clone();
                    spawn(move || (0..50).for_each(|j| sender.send((i, j)).unwrap()))
                })
                .collect();
            drop(sender);
            let values: Vec<_> = receiver.iter().collect();
            for thread in senders {
                thread.join().unwrap();
            }
            values
        });
        assert_eq!(received.len(), 250);
        for i in 0..5 {
            let of_one = received
                .iter()
                .filter(|(sender, _)| *sender == i)
                .map(|(_, j)| *j);
            assert!(of_one.eq(0..50), "capacity {capacity}");
        }
    }
}

#[test]
fn a_channel_without_receivers_gives_the_value_back() {
    uthread::run(|| {
        let (sender, receiver) = bounded(0);
        let blocked = spawn(move || sender.send(7).unwrap_err().0);
        yield_now();
        drop(receiver);
        assert_eq!(blocked.join().unwrap(), 7);
    });
}
