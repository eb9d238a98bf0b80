//! All features at once under short slices. Takes a few seconds; `UTHREAD_STRESS_SECONDS=600` runs
//! longer.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::alloc::System;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{Random, preemptive};
use uthread::{
    Builder, Condvar, GuardedAlloc, Lock, Priority, Protocol, Semaphore, SpinLock, spawn, yield_now,
};

#[global_allocator]
static ALLOCATOR: GuardedAlloc<System> = GuardedAlloc::new(System);

/// Message of the panics that the test causes at random.
const BY_LOT: &str = "by lot";

struct World {
    locks: [Lock<u64>; 3],
    spin: SpinLock<u64>,
    monitor: (Lock<u64>, Condvar),
    permits: Semaphore,
    file: std::fs::File,
    sections: AtomicU64,
}

fn stress(workers: usize, time: Duration) {
    let runtime = preemptive(Duration::from_micros(50))
        .workers(workers)
        .build()
        .unwrap();
    let world = Arc::new(World {
        locks: [
            Lock::new(0),
            Lock::with_protocol(0, Protocol::Inheritance),
            Lock::with_protocol(0, Protocol::Ceiling(Priority::Red)),
        ],
        spin: SpinLock::new(0),
        monitor: (Lock::new(0), Condvar::new()),
        permits: Semaphore::new(3),
        file: tempfile::tempfile().unwrap(),
        sections: AtomicU64::new(0),
    });
    let end = Instant::now() + time;
    runtime.run(|| {
        let threads: Vec<_> = (1..=16u64)
            .map(|seed| {
                let world = Arc::clone(&world);
                let priority =
                    [Priority::Green, Priority::Orange, Priority::Red][seed as usize % 3];
                let builder = Builder::new().priority(priority).stack_size(256 << 10);
                builder.spawn(move || live(&world, seed, end)).unwrap()
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let total: u64 = world.locks.iter().map(|lock| *lock.lock().unwrap()).sum();
        assert_eq!(
            total + *world.spin.lock(),
            world.sections.load(Ordering::Relaxed)
        );
    });
    let preempted = runtime.statistics().ticks_taken > 0;
    assert!(preempted || cfg!(any(windows, uthread_tsan)));
}

fn only_unexpected_panics_are_reported() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some(BY_LOT) {
            hook(panic);
        }
    }));
}

fn live(world: &Arc<World>, seed: u64, end: Instant) {
    let mut random = Random(seed * 0x9e37_79b9);
    while Instant::now() < end {
        match random.below(10) {
            0..3 => {
                let lock = &world.locks[random.below(3) as usize];
                let mut guard = lock.lock().unwrap();
                *guard += 1;
                if random.below(4) == 0 {
                    yield_now();
                }
                world.sections.fetch_add(1, Ordering::Relaxed);
            }
            3 => {
                *world.spin.lock() += 1;
                world.sections.fetch_add(1, Ordering::Relaxed);
            }
            4 => {
                let depth = random.below(200);
                let thread = spawn(move || {
                    assert!(!depth.is_multiple_of(3), "{BY_LOT}");
                    deep(depth)
                });
                assert_eq!(thread.join().is_err(), depth.is_multiple_of(3));
            }
            5 => {
                let mut text = String::new();
                (0..random.below(50)).for_each(|i| write!(text, "{i:?} {:.3} ", i as f64).unwrap());
                assert_eq!(text.matches('.').count() * 2, text.matches(' ').count());
            }
            6 => {
                let place = seed * 4096;
                let block = vec![seed as u8; 512];
                assert_eq!(
                    uthread::io::write_at(&world.file, &block, place).unwrap(),
                    512
                );
                let mut back = vec![0; 512];
                assert_eq!(
                    uthread::io::read_at(&world.file, &mut back, place).unwrap(),
                    512
                );
                assert_eq!(block, back);
            }
            7 => {
                let (lock, changed) = &world.monitor;
                let mut count = lock.lock().unwrap();
                *count += 1;
                drop(changed.signal(count).unwrap());
            }
            8 => {
                world.permits.acquire();
                uthread::io::sleep(Duration::from_micros(random.below(100)));
                world.permits.release(1);
            }
            _ => {
                let vectors: Vec<f64> = (0..1000).map(f64::from).collect();
                let sum: f64 = vectors.iter().map(|x| x * 0.5).sum();
                assert!((sum - 249_750.0).abs() < 1e-6);
            }
        }
    }
}

fn deep(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 8]);
    if depth == 0 {
        0
    } else {
        deep(depth - 1) + room[3] / depth
    }
}

#[test]
fn everything_at_once() {
    let seconds = std::env::var("UTHREAD_STRESS_SECONDS").ok();
    let seconds: f64 = seconds.map_or(2.0, |text| text.parse().unwrap());
    only_unexpected_panics_are_reported();
    for workers in [1, 2] {
        stress(workers, Duration::from_secs_f64(seconds / 2.0));
    }
}
