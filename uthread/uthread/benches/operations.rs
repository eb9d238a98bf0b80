//! Cost of thread operations: `cargo bench -p uthread --bench operations [PART_OF_A_NAME]...`.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{head, measure, preemptive, wanted};
use uthread::{
    Condvar, Lock, Priority, Protocol, Runtime, Semaphore, SpinLock, bounded, no_preempt, spawn,
    statistics, yield_now,
};

fn join_all(threads: impl IntoIterator<Item = uthread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("no panic");
    }
}

fn switches() {
    for threads in [2, 10, 100, 1000, 10_000] {
        let (total, each) = (1_000_000, 1_000_000 / threads);
        measure(&format!("yield, {threads} threads"), total, || {
            let work = move || (0..each).for_each(|_| yield_now());
            join_all((0..threads).map(|_| spawn(work)).collect::<Vec<_>>());
        });
    }
    measure("create and join, stack reused", 100_000, || {
        join_all((0..100_000).map(|_| spawn(|| {})));
    });
}

fn locks() {
    const N: u64 = 1_000_000;
    for (name, protocol) in [
        ("Lock, alone", Protocol::None),
        ("Lock with inheritance, alone", Protocol::Inheritance),
        ("Lock with ceiling, alone", Protocol::Ceiling(Priority::Red)),
    ] {
        let lock = Lock::with_protocol(0u64, protocol);
        let add = || *lock.lock().expect("no panic") += 1;
        measure(name, N, || (0..N).for_each(|_| add()));
    }
    let spin = SpinLock::new(0u64);
    measure("SpinLock, alone", N, || {
        for _ in 0..N {
            *spin.lock() += 1;
        }
    });
    let spin = SpinLock::holding_preemption_off(0u64);
    measure("SpinLock holding preemption off", N, || {
        for _ in 0..N {
            *spin.lock() += 1;
        }
    });
    measure("no_preempt guard", N, || {
        for _ in 0..N {
            drop(no_preempt());
        }
    });
    let semaphore = Semaphore::new(1);
    measure("semaphore, alone", N, || {
        for _ in 0..N {
            semaphore.acquire();
            semaphore.release(1);
        }
    });
    measure("Lock, 99 threads, 10 000 times each", 990_000, || {
        contended(Lock::new(0));
    });
    measure("Hoare: signal and wait, a round", 100_000, hoare);
    measure("semaphores, a round of two threads", 100_000, semaphores);
    for room in [0, 1, 100] {
        let name = format!("channel with room for {room}, a value");
        measure(&name, 100_000, || channel(room));
    }
}

fn contended(lock: Lock<u64>) {
    let lock = Arc::new(lock);
    let add = || {
        let lock = Arc::clone(&lock);
        spawn(move || (0..10_000).for_each(|_| *lock.lock().expect("no panic") += 1))
    };
    join_all((0..99).map(|_| add()).collect::<Vec<_>>());
    assert_eq!(*lock.lock().expect("no panic"), 990_000);
}

fn hoare() {
    let monitor = Arc::new((Lock::new(false), Condvar::new()));
    let waiter = {
        let monitor = Arc::clone(&monitor);
        spawn(move || {
            let mut over = monitor.0.lock().expect("no panic");
            while !*over {
                over = monitor.1.wait(over).expect("no panic");
            }
        })
    };
    yield_now();
    let mut over = monitor.0.lock().expect("no panic");
    for _ in 0..100_000 {
        over = monitor.1.signal(over).expect("no panic");
    }
    *over = true;
    drop(monitor.1.signal(over));
    join_all([waiter]);
}

fn semaphores() {
    let pair = Arc::new((Semaphore::new(0), Semaphore::new(0)));
    let other = {
        let pair = Arc::clone(&pair);
        spawn(move || {
            for _ in 0..100_000 {
                pair.0.acquire();
                pair.1.release(1);
            }
        })
    };
    for _ in 0..100_000 {
        pair.0.release(1);
        pair.1.acquire();
    }
    join_all([other]);
}

/// One thread sends to another.
fn channel(room: usize) {
    let (sender, receiver) = bounded(room);
    let other = spawn(move || {
        for value in 0..100_000u64 {
            sender.send(value).expect("the receiver waits");
        }
    });
    assert_eq!(receiver.iter().sum::<u64>(), 100_000 * 99_999 / 2);
    join_all([other]);
}

/// Measures the actual slices of two threads that only compute.
fn preemption() {
    const TIME: Duration = Duration::from_millis(500);
    /// Each thread reads the clock continuously. A gap this long means that the other thread ran.
    const GAP: Duration = Duration::from_micros(300);
    let watch = || {
        let (start, mut slices) = (Instant::now(), Vec::with_capacity(10_000));
        let (mut began, mut last) = (start, start);
        while last - start < TIME {
            let now = Instant::now();
            if now - last > GAP {
                slices.push((last - began).as_nanos() as f64 / 1e6);
                began = now;
            }
            last = now;
        }
        slices
    };
    let other = spawn(watch);
    let mut slices = watch();
    slices.extend(other.join().expect("no panic"));
    slices.sort_by(f64::total_cmp);
    let share = |percent| slices[slices.len() * percent / 100];
    println!(
        "slice of 1 ms between two threads that compute: {:.3} ms (p5 {:.3}, p95 {:.3})",
        share(50),
        share(5),
        share(95)
    );
    let begin = statistics();
    let time = Instant::now();
    let compute = || {
        for i in 0..400_000_000u64 {
            black_box(&i);
        }
    };
    let other = spawn(compute);
    compute();
    join_all([other]);
    let (time, end) = (time.elapsed(), statistics());
    println!(
        "computing for {time:.2?}: {} preemptions, {} ticks taken, {} deferred",
        end.preemptions - begin.preemptions,
        end.ticks_taken - begin.ticks_taken,
        end.ticks_deferred - begin.ticks_deferred,
    );
}

fn several() {
    let runtime = Runtime::builder()
        .workers(2)
        .build()
        .expect("nothing special is asked for");
    runtime.run(|| {
        measure("2 workers: Lock, alone", 1_000_000, || {
            let lock = Lock::new(0u64);
            (0..1_000_000).for_each(|_| *lock.lock().expect("no panic") += 1);
        });
        measure("2 workers: Lock, 99 threads", 990_000, || {
            contended(Lock::new(0));
        });
        measure("2 workers: Lock::fifo, alone", 1_000_000, || {
            let lock = Lock::fifo(0u64);
            (0..1_000_000).for_each(|_| *lock.lock().expect("no panic") += 1);
        });
        measure("2 workers: Lock::fifo, 99 threads", 990_000, || {
            contended(Lock::fifo(0));
        });
        measure("2 workers: create and join 1000 at a time", 100_000, || {
            for _ in 0..100 {
                join_all((0..1000).map(|_| spawn(|| {})).collect::<Vec<_>>());
            }
        });
    });
}

fn main() {
    if !wanted() {
        return;
    }
    head("ns an operation, preemption on, slice 1 ms");
    preemptive().run(|| {
        switches();
        locks();
    });
    several();
    println!();
    preemptive().run(preemption);
}
