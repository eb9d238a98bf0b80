//! The parts that these benchmarks share: a clock, a median and a table.

#![allow(dead_code, reason = "each benchmark uses its own part")]

use std::time::{Duration, Instant};

use uthread::Runtime;

/// Rounds of each measurement. The table shows the median, the lowest and the highest wall time,
/// and the lowest processor time of all threads, which other programs disturb less.
const ROUNDS: usize = 11;

/// The runtime to measure: preemption on, slices of 1 ms. Priorities do not decay: a thread above
/// all others would yield to none, and a run with fewer switches would look faster.
pub fn preemptive() -> Runtime {
    // SAFETY: the benchmarks share nothing through thread-locals of the kernel thread.
    let builder = unsafe { Runtime::builder().slice(Duration::from_millis(1)) };
    let builder = builder.decay(false);
    builder.build().expect("threads can be preempted here")
}

pub fn head(title: &str) {
    println!(
        "\n{title:44} {:>10} {:>10} {:>10} {:>10}",
        "median", "lowest", "highest", "processor"
    );
}

/// Processor time of all threads of this process.
fn processor_time() -> Duration {
    // SAFETY: plain data, for which zeros are valid; the call writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let duration = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

/// True if the command line names this row, by a part of its name, or names none.
fn asked_for(name: &str) -> bool {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|part| !part.starts_with("--"))
        .peekable();
    wanted.peek().is_none() || wanted.any(|part| name.contains(&part))
}

/// Measures `work`, which performs this many operations, and prints a line in ns per operation.
pub fn measure(name: &str, operations: u64, mut work: impl FnMut()) {
    measure_in_turn(operations, &mut [(name, &mut work)]);
}

/// Like [`measure`], for several candidates to compare: each runs once in every round.
pub fn measure_in_turn(operations: u64, peers: &mut [(&str, &mut dyn FnMut())]) {
    if !peers.iter().any(|(name, _)| asked_for(name)) {
        return;
    }
    let mut times = vec![Vec::new(); peers.len()];
    let mut processor = vec![Duration::MAX; peers.len()];
    for (_, work) in peers.iter_mut() {
        work();
    }
    for _ in 0..ROUNDS {
        for (((_, work), times), processor) in peers.iter_mut().zip(&mut times).zip(&mut processor)
        {
            let (begin, before) = (Instant::now(), processor_time());
            work();
            times.push(begin.elapsed().as_nanos() as f64 / operations as f64);
            *processor = (*processor).min(processor_time().saturating_sub(before));
        }
    }
    for (((name, _), times), processor) in peers.iter().zip(&mut times).zip(processor) {
        let processor = processor.as_nanos() as f64 / operations as f64;
        times.sort_by(f64::total_cmp);
        let (median, lowest, highest) = (times[ROUNDS / 2], times[0], times[ROUNDS - 1]);
        println!("{name:44} {median:10.2} {lowest:10.2} {highest:10.2} {processor:10.2}");
    }
}

/// True if `cargo bench` started the program, and not a test run.
pub fn wanted() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
