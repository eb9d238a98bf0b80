//! Cancelled waits. Most run on virtual time, where a minute passes at once.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::world::{World, programs, time_ns, whole};
use common::{MINUTE, everywhere, virtual_time};
use proptest::prelude::*;
use uthread::io::sleep;
use uthread::{
    Barrier, Cancelled, Condvar, JoinHandle, Lock, RecvTimeoutError, Runtime, Semaphore,
    SendTimeoutError, Thread, bounded, current, spawn, suspend, yield_now,
};

fn was_cancelled<T>(thread: JoinHandle<T>) -> bool {
    thread
        .join()
        .is_err_and(|payload| payload.is::<Cancelled>())
}

/// Starts a thread that waits, and cancels it before, while, or after it begins to.
fn cancels(wait: impl FnOnce() + Send + 'static) -> bool {
    let waiter = spawn(wait);
    yield_now();
    waiter.cancel();
    was_cancelled(waiter)
}

#[test]
fn every_wait_can_be_cancelled() {
    everywhere(|| {
        let held = Arc::new([Lock::fifo(()), Lock::new(())]);
        let guards = (held[0].lock().unwrap(), held[1].lock().unwrap());
        for number in 0..2 {
            let held = Arc::clone(&held);
            assert!(cancels(move || drop(held[number].lock())));
        }
        drop(guards);
        assert!(held.iter().all(|lock| lock.try_lock().is_ok()));
        assert!(cancels(|| Semaphore::new(0).acquire()));
        assert!(cancels(|| _ = Barrier::new(2).wait()));
        assert!(cancels(suspend));
        assert!(cancels(|| sleep(Duration::MAX)));
        assert!(cancels(|| loop {
            yield_now();
        }));
        assert!(cancels(|| {
            let (sender, receiver) = bounded::<u32>(0);
            let _ = receiver.recv();
            drop(sender);
        }));
        assert!(cancels(|| {
            let (sender, receiver) = bounded(0);
            let _ = sender.send(7);
            drop(receiver);
        }));
        let monitor = Arc::new((Lock::new(()), Condvar::new()));
        let inside = Arc::clone(&monitor);
        assert!(cancels(move || {
            drop(inside.1.wait(inside.0.lock().unwrap()));
        }));
        // The waiter has left without the lock.
        assert!(!monitor.0.is_poisoned() && monitor.0.try_lock().is_ok());
        let (sender, receiver) = bounded::<()>(0);
        let other = spawn(move || receiver.recv());
        assert!(cancels(move || drop(other.join())));
        drop(sender); // the thread that was to be joined is detached, and ends
    });
}

#[test]
fn what_returns_an_error_returns_it() {
    everywhere(|| {
        let thread = spawn(|| {
            let (sender, receiver) = bounded::<u32>(0);
            current().cancel();
            let got = receiver.recv_timeout(MINUTE);
            assert_eq!(got, Err(RecvTimeoutError::Cancelled));
            current().cancel();
            let sent = sender.send_timeout(7, MINUTE);
            assert_eq!(sent, Err(SendTimeoutError::Cancelled(7)));
            sleep(Duration::from_nanos(1)); // one request ends one wait
        });
        thread.join().unwrap();
    });
}

#[test]
fn destructors_may_wait() {
    struct Waits(Arc<AtomicUsize>);
    impl Drop for Waits {
        fn drop(&mut self) {
            current().cancel(); // is not obeyed while the thread unwinds
            yield_now();
            sleep(MINUTE / 60_000);
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let count = Arc::new(AtomicUsize::new(0));
    for seed in 0..20 {
        virtual_time(seed).run(|| {
            let waits = Waits(Arc::clone(&count));
            assert!(cancels(move || {
                let _waits = waits;
                suspend();
            }));
        });
    }
    assert_eq!(count.load(Ordering::Relaxed), 20);
}

#[test]
fn a_request_waits_for_a_wait_and_ends_only_one() {
    everywhere(|| {
        let thread = spawn(|| {
            let me = current();
            me.cancel();
            me.cancel();
            let first = uthread::catch_unwind(|| sleep(MINUTE));
            assert!(first.unwrap_err().is::<Cancelled>());
            sleep(Duration::from_nanos(1));
            me.resume();
            suspend(); // does not wait
            7
        });
        assert_eq!(thread.join().unwrap(), 7);
        let ended = spawn(|| ());
        let handle = ended.thread();
        ended.join().unwrap();
        handle.cancel();
    });
}

#[test]
fn a_sleeping_worker_wakes_for_a_request() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let threads: Vec<_> = (0..100).map(|_| spawn(suspend)).collect();
        sleep(Duration::from_millis(5)); // both workers are idle
        for thread in &threads {
            thread.cancel();
        }
        assert!(threads.into_iter().all(was_cancelled));
    });
}

/// Step of a thread in the races below; times are in ns.
#[derive(Clone, Debug)]
enum Step {
    /// Cancels a thread by number.
    Cancel(usize),
    Acquire,
    Release,
    Send,
    Receive,
    Hold {
        hold_ns: u64,
    },
    /// Waits in the monitor for one unit.
    Take,
    /// Brings one unit into the monitor by Hoare's signal.
    Bring,
    Sleep {
        ns: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..8usize).prop_map(Step::Cancel),
        1 => Just(Step::Acquire),
        1 => Just(Step::Release),
        1 => Just(Step::Send),
        1 => Just(Step::Receive),
        1 => time_ns().prop_map(|hold_ns| Step::Hold { hold_ns }),
        1 => Just(Step::Take),
        1 => Just(Step::Bring),
        1 => time_ns().prop_map(|ns| Step::Sleep { ns }),
    ]
}

fn run_step(world: &World, step: &Step, threads: &Lock<Vec<Thread>>) {
    match *step {
        Step::Cancel(number) => {
            let threads = threads.lock().unwrap();
            if !threads.is_empty() {
                threads[number % threads.len()].cancel();
            }
        }
        Step::Acquire => {
            world.permits.acquire();
            world.acquired.bump();
        }
        Step::Release => world.release(),
        Step::Send => {
            if world.sender.send(1).is_ok() {
                world.sent.bump();
            }
        }
        Step::Receive => {
            if world.receiver.recv().is_ok() {
                world.received.bump();
            }
        }
        Step::Hold { hold_ns } => {
            let mut slept = Ok(());
            let sleep = |time| slept = uthread::catch_unwind(|| sleep(time));
            world.hold(whole(world.lock.lock()), sleep, hold_ns);
            if let Err(payload) = slept {
                std::panic::resume_unwind(payload);
            }
        }
        Step::Take => {
            let mut units = whole(world.monitor.0.lock());
            if *units == 0 {
                units = whole(world.monitor.1.wait(units));
                assert!(*units > 0, "a Hoare signal finds its waiter as it was");
            }
            *units -= 1;
            world.taken.bump();
        }
        Step::Bring => world.bring(),
        Step::Sleep { ns } => sleep(Duration::from_nanos(ns)),
    }
}

/// Runs the programs, whose threads cancel each other. The first thread cancels those that are left.
/// Checks that everything granted was taken exactly once.
fn execute(
    programs: &[Vec<Step>],
    capacity: usize,
    barging: bool,
    runtime: &Runtime,
) -> Vec<usize> {
    let world = World::new(capacity, barging);
    let (left, cancelled) = runtime.run(|| {
        let handles = Arc::new(Lock::new(Vec::new()));
        let start = |steps: Vec<Step>| {
            let (world, handles) = (Arc::clone(&world), Arc::clone(&handles));
            spawn(move || {
                for step in &steps {
                    run_step(&world, step, &handles);
                }
            })
        };
        let threads: Vec<_> = programs.iter().cloned().map(start).collect();
        let mut known = handles.lock().unwrap();
        known.extend(threads.iter().map(JoinHandle::thread));
        drop(known);
        sleep(Duration::from_micros(50));
        let mut cancelled = 0;
        for mut thread in threads {
            let result = loop {
                thread.cancel();
                match thread.join_timeout(Duration::from_micros(50)) {
                    Ok(result) => break result,
                    Err(unfinished) => thread = unfinished,
                }
            };
            if let Err(payload) = result {
                assert!(payload.is::<Cancelled>(), "a check failed");
                cancelled += 1;
            }
        }
        (world.take_left(), cancelled)
    });
    let mut counts = world.check(&left);
    counts.push(cancelled);
    counts
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
