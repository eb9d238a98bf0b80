//! The same work on one worker and more: `cargo bench -p uthread --bench scaling [PART_OF_A_NAME]...`.
//!
//! Each row is the wall time of one operation of all workers together: half as much on two workers is
//! perfect scaling. A first thread on each worker starts the threads of the yield and of the channels:
//! threads that have started stay where they are.

#![expect(
    unsafe_code,
    reason = "the parts that the benchmarks share measure processor time"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;

use common::{head, measure};
use uthread::{JoinHandle, Lock, Runtime, bounded, spawn, yield_now};

/// Threads of each worker.
const THREADS: u64 = 32;

fn join_all(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("no panic");
    }
}

/// Runs `work` in a thread on each worker. No thread yields before all run, so each needs a worker.
fn on_each_worker(workers: u64, work: impl Fn() + Clone + Send + 'static) {
    let running = Arc::new(AtomicU64::new(0));
    let start = |_| {
        let (running, work) = (Arc::clone(&running), work.clone());
        spawn(move || {
            running.fetch_add(1, Ordering::Relaxed);
            while running.load(Ordering::Relaxed) < workers {
                std::hint::spin_loop();
            }
            work();
        })
    };
    join_all((0..workers).map(start).collect::<Vec<_>>());
}

fn yields(workers: u64) {
    const EACH: u64 = 20_000;
    let work = || {
        let yields = || (0..EACH).for_each(|_| yield_now());
        join_all((0..THREADS).map(|_| spawn(yields)).collect::<Vec<_>>());
    };
    measure(
        &format!("yield, {workers} workers"),
        THREADS * workers * EACH,
        || on_each_worker(workers, work),
    );
}

/// Threads that start and join many each: all on the first worker, so that the others have only what they
/// take from it, or some on each. A further line tells how many of
/// those started ran on another worker.
fn creates(workers: u64) {
    const PARENTS: u64 = 4;
    const ROUNDS: u64 = 25;
    const CHILDREN: u64 = 100;
    fn parents(count: u64, child: fn(ThreadId)) {
        let parent = move || {
            let home = std::thread::current().id();
            for _ in 0..ROUNDS {
                join_all(
                    (0..CHILDREN)
                        .map(|_| spawn(move || child(home)))
                        .collect::<Vec<_>>(),
                );
            }
        };
        join_all((0..count).map(|_| spawn(parent)).collect::<Vec<_>>());
    }
    static AWAY: AtomicU64 = AtomicU64::new(0);
    let count = |home| {
        let away = std::thread::current().id() != home;
        AWAY.fetch_add(u64::from(away), Ordering::Relaxed);
    };

    let threads = PARENTS * workers * ROUNDS * CHILDREN;
    let first = |child| parents(PARENTS * workers, child);
    let each = |child| on_each_worker(workers, move || parents(PARENTS, child));
    let measure_from = |place: &str, start: &dyn Fn(fn(ThreadId))| {
        let name = format!("create and join, from {place}, {workers} workers");
        measure(&name, threads, || start(|_| {}));
        start(count);
        let away = AWAY.swap(0, Ordering::Relaxed) as f64 / threads as f64;
        println!("    of which ran on another worker: {:.0} %", 100.0 * away);
    };
    measure_from("one", &first);
    measure_from("each", &each);
}

/// One lock that all threads of all workers take.
fn locks(workers: u64) {
    const EACH: u64 = 5000;
    let threads = THREADS * workers;
    for (name, new) in [
        ("Lock", Lock::new as fn(u64) -> Lock<u64>),
        ("Lock::fifo", Lock::fifo),
    ] {
        measure(
            &format!("{name}, shared, {workers} workers"),
            threads * EACH,
            || {
                let lock = Arc::new(new(0));
                let add = |_| {
                    let lock = Arc::clone(&lock);
                    spawn(move || (0..EACH).for_each(|_| *lock.lock().expect("no panic") += 1))
                };
                join_all((0..threads).map(add).collect::<Vec<_>>());
                assert_eq!(*lock.lock().expect("no panic"), threads * EACH);
            },
        );
    }
}

/// A pair of threads for each worker, with a channel of its own.
fn channels(workers: u64) {
    const EACH: u64 = 100_000;
    let pair = || {
        let (sender, receiver) = bounded(100);
        let sends = spawn(move || {
            (0..EACH).for_each(|value| sender.send(value).expect("the receiver waits"));
        });
        assert_eq!(receiver.iter().count() as u64, EACH);
        join_all([sends]);
    };
    measure(
        &format!("channel, {workers} workers, a value"),
        workers * EACH,
        || on_each_worker(workers, pair),
    );
}

fn main() {
    if !common::wanted() {
        return;
    }
    head("ns an operation of all workers, wall time");
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    for workers in (0..).map(|power| 1 << power).take_while(|n| *n <= most) {
        let runtime = Runtime::builder().workers(workers).build();
        runtime.expect("nothing special is asked for").run(|| {
            let workers = workers as u64;
            yields(workers);
            creates(workers);
            locks(workers);
            channels(workers);
        });
    }
}
