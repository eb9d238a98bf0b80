//! A clock, a median and a table: all that these benchmarks need.

#![allow(dead_code, reason = "each benchmark uses its own part")]

use std::time::{Duration, Instant};

use uthread::Runtime;

/// Rounds of each measurement; the table shows the median, the lowest and the highest.
const ROUNDS: usize = 11;

/// The runtime that is measured: preemption on, slices of 1 ms. Priorities do not fall: a thread that
/// is above all others would yield to nobody, and the fewest switches would look the fastest.
pub fn preemptive() -> Runtime {
    // SAFETY: the benchmarks share nothing through thread-locals of the kernel thread.
    let builder = unsafe { Runtime::builder().slice(Duration::from_millis(1)) };
    let builder = builder.decay(false);
    builder.build().expect("threads can be preempted here")
}

pub fn head(title: &str) {
    println!(
        "\n{title:44} {:>10} {:>10} {:>10}",
        "median", "lowest", "highest"
    );
}

/// Measures `work`, which does so many operations, and prints a line in ns an operation.
pub fn measure(name: &str, operations: u64, mut work: impl FnMut()) {
    measure_in_turn(operations, &mut [(name, &mut work)]);
}

/// As [`measure`], of several that are to be compared: each has its turn in every round.
pub fn measure_in_turn(operations: u64, peers: &mut [(&str, &mut dyn FnMut())]) {
    let mut times = vec![Vec::new(); peers.len()];
    for (_, work) in peers.iter_mut() {
        work();
    }
    for _ in 0..ROUNDS {
        for ((_, work), times) in peers.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            work();
            times.push(begin.elapsed().as_nanos() as f64 / operations as f64);
        }
    }
    for ((name, _), times) in peers.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (median, lowest, highest) = (times[ROUNDS / 2], times[0], times[ROUNDS - 1]);
        println!("{name:44} {median:10.2} {lowest:10.2} {highest:10.2}");
    }
}

/// Whether the program was started by `cargo bench` and not merely to see whether it works.
pub fn wanted() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
