//! When ticks come, counted. Windows has none.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{HOUR, MINUTE, preemptive};
use uthread::io::{Backend, Interest, poll_fd, sleep};
use uthread::{
    Builder, Cancelled, JoinHandle, Priority, Runtime, Semaphore, no_preempt, spawn, statistics,
    yield_now,
};

const SLICE: Duration = Duration::from_micros(200);

/// So long that a worker without anything to do has found that.
const MANY_SLICES: u32 = 200;

fn ticks() -> u64 {
    let statistics = statistics();
    statistics.ticks_taken + statistics.ticks_deferred
}

/// Runs in the C library for at least this time. Each call takes far longer than a slice.
fn in_the_library(time: Duration) {
    const BYTES: usize = 32 << 20;
    let (from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    let began = Instant::now();
    while began.elapsed() < time {
        to.copy_from_slice(black_box(&from));
        black_box(&to);
    }
}

/// Computes without a call of this library until `stop` is set; false if it never is.
fn spin_until(stop: &AtomicBool) -> bool {
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if began.elapsed() > MINUTE {
            return false;
        }
    }
    true
}

/// Computes until the timer has stopped, if it stops.
fn spin_for_many_slices() {
    let began = Instant::now();
    while began.elapsed() < MANY_SLICES * SLICE {
        black_box(());
    }
}

/// Runtimes with one worker and with two, with each mechanism for transfers.
fn runtimes() -> Vec<Runtime> {
    let kinds = [Backend::Auto, Backend::Threads]
        .into_iter()
        .flat_map(|io| [1, 2].map(|workers| (io, workers)));
    kinds
        .map(|(io, workers)| {
            let builder = preemptive(SLICE).io(io).workers(workers);
            builder.build().unwrap()
        })
        .collect()
}

/// A thread that sets `awake` when its pipe has something to read.
fn poller(reader: PipeReader, awake: &Arc<AtomicBool>) -> JoinHandle<()> {
    let awake = Arc::clone(awake);
    spawn(move || {
        poll_fd(&reader, Interest::READABLE).unwrap();
        awake.store(true, Ordering::Relaxed);
    })
}

#[test]
fn a_thread_alone_gets_no_ticks() {
    for runtime in runtimes() {
        runtime.run(|| {
            let (reader, mut writer) = pipe().unwrap();
            let poller = poller(reader, &Arc::default());
            let sleeper = spawn(|| sleep(HOUR));
            for _ in 0..3 {
                // The second worker may be the one that starts them.
                sleep(SLICE);
            }
            spin_for_many_slices();
            let before = ticks();
            spin_for_many_slices();
            in_the_library(MANY_SLICES * SLICE);
            spawn(|| ()).join().unwrap();
            in_the_library(MANY_SLICES * SLICE);
            let came = ticks() - before;
            writer.write_all(b"x").unwrap();
            poller.join().unwrap();
            sleeper.thread().cancel();
            let cancelled = sleeper.join().unwrap_err();
            assert!(cancelled.is::<Cancelled>());
            assert!(came < 20, "{came} ticks came while nothing else was ready");
        });
    }
}

/// Writes into a pipe after many slices, from outside of the runtime.
fn write_later(mut writer: PipeWriter) -> std::thread::JoinHandle<PipeWriter> {
    std::thread::spawn(move || {
        std::thread::sleep(2 * MANY_SLICES * SLICE);
        writer.write_all(b"x").unwrap();
        writer
    })
}

#[test]
fn a_finished_transfer_makes_a_thread_alone_tick() {
    for runtime in runtimes() {
        runtime.run(|| {
            let (reader, writer) = pipe().unwrap();
            let awake = Arc::default();
            let poller = poller(reader, &awake);
            yield_now();
            let writer = write_later(writer);
            assert!(spin_until(&awake), "the transfer was not noticed");
            poller.join().unwrap();
            drop(writer.join());
        });
    }
}

/// The thread looks for finished transfers in the calls, after its ticks have stopped.
#[test]
fn a_finished_transfer_makes_a_thread_tick_that_has_looked_for_it() {
    for runtime in runtimes() {
        runtime.run(|| {
            let (reader, writer) = pipe().unwrap();
            let awake = Arc::default();
            let poller = poller(reader, &awake);
            for _ in 0..3 {
                // The second worker may be the one that starts it.
                sleep(SLICE);
            }
            spin_for_many_slices();
            yield_now();
            yield_now();
            let writer = write_later(writer);
            assert!(spin_until(&awake), "the transfer was not noticed");
            poller.join().unwrap();
            drop(writer.join());
        });
    }
}

#[test]
fn a_time_limit_makes_a_thread_alone_tick() {
    for runtime in runtimes() {
        runtime.run(|| {
            let awake = Arc::new(AtomicBool::new(false));
            let inner = Arc::clone(&awake);
            let sleeper = spawn(move || {
                sleep(2 * MANY_SLICES * SLICE);
                inner.store(true, Ordering::Relaxed);
            });
            yield_now();
            assert!(spin_until(&awake), "the limit was not noticed");
            sleeper.join().unwrap();
        });
    }
}

/// The spinner is in the C library at nearly every tick, since it reads the clock.
#[test]
fn a_sleep_is_not_longer_for_a_long_slice() {
    let runtime = preemptive(HOUR).build().unwrap();
    runtime.run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let spinner = spawn(move || spin_until(&stopped));
        let sleeper = Builder::new().priority(Priority::Red);
        let sleeper = sleeper.spawn(|| (0..5).for_each(|_| sleep(Duration::from_millis(10))));
        sleeper.unwrap().join().unwrap();
        stop.store(true, Ordering::Relaxed);
        assert!(spinner.join().unwrap(), "the sleeps took a minute");
    });
}

#[test]
fn another_worker_makes_a_thread_alone_tick() {
    let runtime = preemptive(SLICE).workers(2).build().unwrap();
    runtime.run(|| {
        let [started, wake, waits, awake] = [(); 4].map(|()| Arc::new(AtomicBool::new(false)));
        let semaphore = Arc::new(Semaphore::new(0));
        // This worker does not take the thread, not even at a tick: the other must, and takes no more.
        let guard = no_preempt();
        let waker = {
            let (semaphore, started, wake) = (
                Arc::clone(&semaphore),
                Arc::clone(&started),
                Arc::clone(&wake),
            );
            spawn(move || {
                let _alone = no_preempt();
                started.store(true, Ordering::Relaxed);
                assert!(spin_until(&wake));
                semaphore.release(1);
            })
        };
        assert!(spin_until(&started), "no worker takes the thread");
        drop(guard);
        let waiter = {
            let (waits, awake) = (Arc::clone(&waits), Arc::clone(&awake));
            spawn(move || {
                waits.store(true, Ordering::Relaxed);
                semaphore.acquire();
                awake.store(true, Ordering::Relaxed);
            })
        };
        while !waits.load(Ordering::Relaxed) {
            yield_now();
        }
        spin_for_many_slices();
        wake.store(true, Ordering::Relaxed);
        assert!(spin_until(&awake), "the wake-up was not noticed");
        waker.join().unwrap();
        waiter.join().unwrap();
    });
}

/// A worker that runs one thread without ticks takes a new thread of another worker, which runs one as well.
#[test]
fn a_new_thread_makes_a_thread_alone_tick() {
    let runtime = preemptive(SLICE).workers(2).build().unwrap();
    runtime.run(|| {
        let [started, stop, ran] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        let guard = no_preempt();
        let other = {
            let (started, stop) = (Arc::clone(&started), Arc::clone(&stop));
            spawn(move || {
                started.store(true, Ordering::Relaxed);
                spin_until(&stop)
            })
        };
        assert!(spin_until(&started), "no worker takes the thread");
        spin_for_many_slices();
        let new = {
            let ran = Arc::clone(&ran);
            spawn(move || ran.store(true, Ordering::Relaxed))
        };
        assert!(spin_until(&ran), "no worker takes the new thread");
        drop(guard);
        stop.store(true, Ordering::Relaxed);
        assert!(other.join().unwrap());
        new.join().unwrap();
    });
}
