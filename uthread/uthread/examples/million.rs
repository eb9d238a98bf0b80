//! A million threads at once (or the number in the first argument), which all wait for one start
//! signal.

use std::sync::Arc;
use std::time::Instant;

use uthread::{Semaphore, spawn, yield_now};

/// Memory of the process, page tables included, in bytes.
fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok())
            .unwrap_or(0)
    };
    1024 * (field("VmRSS:") + field("VmPTE:"))
}

fn main() {
    let wanted = std::env::args().nth(1);
    let threads = wanted.map_or(1_000_000, |text| text.parse().expect("a number of threads"));
    uthread::run(|| {
        let start = Arc::new(Semaphore::new(0));
        let (before, begin) = (memory_bytes(), Instant::now());
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let start = Arc::clone(&start);
                spawn(move || start.acquire())
            })
            .collect();
        uthread::println!("{threads} threads made in {:.2?}", begin.elapsed());
        yield_now();
        let each = (memory_bytes() - before) as f64 / threads as f64;
        let maps = std::fs::read_to_string("/proc/self/maps")
            .unwrap_or_default()
            .lines()
            .count();
        uthread::println!("all of them wait: {each:.0} bytes each, {maps} mappings in the process");
        let begin = Instant::now();
        start.release(threads);
        for handle in handles {
            handle.join().expect("no panic");
        }
        uthread::println!("all of them have ended, in {:.2?}", begin.elapsed());
    });
}
