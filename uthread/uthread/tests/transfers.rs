//! Input, output and sleep.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{runtimes, writes_and_reads_back};
use uthread::io::{sleep, write_at};
use uthread::{Runtime, spawn};

#[test]
fn what_is_written_is_read() {
    for runtime in runtimes() {
        writes_and_reads_back(&runtime, tempfile::tempfile().unwrap());
    }
}

#[test]
fn errors_come_back() {
    /// `EBADF`; `ERROR_ACCESS_DENIED`.
    const REFUSED: i32 = if cfg!(windows) { 5 } else { 9 };
    let path = std::env::current_exe().unwrap();
    for runtime in runtimes() {
        let read_only = File::open(&path).unwrap();
        let error = runtime.run(|| write_at(&read_only, b"x", 0)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(REFUSED));
    }
}

#[test]
fn sleepers_wake_in_the_order_of_their_time() {
    let sleepers = |runtime: &Runtime| {
        let order = Arc::new(Mutex::new(Vec::new()));
        runtime.run(|| {
            for millis in [60, 20, 40, 0] {
                let order = Arc::clone(&order);
                drop(spawn(move || {
                    sleep(Duration::from_millis(millis));
                    order.lock().unwrap().push(millis);
                }));
            }
        });
        std::mem::take(&mut *order.lock().unwrap())
    };
    // On a busy machine a thread may begin its sleep so late that others are before it, but not on virtual time.
    let runtime = Runtime::builder().deterministic(1).build().unwrap();
    assert_eq!(sleepers(&runtime), [0, 20, 40, 60]);
    for runtime in runtimes() {
        let begin = Instant::now();
        let mut woken = sleepers(&runtime);
        assert!(begin.elapsed() >= Duration::from_millis(60));
        woken.sort_unstable();
        assert_eq!(woken, [0, 20, 40, 60]);
    }
}

/// The transfer would take longer than the test may wait.
#[test]
fn virtual_time_does_not_take_time() {
    let runtime = Runtime::builder().deterministic(1).build().unwrap();
    runtime.run(|| sleep(Duration::from_hours(1000)));
}
