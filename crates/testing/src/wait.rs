use std::panic::resume_unwind;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Longest wait of a test, and longest life of a program that it starts. It only keeps tests from hanging: it
/// is far above what a busy machine takes.
pub const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// Waits until a condition is true.
///
/// # Panics
/// With `what` it waited for, after [`LONGEST_WAIT`].
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < LONGEST_WAIT, "waited in vain: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// The value of a thread that ends by itself.
///
/// # Panics
/// As the thread does, and with `what` it waited for, after [`LONGEST_WAIT`].
pub fn joined<T>(what: &str, thread: JoinHandle<T>) -> T {
    wait_until(what, || thread.is_finished());
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
