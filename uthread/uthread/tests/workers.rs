//! Several kernel threads.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use common::aborts;
use testing as _;
use uthread::{
    Barrier, Kind, Lock, Priority, Protocol, Runtime, SpinLock, bounded, spawn, yield_now,
};

/// Longer than a loaded machine keeps a worker waiting for a processor.
const PATIENCE: Duration = Duration::from_mins(5);

fn kernel_thread() -> ThreadId {
    std::thread::current().id()
}

#[test]
fn unstarted_threads_are_stolen_and_started_ones_stay() {
    let runtime = Runtime::builder().workers(3).build().unwrap();
    let homes = Arc::new(Mutex::new(BTreeSet::new()));
    runtime.run(|| {
        let begun = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..300)
            .map(|_| {
                let (homes, begun) = (Arc::clone(&homes), Arc::clone(&begun));
                spawn(move || {
                    let home = kernel_thread();
                    homes.lock().unwrap().insert(format!("{home:?}"));
                    begun.fetch_add(1, Ordering::Relaxed);
                    // A busy worker does not steal more, so some threads remain for another worker.
                    let started = Instant::now();
                    while homes.lock().unwrap().len() < 2 && started.elapsed() < PATIENCE {
                        yield_now();
                        assert_eq!(kernel_thread(), home);
                    }
                    for _ in 0..100 {
                        yield_now();
                        assert_eq!(kernel_thread(), home);
                    }
                })
            })
            .collect();
        // This worker runs none of them: the others must.
        while begun.load(Ordering::Relaxed) < 2 {
            std::thread::yield_now();
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert!(homes.lock().unwrap().len() > 1);
}

#[test]
fn a_trace_shows_where_threads_were_created_and_ran() {
    let runtime = Runtime::builder().workers(2).trace(1000).build().unwrap();
    let moved = runtime.run(|| {
        let begun = Arc::new(AtomicUsize::new(0));
        let moved = {
            let begun = Arc::clone(&begun);
            spawn(move || begun.fetch_add(1, Ordering::Relaxed))
        };
        // This worker does not run it: the other must.
        while begun.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let id = moved.thread().id();
        moved.join().unwrap();
        id
    });
    let trace = runtime.trace();
    let place = |kind| {
        let mut events = trace.events().iter();
        let event = events.find(|event| event.thread == moved && event.kind == kind);
        event.expect("it is recorded").worker
    };
    assert_ne!(place(Kind::Create), place(Kind::Run));
}

#[test]
fn everything_that_blocks_works_across_workers() {
    for protocol in [
        Protocol::None,
        Protocol::Inheritance,
        Protocol::Ceiling(Priority::Red),
    ] {
        let runtime = Runtime::builder().workers(3).build().unwrap();
        let (sum, rounds) = runtime.run(|| {
            let lock = Arc::new(Lock::with_protocol(0u64, protocol));
            let barrier = Arc::new(Barrier::new(6));
            let (sender, receiver) = bounded(2);
            let threads: Vec<_> = (0..6)
                .map(|i| {
                    let (lock, barrier) = (Arc::clone(&lock), Arc::clone(&barrier));
                    let sender = sender.clone();
                    spawn(move || {
                        for j in 0..200u64 {
                            *lock.lock().unwrap() += 1;
                            if j % 20 == 0 {
                                barrier.wait();
                            }
                            sender.send(i * 1000 + j).unwrap();
                        }
                    })
                })
                .collect();
            drop(sender);
            let sum: u64 = receiver.iter().sum();
            for thread in threads {
                thread.join().unwrap();
            }
            let rounds = *lock.lock().unwrap();
            (sum, rounds)
        });
        assert_eq!((sum, rounds), (200 * 15_000 + 6 * 19_900, 1200));
    }
}

#[test]
fn a_deadlock_is_found_when_the_last_worker_has_nothing_to_do() {
    let test = "a_deadlock_is_found_when_the_last_worker_has_nothing_to_do";
    let output = aborts(test, || {
        let runtime = Runtime::builder().workers(3).build().unwrap();
        runtime.run(|| {
            let (_sender, receiver) = bounded::<u8>(1);
            drop(spawn(uthread::suspend));
            receiver.recv().unwrap();
        });
    });
    assert!(output.contains("'main' waits for a channel"), "{output}");
    assert!(output.contains("thread 4 is suspended"), "{output}");
}

#[test]
fn a_short_run_of_many_workers_ends() {
    let runtime = Runtime::builder().workers(8).build().unwrap();
    for _ in 0..50 {
        assert_eq!(runtime.run(|| spawn(|| 1).join().unwrap()), 1);
    }
}

/// The last sender is dropped while the first `recv` of the channel runs on the other worker.
#[test]
fn a_sender_dropped_at_the_first_receive_ends_it() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        for round in 0..20_000 {
            let (sender, receiver) = bounded::<u32>(1);
            let drops = spawn(move || {
                (0..round % 8).for_each(|_| std::hint::spin_loop());
                drop(sender);
            });
            let waits = spawn(move || receiver.recv());
            drops.join().unwrap();
            assert!(waits.join().unwrap().is_err());
        }
    });
}

/// A sender is cloned while the first `recv` of the channel runs on the other worker.
#[test]
fn a_sender_cloned_at_the_first_receive_still_sends() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        for _ in 0..20_000 {
            let (sender, receiver) = bounded(4);
            let sends = spawn(move || {
                let other = sender.clone();
                drop(sender);
                yield_now();
                other.send(7)
            });
            let waits = spawn(move || receiver.recv());
            sends.join().unwrap().unwrap();
            assert_eq!(waits.join().unwrap(), Ok(7));
        }
    });
}

#[test]
fn ends_that_are_cloned_outside_the_runtime_are_counted() {
    for workers in 1..=2 {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        runtime.run(|| {
            let (sender, receiver) = bounded(4);
            assert!(receiver.try_recv().is_err());
            let clone = || (sender.clone(), receiver.clone());
            let (other_sender, other_receiver) =
                std::thread::scope(|outside| outside.spawn(clone).join().unwrap());
            drop((sender, receiver));
            other_sender.send(7).unwrap();
            assert_eq!(other_receiver.recv(), Ok(7));
            drop(other_sender);
            assert!(other_receiver.recv().is_err());
        });
    }
}

/// Nothing could let the owner run: both are on one worker, and threads switch only where they wait.
#[test]
fn a_spin_lock_of_a_thread_on_the_same_worker_is_misuse() {
    static LOCK: SpinLock<()> = SpinLock::new(());
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let begun = Arc::new(AtomicUsize::new(0));
        let occupy = |begun: Arc<AtomicUsize>| {
            move || {
                begun.store(1, Ordering::Relaxed);
                while begun.load(Ordering::Relaxed) == 1 {
                    std::thread::yield_now();
                }
            }
        };
        // The other worker is busy, so the next thread starts on this one.
        let busy = spawn(occupy(Arc::clone(&begun)));
        while begun.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let held = LOCK.lock();
        let spins = spawn(|| drop(LOCK.lock()));
        yield_now();
        drop(held);
        begun.store(2, Ordering::Relaxed);
        busy.join().unwrap();
        let text = common::message(&*spins.join().unwrap_err());
        assert!(
            text.contains("'main', which cannot run meanwhile"),
            "{text}"
        );
    });
}
