//! Workers without work sleep, and soon: their processor time does not grow. Linux alone has exact clocks
//! for that.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(unsafe_code, reason = "processor clocks of other kernel threads")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::preemptive;
use uthread::{Runtime, no_preempt, spawn};

/// Longer than a loaded machine keeps a worker waiting for a processor.
const PATIENCE: Duration = Duration::from_mins(5);
/// A worker whose processor time does not grow for this time sleeps.
const STANDS_STILL: Duration = Duration::from_millis(5);
/// The processor time in which a worker must find that it has no work.
const SOON: Duration = Duration::from_millis(1);
/// Other programs may lengthen some of the rounds.
const ROUNDS: usize = 20;

/// The processor clock of a kernel thread.
#[derive(Clone, Copy)]
struct ProcessorClock(libc::clockid_t);

impl ProcessorClock {
    fn of_this_kernel_thread() -> Self {
        let mut clock = 0;
        // SAFETY: the calling kernel thread exists, and the pointer is to a local.
        let error = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        assert_eq!(error, 0);
        Self(clock)
    }

    fn now(self) -> Duration {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the pointer is to a local.
        let result = unsafe { libc::clock_gettime(self.0, &raw mut time) };
        assert_eq!(result, 0, "the kernel thread is gone");
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// The processor time that the other worker takes after its last thread, until it sleeps.
fn processor_time_until_asleep() -> Duration {
    let started = Arc::new(AtomicBool::new(false));
    // This worker does not take the thread, not even at a tick: the other must.
    let guard = no_preempt();
    let last = {
        let started = Arc::clone(&started);
        spawn(move || {
            started.store(true, Ordering::Relaxed);
            let clock = ProcessorClock::of_this_kernel_thread();
            (clock, clock.now())
        })
    };
    let begin = Instant::now();
    while !started.load(Ordering::Relaxed) {
        assert!(begin.elapsed() < PATIENCE, "no worker takes the thread");
        std::thread::yield_now();
    }
    drop(guard);
    let (clock, ended) = last.join().unwrap();
    let begin = Instant::now();
    let mut before = clock.now();
    loop {
        // The kernel thread sleeps, and so does not look for work.
        std::thread::sleep(STANDS_STILL);
        let now = clock.now();
        if now == before {
            return now.saturating_sub(ended);
        }
        assert!(begin.elapsed() < PATIENCE, "a worker without work runs on");
        before = now;
    }
}

fn falls_asleep_soon(runtime: &Runtime) {
    let mut times = runtime.run(|| [(); ROUNDS].map(|()| processor_time_until_asleep()));
    times.sort();
    println!(
        "processor time until asleep: {:?} ({:?} to {:?})",
        times[ROUNDS / 2],
        times[0],
        times[ROUNDS - 1]
    );
    assert!(times[0] < SOON, "{times:?}");
}

#[test]
fn a_worker_without_work_sleeps_soon() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    falls_asleep_soon(&runtime);
}

#[test]
fn a_timer_does_not_keep_a_worker_awake() {
    let runtime = preemptive(Duration::from_millis(1)).workers(2).build();
    falls_asleep_soon(&runtime.unwrap());
}
