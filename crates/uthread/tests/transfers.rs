//! Input, output and sleep.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::runtimes;
use uthread::io::{fsync, read_at, sleep, write_at};
use uthread::{Runtime, spawn};

#[test]
fn what_is_written_is_read() {
    for runtime in runtimes() {
        let file = Arc::new(tempfile::tempfile().unwrap());
        runtime.run(|| {
            let threads: Vec<_> = (0..64u64)
                .map(|i| {
                    let file = Arc::clone(&file);
                    spawn(move || {
                        let block = [i as u8; 1000];
                        assert_eq!(write_at(&file, &block, i * 1000).unwrap(), 1000);
                        let mut back = [0; 1000];
                        assert_eq!(read_at(&file, &mut back, i * 1000).unwrap(), 1000);
                        assert_eq!(back, block);
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            fsync(&file).unwrap();
            assert_eq!(read_at(&file, &mut [0; 10], 64_000).unwrap(), 0);
        });
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
    for runtime in runtimes() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let begin = Instant::now();
        runtime.run(|| {
            for millis in [12, 4, 8, 0] {
                let order = Arc::clone(&order);
                drop(spawn(move || {
                    sleep(Duration::from_millis(millis * 5));
                    order.lock().unwrap().push(millis);
                }));
            }
        });
        assert!(begin.elapsed() >= Duration::from_millis(60));
        assert_eq!(*order.lock().unwrap(), [0, 4, 8, 12]);
    }
}

/// The transfer would take longer than the test may wait.
#[test]
fn virtual_time_does_not_take_time() {
    let runtime = Runtime::builder().deterministic(1).build().unwrap();
    runtime.run(|| sleep(Duration::from_hours(1000)));
}
