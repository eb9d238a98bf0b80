//! The work of every peer, in numbers that are the same for all.

use std::time::{Duration, Instant};

pub const SWITCHES: u64 = 400_000;
pub const CREATIONS: u64 = 50_000;
pub const LOCKS: u64 = 1_000_000;
pub const CONTENDERS: u64 = 99;
pub const LOCKS_EACH: u64 = 10_000;
pub const ITEMS: u64 = 400_000;
pub const CAPACITY: usize = 16;
pub const ROUNDS: u64 = 200_000;
pub const IDLE: u64 = 10_000;
/// Times that a message goes through TCP and comes back, and its size.
pub const ECHOES: u64 = 20_000;
pub const MESSAGE_BYTES: usize = 64;

/// True if the command line names the metric, or none.
fn is_wanted(metric: &str) -> bool {
    std::env::args()
        .nth(3)
        .is_none_or(|wanted| wanted == metric)
}

/// Runs `work` once to warm up and once more, and prints what an operation took in ns.
pub fn report(metric: &str, operations: u64, mut work: impl FnMut()) {
    if !is_wanted(metric) {
        return;
    }
    work();
    let begin = Instant::now();
    work();
    println!(
        "{metric} {:.2}",
        begin.elapsed().as_nanos() as f64 / operations as f64
    );
}

/// The longest time that `work` took, of [`LOCKS_EACH`] times.
pub fn longest(mut work: impl FnMut()) -> Duration {
    let time = |_| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    (0..LOCKS_EACH).map(time).max().unwrap_or_default()
}

/// Runs `work` once to warm up and once more, and prints the longest wait that it found, in us.
pub fn report_wait(mut work: impl FnMut() -> Duration) {
    if !is_wanted("wait_2") {
        return;
    }
    work();
    println!("wait_2 {:.1}", work().as_nanos() as f64 / 1000.0);
}

/// Prints the median time in us of sleeps of 1 ms.
pub fn report_sleeps(mut sleep: impl FnMut(Duration)) {
    const SLEEPS: usize = 200;
    if !is_wanted("sleep") {
        return;
    }
    let time = |_| {
        let begin = Instant::now();
        sleep(Duration::from_millis(1));
        begin.elapsed().as_nanos() as f64 / 1000.0
    };
    let mut times: Vec<f64> = (0..SLEEPS).map(time).collect();
    times.sort_by(f64::total_cmp);
    println!("sleep {:.1}", times[SLEEPS / 2]);
}

/// Memory and page tables of the process, in bytes.
pub fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok())
            .unwrap_or(0)
    };
    1024 * (field("VmRSS:") + field("VmPTE:"))
}

/// Prints the memory of an idle thread in bytes, given what the process had before.
pub fn report_memory(before: u64) {
    if !is_wanted("memory") {
        return;
    }
    println!(
        "memory {:.0}",
        memory_bytes().saturating_sub(before) as f64 / IDLE as f64
    );
}
