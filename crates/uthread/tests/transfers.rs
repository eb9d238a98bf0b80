//! Input, output and sleep.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "opening a file for direct transfers takes a flag"
)]

mod common;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::preemptive;
use uthread::io::{Backend, Interest, fsync, poll_fd, read_at, sleep, write_at};
use uthread::{Runtime, RuntimeBuilder, spawn, yield_now};

/// Runtimes with each transfer mechanism, cooperative and preemptive, with one worker and several.
/// The system may forbid the ring.
fn runtimes() -> Vec<Runtime> {
    let ring = Runtime::builder().io(Backend::Ring).build().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let ring_works = ring.run(|| poll_fd(&writer, Interest::WRITABLE)).is_ok();
    drop(reader);
    if !ring_works {
        println!("the ring is not tested: io_uring is not allowed here");
    }
    let builders: [fn() -> RuntimeBuilder; 3] = [
        Runtime::builder,
        || preemptive(Duration::from_micros(100)),
        || Runtime::builder().workers(2),
    ];
    let backends = [Backend::Threads, Backend::Ring]
        .into_iter()
        .take(1 + usize::from(ring_works));
    backends
        .flat_map(|backend| builders.map(|b| b().io(backend).build().unwrap()))
        .collect()
}

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
fn others_run_while_one_waits() {
    for runtime in runtimes() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        runtime.run(|| {
            let inner = Arc::clone(&log);
            let waiting = spawn(move || {
                inner.lock().unwrap().push("waits");
                let found = poll_fd(&reader, Interest::READABLE).unwrap();
                inner.lock().unwrap().push("has it");
                found.is_readable() && !found.is_error()
            });
            while log.lock().unwrap().is_empty() {
                yield_now();
            }
            log.lock().unwrap().push("others run");
            writer.write_all(b"x").unwrap();
            assert!(waiting.join().unwrap());
        });
        assert_eq!(*log.lock().unwrap(), ["waits", "others run", "has it"]);
    }
}

#[test]
fn errors_come_back() {
    for runtime in runtimes() {
        let read_only = File::open("/dev/null").unwrap();
        let error = runtime.run(|| write_at(&read_only, b"x", 0)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
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

#[test]
fn a_sleeper_wakes_beside_a_thread_that_computes() {
    let runtime = preemptive(Duration::from_micros(200)).build().unwrap();
    runtime.run(|| {
        let awake = Arc::new(AtomicBool::new(false));
        let inner = Arc::clone(&awake);
        drop(spawn(move || {
            sleep(Duration::from_millis(3));
            inner.store(true, Ordering::Relaxed);
        }));
        yield_now();
        while !awake.load(Ordering::Relaxed) {}
    });
}

/// The transfer would take longer than the test may wait.
#[test]
fn virtual_time_does_not_take_time() {
    let runtime = Runtime::builder().deterministic(1).build().unwrap();
    runtime.run(|| sleep(Duration::from_hours(1000)));
}

#[test]
fn direct_transfers() {
    #[repr(align(4096))]
    struct Block([u8; 4096]);
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_DIRECT);
    let Ok(file) = options.open(directory.path().join("direct")) else {
        println!("direct transfers are not tested: the file system has none");
        return;
    };
    let file = Arc::new(file);
    for runtime in runtimes() {
        runtime.run(|| {
            let threads: Vec<_> = (0..32u64)
                .map(|i| {
                    let file = Arc::clone(&file);
                    spawn(move || {
                        let mut block = Box::new(Block([i as u8 + 1; 4096]));
                        assert_eq!(write_at(&file, &block.0, i * 4096).unwrap(), 4096);
                        block.0.fill(0);
                        assert_eq!(read_at(&file, &mut block.0, i * 4096).unwrap(), 4096);
                        assert!(block.0.iter().all(|byte| *byte == i as u8 + 1));
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }
}

/// Nearly all ticks occur in the C library and take effect as soon as a read is over. They are not
/// retried: no thread is preempted before its slice is over.
#[test]
fn ticks_in_cached_reads_end_one_slice_each() {
    const SLICE: Duration = Duration::from_millis(5);
    let file = Arc::new(tempfile::tempfile().unwrap());
    file.as_ref().write_all(&[7; 4096]).unwrap();
    let runtime = preemptive(SLICE).build().unwrap();
    let began = Instant::now();
    runtime.run(|| {
        let read = |_| {
            let file = Arc::clone(&file);
            spawn(move || {
                let (mut block, started) = ([0; 4096], Instant::now());
                while started.elapsed() < 10 * SLICE {
                    assert_eq!(read_at(&file, &mut block, 0).unwrap(), 4096);
                }
            })
        };
        let threads: Vec<_> = (0..4).map(read).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let slices = began.elapsed().as_nanos() / SLICE.as_nanos();
    let preemptions = runtime.statistics().preemptions;
    assert!(
        u128::from(preemptions) <= 2 * slices + 10,
        "{preemptions} turns were taken in {slices} slices"
    );
}
