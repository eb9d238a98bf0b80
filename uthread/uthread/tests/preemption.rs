//! Preemption by the timer, and the rules that defer it. Windows has none.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::alloc::System;
use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{message, preemptive};
use uthread::io::{read_at, sleep};
use uthread::{
    BuildError, Builder, GuardedAlloc, JoinHandle, Kind, Lock, Priority, Runtime, Semaphore,
    SpinLock, current, no_preempt, spawn, statistics, yield_now,
};

#[global_allocator]
static ALLOCATOR: GuardedAlloc<System> = GuardedAlloc::new(System);

const SLICE: Duration = Duration::from_micros(200);

/// Computes until `stop` is set; returns the number of checks.
fn spin(stop: &AtomicBool) -> u64 {
    let mut turns = 0;
    while !stop.load(Ordering::Relaxed) {
        turns += 1;
    }
    turns
}

/// Runs `work` in one thread while two others only compute.
fn next_to_spinners<T: Send + 'static>(
    runtime: &Runtime,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    runtime.run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let spinners = [(); 2].map(|()| {
            let stop = Arc::clone(&stop);
            spawn(move || spin(&stop))
        });
        let result = spawn(work).join();
        stop.store(true, Ordering::Relaxed);
        for spinner in spinners {
            spinner.join().unwrap();
        }
        result.unwrap()
    })
}

/// Computes until ticks have preempted the thread this many times.
fn until_preempted(times: u64) {
    let begin = statistics().preemptions;
    while statistics().preemptions < begin + times {
        black_box(());
    }
}

#[test]
fn threads_that_never_yield_all_get_their_turn() {
    let runtime = preemptive(SLICE).build().unwrap();
    next_to_spinners(&runtime, || until_preempted(20));
    let statistics = runtime.statistics();
    assert!(
        statistics.ticks_taken > 0 && statistics.preemptions >= 20,
        "{statistics:?}"
    );
}

/// Starts a thread that takes the lock once.
fn takes(lock: &Arc<SpinLock<()>>) -> JoinHandle<()> {
    let lock = Arc::clone(lock);
    spawn(move || drop(lock.lock()))
}

/// The owners wait for the threads that spin: on one worker, and on two, where they may be on either.
#[test]
fn a_deadlock_of_threads_that_spin_is_a_panic() {
    for workers in 1..=2 {
        let runtime = preemptive(SLICE).workers(workers).build().unwrap();
        runtime.run(|| {
            let locks = [(); 2].map(|()| Arc::new(SpinLock::new(())));
            let guards = [locks[0].lock(), locks[1].lock()];
            let text = message(&*takes(&locks[0]).join().unwrap_err());
            assert!(text.starts_with("deadlock: thread "), "{text}");
            drop(guards);
            takes(&locks[0]).join().unwrap();
        });
    }
    let runtime = preemptive(SLICE).build().unwrap();
    runtime.run(|| {
        let locks = [(); 2].map(|()| Arc::new(SpinLock::new(())));
        let guards = [locks[0].lock(), locks[1].lock()];
        let threads = [0, 0, 1].map(|i| takes(&locks[i]));
        for thread in threads {
            let text = message(&*thread.join().unwrap_err());
            assert!(text.starts_with("deadlock: "), "{text}");
        }
        drop(guards);
    });
}

/// Needs the processor for this time.
fn compute_for(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        black_box(());
    }
}

/// The owner waits for time, for a thread that computes, and for one that spins until another lock is free.
#[test]
fn a_thread_may_spin_as_long_as_the_lock_can_be_freed() {
    const LONG: Duration = Duration::from_millis(20);
    for workers in 1..=2 {
        let runtime = preemptive(SLICE).workers(workers).build().unwrap();
        runtime.run(|| {
            let lock = Arc::new(SpinLock::new(()));
            let guard = lock.lock();
            let spinner = takes(&lock);
            sleep(LONG);
            drop(guard);
            spinner.join().unwrap();

            let permits = Arc::new(Semaphore::new(0));
            let guard = lock.lock();
            let spinner = takes(&lock);
            let releases = Arc::clone(&permits);
            let computes = spawn(move || {
                compute_for(LONG);
                releases.release(1);
            });
            permits.acquire();
            drop(guard);
            spinner.join().unwrap();
            computes.join().unwrap();

            let other = Arc::new(SpinLock::new(()));
            let (guard, other_guard) = (lock.lock(), other.lock());
            let spinner = takes(&lock);
            let (last, releases) = (Arc::clone(&other), Arc::clone(&permits));
            let helper = spawn(move || {
                drop(last.lock());
                releases.release(1);
            });
            compute_for(LONG);
            drop(other_guard);
            permits.acquire();
            drop(guard);
            spinner.join().unwrap();
            helper.join().unwrap();
        });
    }
}

#[test]
fn registers_and_errno_survive() {
    let runtime = preemptive(SLICE).build().unwrap();
    let compute = |seed: u64| {
        // SAFETY: the address of this kernel thread's errno.
        unsafe { *libc::__errno_location() = seed as i32 };
        let begin = statistics().preemptions;
        let mut numbers = Numbers::new(seed);
        let mut rounds = 0u64;
        while statistics().preemptions < begin + 30 {
            numbers.step();
            rounds += 1;
        }
        // SAFETY: as above.
        let errno = unsafe { *libc::__errno_location() };
        (errno, numbers, rounds)
    };
    runtime.run(|| {
        let threads: Vec<_> = (1..6).map(|seed| spawn(move || compute(seed))).collect();
        for (seed, thread) in (1..6u64).zip(threads) {
            let (errno, numbers, rounds) = thread.join().unwrap();
            assert_eq!(errno, seed as i32);
            let mut undisturbed = Numbers::new(seed);
            (0..rounds).for_each(|_| undisturbed.step());
            assert_eq!(numbers, undisturbed);
        }
    });
}

/// Enough numbers to fill the registers.
#[derive(Debug, PartialEq)]
struct Numbers([f64; 16], [u64; 16]);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self([seed as f64; 16], [seed; 16])
    }

    fn step(&mut self) {
        for i in 0..16 {
            self.0[i] = self.0[i].mul_add(1.000_000_1, i as f64);
            self.1[i] = self.1[i]
                .wrapping_mul(6_364_136_223_846_793_005)
                .rotate_left(7);
        }
    }
}

#[test]
fn a_guard_defers_the_tick_to_its_end() {
    let runtime = preemptive(SLICE).build().unwrap();
    next_to_spinners(&runtime, || {
        until_preempted(1);
        let guard = no_preempt();
        let (deferred, preemptions) = (statistics().ticks_deferred, statistics().preemptions);
        while statistics().ticks_deferred < deferred + 3 {
            black_box(());
        }
        assert_eq!(statistics().preemptions, preemptions);
        let inner = no_preempt();
        drop(guard);
        assert_eq!(statistics().preemptions, preemptions);
        drop(inner);
        until_preempted(1);
    });
}

#[test]
fn library_code_is_not_left_in_the_middle() {
    let runtime = preemptive(SLICE).build().unwrap();
    next_to_spinners(&runtime, || {
        // Nearly all of the time is spent in the C library.
        let (from, mut to) = (vec![1u8; 1 << 20], vec![0u8; 1 << 20]);
        let deferred = statistics().ticks_deferred;
        while statistics().ticks_deferred < deferred + 10 {
            to.copy_from_slice(black_box(&from));
        }
        // The allocator's guard ends here at the latest, and the others can run.
        until_preempted(1);
    });
}

#[test]
fn panics_under_ticks_reach_join() {
    let runtime = preemptive(Duration::from_micros(50)).build().unwrap();
    next_to_spinners(&runtime, || {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        for round in 0..200u32 {
            let thread = spawn(move || {
                let noise: Vec<_> = (0..round % 50).map(|i| i.to_string()).collect();
                std::panic::panic_any(noise.len());
            });
            let payload = thread.join().unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&(round as usize % 50)));
        }
        std::panic::set_hook(hook);
    });
}

/// Fills the stack nearly to its end and computes there for some time.
#[test]
fn a_nearly_full_stack_defers_ticks_and_loses_nothing() {
    fn descend(end: usize) -> u64 {
        let here = [1u64; 16];
        if black_box(&here).as_ptr().addr() > end {
            return descend(end) + here[3];
        }
        let deferred = statistics().ticks_deferred;
        while statistics().ticks_deferred < deferred + 5 {
            black_box(());
        }
        0
    }
    let runtime = preemptive(SLICE).build().unwrap();
    let depth = next_to_spinners(&runtime, || {
        let local = 0u8;
        let top = std::ptr::from_ref(black_box(&local)).addr();
        // After the first frames, too little remains for any signal frame.
        descend(top - (64 << 10) + (5 << 10))
    });
    assert!(depth > 50);
}

#[test]
fn a_slice_used_up_lowers_the_priority_and_the_boost_raises_it() {
    let runtime = preemptive(SLICE)
        .trace(100_000)
        .boost_every(20)
        .build()
        .unwrap();
    runtime.run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let spinners = [(); 2].map(|()| {
            let stop = Arc::clone(&stop);
            Builder::new()
                .priority(Priority::Red)
                .spawn(move || spin(&stop))
                .unwrap()
        });
        uthread::io::sleep(50 * SLICE);
        stop.store(true, Ordering::Relaxed);
        for spinner in spinners {
            drop(spinner.join());
        }
    });
    let trace = runtime.trace();
    let ticks = trace.events().iter().filter(|e| e.kind == Kind::Tick);
    assert!(ticks.count() > 0, "no tick is in the trace");
    let fallen = trace
        .events()
        .iter()
        .any(|e| e.kind == Kind::Priority(Priority::Green));
    assert!(fallen, "no thread fell to GREEN");
}

#[test]
fn a_thread_of_higher_priority_runs_at_once() {
    let runtime = preemptive(Duration::from_secs(1)).build().unwrap();
    runtime.run(|| {
        let ran = Arc::new(AtomicU64::new(0));
        let inner = Arc::clone(&ran);
        let high = Builder::new().priority(Priority::Red);
        let high = high
            .spawn(move || inner.fetch_add(1, Ordering::Relaxed))
            .unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        high.join().unwrap();
        let low = Builder::new().priority(Priority::Green);
        let inner = Arc::clone(&ran);
        let low = low
            .spawn(move || inner.fetch_add(1, Ordering::Relaxed))
            .unwrap();
        yield_now();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        current().set_priority(Priority::Green);
        yield_now();
        assert_eq!(ran.load(Ordering::Relaxed), 2);
        low.join().unwrap();
    });
}

#[test]
fn printing_and_formatting_under_ticks() {
    let runtime = preemptive(Duration::from_micros(50)).build().unwrap();
    next_to_spinners(&runtime, || {
        for i in 0..200 {
            uthread::println!("{i}: {:?} {:>8.3}", [i; 3], f64::from(i) / 7.0);
        }
    });
}

#[test]
fn several_runtimes_are_preempted_side_by_side() {
    let runtimes = [(); 3].map(|()| {
        std::thread::spawn(|| {
            let runtime = preemptive(SLICE).build().unwrap();
            next_to_spinners(&runtime, || until_preempted(5));
        })
    });
    for runtime in runtimes {
        runtime.join().unwrap();
    }
}

#[test]
fn workers_are_preempted_each() {
    let runtime = preemptive(SLICE).workers(3).build().unwrap();
    runtime.run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let begin = Instant::now();
        let spinners: Vec<_> = (0..9)
            .map(|_| {
                let stop = Arc::clone(&stop);
                spawn(move || spin(&stop))
            })
            .collect();
        while statistics().preemptions < 50 && begin.elapsed() < Duration::from_mins(5) {
            yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        for spinner in spinners {
            spinner.join().unwrap();
        }
    });
    assert!(runtime.statistics().preemptions > 0);
}

#[test]
fn slices_that_cannot_be_are_refused() {
    let short = preemptive(Duration::from_nanos(1)).build();
    assert!(matches!(short, Err(BuildError::SliceTooShort(_))));
    let several = Runtime::builder().deterministic(1).workers(2).build();
    assert!(matches!(several, Err(BuildError::SeveralDeterministic(2))));
}

/// After a caught panic, the standard library decrements first the panic counter of the process and
/// then that of the kernel thread. A thread that runs between the two steps appears to unwind as
/// soon as another kernel thread panics.
#[test]
fn unwinding_that_is_over_poisons_no_lock() {
    let end = Instant::now() + Duration::from_secs(1);
    let unwind = move || {
        while Instant::now() < end {
            // Unwinds like a panic, without a message.
            let threads = [(); 64].map(|()| spawn(|| uthread::exit()));
            assert!(threads.map(JoinHandle::join).iter().all(Result::is_err));
        }
    };
    let lock = move || {
        let lock = Lock::new(());
        while Instant::now() < end && !lock.is_poisoned() {
            (0..100).for_each(|_| drop(lock.lock()));
        }
        lock.is_poisoned()
    };
    let runtime = preemptive(Duration::from_micros(20)).workers(2);
    let poisoned = runtime.build().unwrap().run(|| {
        let unwinding = [(); 4].map(|()| spawn(unwind));
        let locking = [(); 4].map(|()| spawn(lock));
        for thread in unwinding {
            thread.join().unwrap();
        }
        locking.map(|thread| thread.join().unwrap())
    });
    assert_eq!(poisoned, [false; 4]);
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

/// Neither of the two ever calls the library while it computes.
#[test]
fn the_first_thread_is_preempted_and_preempts() {
    let runtime = preemptive(Duration::from_millis(1)).build().unwrap();
    // SAFETY: `end` follows on this kernel thread.
    let first = unsafe { runtime.begin() }.unwrap();
    let (seen, stop) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let other = (Arc::clone(&seen), Arc::clone(&stop));
    let thread = spawn(move || {
        while !other.1.load(Ordering::Relaxed) {
            other.0.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut waited = 0u64;
    while seen.load(Ordering::Relaxed) == 0 {
        waited = black_box(waited + 1);
    }
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    assert!(uthread::statistics().preemptions > 0);
    first.end().unwrap();
}

/// Calls `work` when the stack has grown by `bytes`.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn deep_down(top: usize, bytes: usize, work: &dyn Fn()) {
    let frame = [0u8; 256];
    if top - black_box(&frame).as_ptr().addr() < bytes {
        deep_down(top, bytes, work);
    } else {
        work();
    }
    black_box(&frame);
}

/// Runs `work` on a stack of which at most some KiB are free, next to a thread that computes.
#[cfg(target_arch = "x86_64")]
fn on_a_nearly_full_stack(used_kib: usize, work: fn()) {
    static STOP: AtomicBool = AtomicBool::new(false);
    preemptive(SLICE).decay(false).build().unwrap().run(|| {
        let other = spawn(|| spin(&STOP));
        let full = spawn(move || {
            let local = 0u8;
            let top = std::ptr::from_ref(black_box(&local)).addr();
            deep_down(top, used_kib << 10, &work);
        });
        full.join().unwrap();
        STOP.store(true, Ordering::Relaxed);
        other.join().unwrap();
    });
}

/// The kernel reports this fault as it reports a tick without room.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_pointer_that_is_no_address_ends_the_process_on_a_nearly_full_stack() {
    use std::os::unix::process::ExitStatusExt;
    const ROLE: &str = "UTHREAD_WILD_KIB";
    if let Ok(kib) = std::env::var(ROLE) {
        // SAFETY: the call takes no pointers. The alarm ends a process that faults for ever.
        unsafe { libc::alarm(30) };
        on_a_nearly_full_stack(kib.parse().unwrap(), || {
            let wild = black_box(1usize << 63) as *const u8;
            // SAFETY: there is none: this must end the process.
            let _ = unsafe { wild.read_volatile() };
        });
        return;
    }
    let test = "a_pointer_that_is_no_address_ends_the_process_on_a_nearly_full_stack";
    for used_kib in [40, 44, 48, 52] {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(ROLE, used_kib.to_string())
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    }
}
