//! Waits with a time limit. Most run on virtual time, where a minute passes at once.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::world::{World, programs, time_ns};
use common::{HOUR, MINUTE, message, on_virtual_time, preemptive, virtual_time};
use proptest::prelude::*;
use uthread::io::sleep;
use uthread::{
    Barrier, Builder, Condvar, Lock, Priority, Protocol, RecvTimeoutError, Runtime, Semaphore,
    SendTimeoutError, bounded, current, spawn, suspend_timeout, yield_now,
};

#[test]
fn a_wait_that_nobody_ends_ends_at_its_limit() {
    let begin = Instant::now();
    on_virtual_time(|| {
        let lock = Arc::new(Lock::new(()));
        let (sender, receiver) = bounded::<u32>(0);
        assert!(!Semaphore::new(0).acquire_timeout(MINUTE));
        assert!(Barrier::new(2).wait_timeout(MINUTE).is_none());
        assert!(!suspend_timeout(MINUTE));
        assert_eq!(
            receiver.recv_timeout(MINUTE),
            Err(RecvTimeoutError::Timeout)
        );
        let sent = sender.send_timeout(7, MINUTE);
        assert_eq!(sent, Err(SendTimeoutError::Timeout(7)));
        let holder = {
            let lock = Arc::clone(&lock);
            spawn(move || {
                let _guard = lock.lock().unwrap();
                sleep(HOUR);
            })
        };
        yield_now();
        sleep(Duration::from_secs(1));
        assert!(lock.lock_timeout(MINUTE).is_err());
        let holder = holder.join_timeout(MINUTE).unwrap_err();
        assert!(holder.join_timeout(HOUR).unwrap().is_ok());
        assert!(lock.lock_timeout(Duration::ZERO).is_ok());
        let (_, result) = Condvar::new()
            .wait_timeout(lock.lock().unwrap(), MINUTE)
            .unwrap();
        assert!(result.timed_out());
    });
    // Each of the virtual runs sleeps longer.
    assert!(begin.elapsed() < HOUR, "the time was not virtual");
}

#[test]
fn a_wait_that_somebody_ends_does_not_wait_for_its_limit() {
    on_virtual_time(|| {
        let lock = Arc::new((Lock::new(0), Condvar::new()));
        let (sender, receiver) = bounded(0);
        let permits = Arc::new(Semaphore::new(0));
        let barrier = Arc::new(Barrier::new(2));
        let main = current();
        let other = {
            let (lock, permits, barrier) = (
                Arc::clone(&lock),
                Arc::clone(&permits),
                Arc::clone(&barrier),
            );
            spawn(move || {
                permits.release(1);
                barrier.wait();
                sender.send_timeout(7, MINUTE).unwrap();
                main.resume();
                let mut value = lock.0.lock_timeout(MINUTE).unwrap();
                *value = 1;
                drop(lock.1.signal(value));
            })
        };
        assert!(permits.acquire_timeout(MINUTE));
        assert!(barrier.wait_timeout(MINUTE).is_some());
        assert_eq!(receiver.recv_timeout(MINUTE), Ok(7));
        assert!(suspend_timeout(MINUTE));
        let value = lock.0.lock().unwrap();
        let waited = lock
            .1
            .wait_timeout_while(value, MINUTE, |value| *value == 0);
        let (value, result) = waited.unwrap();
        assert_eq!((*value, result.timed_out()), (1, false));
        drop(value);
        assert!(other.join_timeout(MINUTE).unwrap().is_ok());
        // Nothing is left that would end a later wait.
        assert!(!suspend_timeout(HOUR));
    });
}

#[test]
fn a_barrier_forgets_the_threads_that_left() {
    on_virtual_time(|| {
        let barrier = Arc::new(Barrier::new(2));
        assert!(barrier.wait_timeout(MINUTE).is_none());
        let other = {
            let barrier = Arc::clone(&barrier);
            spawn(move || barrier.wait_timeout(MINUTE))
        };
        yield_now();
        let mine = barrier.wait();
        let others = other.join().unwrap().unwrap();
        assert_ne!(mine.is_leader(), others.is_leader());
    });
}

#[test]
fn a_thread_that_gives_up_takes_its_priority_back() {
    on_virtual_time(|| {
        let locks: [_; 2] =
            std::array::from_fn(|_| Arc::new(Lock::with_protocol((), Protocol::Inheritance)));
        // The first thread holds lock 0; the second one holds lock 1 and waits for lock 0.
        let green = |work: Box<dyn FnOnce() + Send>| {
            Builder::new()
                .priority(Priority::Green)
                .spawn(work)
                .unwrap()
        };
        let first = {
            let lock = Arc::clone(&locks[0]);
            green(Box::new(move || {
                let _guard = lock.lock().unwrap();
                sleep(HOUR);
            }))
        };
        sleep(MINUTE);
        let second = {
            let locks = locks.clone();
            green(Box::new(move || {
                let _guard = locks[1].lock().unwrap();
                drop(locks[0].lock().unwrap());
            }))
        };
        sleep(MINUTE);
        let priorities = || (first.thread().priority(), second.thread().priority());
        assert_eq!(priorities(), (Priority::Green, Priority::Green));
        let red = {
            let lock = Arc::clone(&locks[1]);
            let wait = move || assert!(lock.lock_timeout(2 * MINUTE).is_err());
            Builder::new().priority(Priority::Red).spawn(wait).unwrap()
        };
        sleep(MINUTE);
        assert_eq!(priorities(), (Priority::Red, Priority::Red));
        red.join().unwrap();
        assert_eq!(priorities(), (Priority::Green, Priority::Green));
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn a_limit_breaks_a_cycle() {
    on_virtual_time(|| {
        let locks = Arc::new([Lock::new(()), Lock::new(())]);
        let take = |mine: usize, limit: Option<Duration>| {
            let locks = Arc::clone(&locks);
            spawn(move || {
                let _mine = locks[mine].lock().unwrap();
                sleep(MINUTE);
                let theirs = &locks[1 - mine];
                match limit {
                    Some(limit) => theirs.lock_timeout(limit).is_ok(),
                    None => theirs.lock().is_ok(),
                }
            })
        };
        let (patient, hasty) = (take(0, None), take(1, Some(MINUTE)));
        assert!(!hasty.join().unwrap());
        assert!(patient.join().unwrap());
    });
}

/// A thread that once waited with a limit, and then without one, is part of a cycle again.
#[test]
fn a_limit_belongs_to_one_wait() {
    static MONITOR: (Lock<()>, Condvar) = (Lock::new(()), Condvar::new());
    static OTHER: Lock<()> = Lock::new(());
    let reported = spawn_and_fail(|| {
        let guard = MONITOR.0.lock().unwrap();
        let waiter = spawn(|| {
            assert!(MONITOR.0.lock_timeout(MINUTE).is_err());
            let _other = OTHER.lock().unwrap();
            drop(MONITOR.1.wait(MONITOR.0.lock().unwrap()).unwrap());
        });
        sleep(2 * MINUTE);
        drop(guard);
        sleep(MINUTE);
        let guard = MONITOR.0.lock().unwrap();
        MONITOR.1.notify(&guard);
        // The waiter waits for this thread by now.
        let cycle = uthread::catch_unwind(|| drop(OTHER.lock()));
        drop(guard);
        waiter.join().unwrap();
        std::panic::resume_unwind(cycle.unwrap_err());
    });
    assert!(reported.contains("deadlock"), "{reported}");
}

#[test]
fn locking_twice_is_misuse_with_a_limit_too() {
    let misuse = spawn_and_fail(|| {
        let lock = Lock::new(());
        let _guard = lock.lock().unwrap();
        drop(lock.lock_timeout(MINUTE));
    });
    assert!(misuse.contains("locks a lock that it holds"), "{misuse}");
}

fn spawn_and_fail(work: fn()) -> String {
    virtual_time(1).run(|| message(&*spawn(work).join().unwrap_err()))
}

#[test]
fn timers_end_waits_on_several_workers_and_next_to_a_thread_that_computes() {
    let limit = Duration::from_millis(2);
    for runtime in [
        Runtime::builder().build().unwrap(),
        Runtime::builder().workers(2).build().unwrap(),
        preemptive(Duration::from_micros(200)).build().unwrap(),
    ] {
        runtime.run(|| {
            let permits = Arc::new(Semaphore::new(0));
            let waiters: Vec<_> = (0..100)
                .map(|_| {
                    let permits = Arc::clone(&permits);
                    spawn(move || {
                        let begin = Instant::now();
                        assert!(!permits.acquire_timeout(limit));
                        assert!(begin.elapsed() >= limit);
                    })
                })
                .collect();
            yield_now();
            let begin = Instant::now();
            while begin.elapsed() < 2 * limit {
                std::hint::spin_loop();
            }
            for waiter in waiters {
                waiter.join().unwrap();
            }
        });
    }
}

/// Step of a thread in the races below; times are in ns.
#[derive(Clone, Debug)]
enum Step {
    /// Takes a permit, or gives up after so long.
    Acquire {
        limit_ns: u64,
    },
    /// Adds a permit.
    Release,
    /// Sends, or gives up.
    Send {
        limit_ns: u64,
    },
    /// Receives, or gives up.
    Receive {
        limit_ns: u64,
    },
    /// Holds the lock for so long, if it gets it in time.
    Hold {
        limit_ns: u64,
        hold_ns: u64,
    },
    /// Waits in the monitor for one unit, or gives up.
    Take {
        limit_ns: u64,
    },
    /// Brings one unit into the monitor by Hoare's signal.
    Bring,
    Sleep {
        ns: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        time_ns().prop_map(|limit_ns| Step::Acquire { limit_ns }),
        Just(Step::Release),
        time_ns().prop_map(|limit_ns| Step::Send { limit_ns }),
        time_ns().prop_map(|limit_ns| Step::Receive { limit_ns }),
        (time_ns(), time_ns()).prop_map(|(limit_ns, hold_ns)| Step::Hold { limit_ns, hold_ns }),
        time_ns().prop_map(|limit_ns| Step::Take { limit_ns }),
        Just(Step::Bring),
        time_ns().prop_map(|ns| Step::Sleep { ns }),
    ]
}

fn run_step(world: &World, step: &Step) {
    let limit = Duration::from_nanos;
    match *step {
        Step::Acquire { limit_ns } => {
            if world.permits.acquire_timeout(limit(limit_ns)) {
                world.acquired.bump();
            }
        }
        Step::Release => world.release(),
        Step::Send { limit_ns } => {
            if world.sender.send_timeout(1, limit(limit_ns)).is_ok() {
                world.sent.bump();
            }
        }
        Step::Receive { limit_ns } => {
            if world.receiver.recv_timeout(limit(limit_ns)).is_ok() {
                world.received.bump();
            }
        }
        Step::Hold { limit_ns, hold_ns } => {
            if let Ok(value) = world.lock.lock_timeout(limit(limit_ns)) {
                world.hold(value, sleep, hold_ns);
            }
        }
        Step::Take { limit_ns } => {
            let mut units = world.monitor.0.lock().unwrap();
            if *units == 0 {
                let waited = world.monitor.1.wait_timeout(units, limit(limit_ns));
                let result;
                (units, result) = waited.unwrap();
                assert!(
                    *units > 0 || result.timed_out(),
                    "a Hoare signal finds its waiter as it was"
                );
            }
            if *units > 0 {
                *units -= 1;
                world.taken.bump();
            }
        }
        Step::Bring => world.bring(),
        Step::Sleep { ns } => sleep(limit(ns)),
    }
}

/// Runs the programs and checks that everything granted was taken exactly once.
fn execute(
    programs: &[Vec<Step>],
    capacity: usize,
    barging: bool,
    runtime: &Runtime,
) -> Vec<usize> {
    let world = World::new(capacity, barging);
    let left = runtime.run(|| {
        let start = |steps: Vec<Step>| {
            let world = Arc::clone(&world);
            spawn(move || steps.iter().for_each(|step| run_step(&world, step)))
        };
        let threads: Vec<_> = programs.iter().cloned().map(start).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        world.take_left()
    });
    world.check(&left)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_is_granted_twice(
        programs in programs(step()),
        capacity in 0..3usize,
        barging in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let first = execute(&programs, capacity, barging, &virtual_time(seed));
        let second = execute(&programs, capacity, barging, &virtual_time(seed));
        prop_assert_eq!(first, second);
    }

    #[test]
    fn nothing_is_lost_on_two_workers(
        programs in programs(step()),
        capacity in 0..3usize,
        barging in any::<bool>(),
    ) {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        execute(&programs, capacity, barging, &runtime);
    }
}
