//! Lengths of slices, and times of ticks: `cargo bench -p uthread --bench slices`.
//!
//! Two threads read the processor's counter for as long as they may. A slice is the time from a thread's first
//! reading to its last before the other ran; a tick, with its switch, the time from then to the other's first.

#![expect(
    unsafe_code,
    reason = "the parts that the benchmarks share measure processor time"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use uthread::{Runtime, spawn};

/// Slices of each row.
const SLICES: u32 = 400;

/// A counter that is read without a call: a tick inside a library is deferred.
fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has the instruction.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: it only reads the counter, which Linux lets programs do.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
        count
    }
}

/// Counts of the processor's counter in one ns.
fn counts_in_ns() -> f64 {
    let (begin, before) = (Instant::now(), counter());
    while begin.elapsed() < Duration::from_millis(50) {}
    (counter() - before) as f64 / begin.elapsed().as_nanos() as f64
}

/// Times in counts.
#[derive(Default)]
struct Seen {
    slices: Vec<f64>,
    ticks: Vec<f64>,
}

/// Reads the counter for this number of counts, and writes each reading to `mine`. Where the other thread has written
/// to `theirs`, it ran since the last reading.
fn watch(mine: &AtomicU64, theirs: &AtomicU64, counts: u64) -> Seen {
    let mut seen = Seen::default();
    seen.slices.reserve(2 * SLICES as usize);
    seen.ticks.reserve(2 * SLICES as usize);
    let start = counter();
    let (mut began, mut before) = (start, start);
    let mut others = theirs.load(Ordering::Relaxed);
    loop {
        let now = counter();
        mine.store(now, Ordering::Relaxed);
        let latest = theirs.load(Ordering::Relaxed);
        if latest != others {
            // The tick came after `now` was read, or before.
            let resumed = counter();
            let ended = if now < latest { now } else { before };
            seen.slices.push((ended - began) as f64);
            seen.ticks.push((resumed - latest) as f64);
            (began, others) = (resumed, latest);
        }
        if now - start > counts {
            return seen;
        }
        before = now;
    }
}

fn row(slice: Duration, counts_in_ns: f64) {
    // SAFETY: the threads share nothing through thread-locals of the kernel thread.
    let builder = unsafe { Runtime::builder().slice(slice) };
    let runtime = builder.decay(false).build();
    let counts = ((slice * SLICES).as_nanos() as f64 * counts_in_ns) as u64;
    let mut seen = runtime.expect("threads can be preempted here").run(|| {
        let last: Arc<[AtomicU64; 2]> = Arc::default();
        let other = {
            let last = Arc::clone(&last);
            spawn(move || watch(&last[0], &last[1], counts))
        };
        let mut seen = watch(&last[1], &last[0], counts);
        let more = other.join().expect("no panic");
        seen.slices.extend(more.slices);
        seen.ticks.extend(more.ticks);
        seen
    });
    let us = |times: &mut Vec<f64>, percent: usize| {
        times.sort_by(f64::total_cmp);
        times[times.len() * percent / 100] / counts_in_ns / 1000.0
    };
    println!(
        "{:>10} {:>12.1} {:>12.1} {:>12.2} {:>12.2} {:>8}",
        slice.as_micros(),
        us(&mut seen.slices, 50),
        us(&mut seen.slices, 99),
        us(&mut seen.ticks, 50),
        us(&mut seen.ticks, 99),
        seen.slices.len(),
    );
}

fn main() {
    if !common::wanted() {
        return;
    }
    println!(
        "{:>10} {:>12} {:>12} {:>12} {:>12} {:>8}",
        "asked, us", "slice, p50", "p99", "tick, p50", "p99", "slices"
    );
    let counts_in_ns = counts_in_ns();
    for slice_us in [100, 1000, 10_000] {
        row(Duration::from_micros(slice_us), counts_in_ns);
    }
}
