//! Helpers for several test programs.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test program uses its own part"
)]

pub mod world;

use std::fs::File;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;
use testing::Command;

use uthread::io::{Backend, fsync, read_at, write_at};
use uthread::{Runtime, RuntimeBuilder, spawn};

/// A builder for a preemptive runtime. Where none can be built, the runtime is cooperative: on Windows, and
/// under the thread sanitizer, which is part of the program's text.
pub fn preemptive(slice: Duration) -> RuntimeBuilder {
    if cfg!(any(windows, uthread_tsan)) {
        return Runtime::builder();
    }
    // SAFETY: the tests share nothing through thread-locals of the kernel thread, and the system's
    // allocator is in use.
    unsafe { Runtime::builder().slice(slice) }
}

/// Runtimes with each transfer mechanism, cooperative and preemptive, with one worker and several.
/// The system may forbid the ring.
pub fn runtimes() -> Vec<Runtime> {
    let ring = Runtime::builder().io(Backend::Kernel).build().unwrap();
    let file = tempfile::tempfile().unwrap();
    let ring_works = ring.run(|| fsync(&file)).is_ok();
    if !ring_works {
        println!("skipped: the ring, since io_uring is not allowed here");
    }
    let builders: [fn() -> RuntimeBuilder; 3] = [
        Runtime::builder,
        || preemptive(Duration::from_micros(100)),
        || Runtime::builder().workers(2),
    ];
    let backends = [Backend::Threads, Backend::Kernel]
        .into_iter()
        .take(1 + usize::from(ring_works));
    backends
        .flat_map(|backend| builders.map(|b| b().io(backend).build().unwrap()))
        .collect()
}

/// Writes and reads an empty file by many threads, and reads beyond its end.
pub fn writes_and_reads_back(runtime: &Runtime, file: File) {
    let file = Arc::new(file);
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
        assert_eq!(read_at(&file, &mut [0; 10], 63_995).unwrap(), 5);
    });
}

/// This program, by the emulator that the environment names if the system cannot run it.
fn this_program() -> Command {
    let program = std::env::current_exe().unwrap();
    let Ok(emulator) = std::env::var("UTHREAD_EMULATOR") else {
        return Command::new(program);
    };
    let mut words = emulator.split_whitespace();
    let mut command = Command::new(words.next().expect("the variable names a program"));
    command.args(words).arg(program);
    command
}

/// Runs one test of this program again in its own process, with `variable` set. For tests that end
/// the process or change its limits.
pub fn again(test: &str, variable: &str) -> Output {
    this_program()
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(variable, "1")
        .output()
        .unwrap()
}

/// Runs `work`, which must abort the process, in one of its own: this test of this program again.
/// Returns what it wrote to the standard error.
pub fn aborts(test: &str, work: impl FnOnce()) -> String {
    const ROLE: &str = "UTHREAD_ABORTS";
    if std::env::var_os(ROLE).is_some() {
        work();
        std::process::exit(0);
    }
    let output = again(test, ROLE);
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(output.status.signal(), Some(6), "{output:?}");
    }
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The message of a panic.
pub fn message(payload: &(dyn std::any::Any + Send)) -> String {
    match (
        payload.downcast_ref::<String>(),
        payload.downcast_ref::<&str>(),
    ) {
        (Some(text), _) => text.clone(),
        (_, Some(text)) => (*text).to_owned(),
        _ => "something else".to_owned(),
    }
}

/// A random number generator. The tests do not depend on its quality.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

pub const MINUTE: Duration = Duration::from_mins(1);
pub const HOUR: Duration = Duration::from_hours(1);

/// A runtime on virtual time, where a minute passes at once. Priorities stay as the tests give them.
pub fn virtual_time(seed: u64) -> Runtime {
    let builder = Runtime::builder().decay(false);
    builder.deterministic(seed).build().unwrap()
}

/// Runs `work` on virtual time with some seeds.
pub fn on_virtual_time(work: impl Fn() + Copy + Send) {
    for seed in 0..20 {
        virtual_time(seed).run(work);
    }
}

/// Runs `work` on virtual time with some seeds, and on one and two workers.
pub fn everywhere(work: impl Fn() + Copy + Send) {
    on_virtual_time(work);
    for workers in 1..=2 {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        runtime.run(work);
    }
}
