//! Parts that only Linux has: polls, transfers that the kernel cancels, direct transfers, limits on memory.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{MINUTE, again, everywhere, runtimes};
use uthread::io::{
    Backend, Interest, poll_fd, poll_fd_timeout, read_at, read_at_timeout, sleep, write_at,
};
use uthread::{Builder, Cancelled, Runtime, current, spawn, yield_now};

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
fn direct_transfers() {
    #[repr(align(4096))]
    struct Block([u8; 4096]);
    let directory = testing::directory_on_disk();
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_DIRECT);
    let Ok(file) = options.open(directory.path().join("direct")) else {
        println!("skipped: direct transfers, which the file system has not");
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

/// A read of an empty pipe, which only the ring can cancel. Helper threads read files only.
#[test]
fn a_cancelled_read_does_not_write_into_its_buffer() {
    let Ok(ring) = Runtime::builder().io(Backend::Kernel).build() else {
        return;
    };
    let (reader, mut writer) = std::io::pipe().unwrap();
    if ring.run(|| poll_fd(&writer, Interest::WRITABLE)).is_err() {
        println!("skipped: io_uring is not allowed here");
        return;
    }
    let reader = File::from(OwnedFd::from(reader));
    ring.run(|| {
        let mut buffer = [0u8; 64];
        for _ in 0..50 {
            let read = read_at_timeout(&reader, &mut buffer, 0, Duration::from_micros(200));
            assert_eq!(read.unwrap_err().kind(), ErrorKind::TimedOut);
        }
        writer.write_all(b"late").unwrap();
        sleep(Duration::from_millis(1));
        assert_eq!(buffer, [0; 64]);
        let read = read_at_timeout(&reader, &mut buffer, 0, MINUTE).unwrap();
        assert_eq!(&buffer[..read], b"late");
    });
}

#[test]
fn a_poll_ends_at_its_limit_or_when_the_descriptor_is_ready() {
    let builders: [fn() -> uthread::RuntimeBuilder; 4] = [
        || Runtime::builder().io(Backend::Threads),
        || Runtime::builder().io(Backend::Auto),
        || Runtime::builder().workers(2),
        || Runtime::builder().deterministic(3),
    ];
    for builder in builders {
        builder().build().unwrap().run(|| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            let limit = Duration::from_millis(3);
            let found = poll_fd_timeout(&reader, Interest::READABLE, limit);
            assert_eq!(found.unwrap_err().kind(), ErrorKind::TimedOut);
            let other = spawn(move || {
                yield_now();
                writer.write_all(b"x").unwrap();
                writer
            });
            let found = poll_fd_timeout(&reader, Interest::READABLE, MINUTE).unwrap();
            assert!(found.is_readable());
            drop(other.join().unwrap());
        });
    }
}

#[test]
fn a_transfer_in_the_kernel_is_cancelled() {
    let Ok(ring) = Runtime::builder().io(Backend::Kernel).build() else {
        return;
    };
    let (reader, writer) = std::io::pipe().unwrap();
    if ring.run(|| poll_fd(&writer, Interest::WRITABLE)).is_err() {
        println!("skipped: io_uring is not allowed here");
        return;
    }
    let reader = File::from(OwnedFd::from(reader));
    ring.run(|| {
        let thread = spawn(move || read_at(&reader, &mut [0; 64], 0));
        sleep(Duration::from_millis(1));
        thread.cancel();
        let error = thread.join().unwrap().unwrap_err();
        assert!(error.get_ref().unwrap().is::<Cancelled>());
    });
}

#[test]
fn a_cancelled_poll_returns_the_request() {
    everywhere(|| {
        let thread = spawn(|| {
            let (reader, _writer) = std::io::pipe().unwrap();
            current().cancel();
            let error = poll_fd_timeout(&reader, Interest::READABLE, MINUTE).unwrap_err();
            assert!(error.get_ref().unwrap().is::<Cancelled>());
            sleep(Duration::from_nanos(1)); // one request ends one wait
        });
        thread.join().unwrap();
    });
}

#[test]
fn no_memory_for_a_stack_is_an_error_and_the_rest_goes_on() {
    if std::env::var_os("UTHREAD_LIMIT").is_none() {
        let test = "no_memory_for_a_stack_is_an_error_and_the_rest_goes_on";
        let output = again(test, "UTHREAD_LIMIT");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    uthread::run(|| {
        let warm = spawn(|| 1).join().unwrap();
        let limit = libc::rlimit {
            rlim_cur: 512 << 20,
            rlim_max: 512 << 20,
        };
        // SAFETY: a local, valid structure.
        let limited = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
        assert_eq!(limited, 0);
        let mut threads = Vec::new();
        let error = loop {
            match Builder::new().spawn(|| 2) {
                Ok(thread) => threads.push(thread),
                Err(error) => break error,
            }
        };
        assert_eq!(error.to_string(), "cannot start a thread");
        let started = threads.len();
        assert!(started > 100);
        let sum: usize = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum();
        assert_eq!((sum, warm), (2 * started, 1));
        assert_eq!(spawn(|| 3).join().unwrap(), 3);
    });
}
