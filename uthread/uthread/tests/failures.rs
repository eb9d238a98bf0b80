//! Makes every allocation, every mapping and every start of a kernel thread of a program fail, one
//! after the other. Each time the program must end properly: with an error, or with an abort if an
//! allocation cannot report one, like other Rust programs. It must never touch unmapped memory or
//! wait forever. Linux lets a program put its own in their place.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "an allocator, mmap(2) and pthread_create(3) are put in the place of the system's"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_void};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testing::Command;

use uthread::io::{Backend, read_at, write_at};
use uthread::{Builder, GuardedAlloc, Lock, Runtime, spawn, unbounded};

/// Number of successes before the failure; 0 if none is to fail.
static ALLOCATIONS_LEFT: AtomicU64 = AtomicU64::new(0);
static MAPPINGS_LEFT: AtomicU64 = AtomicU64::new(0);
static THREADS_LEFT: AtomicU64 = AtomicU64::new(0);
static TIMERS_LEFT: AtomicU64 = AtomicU64::new(0);

/// True if this call is the one to fail.
fn fails(left: &AtomicU64) -> bool {
    let lower = |left: u64| left.checked_sub(1);
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower) == Ok(1)
}

struct Failing;

// SAFETY: the system's allocator, except for null results, which are always allowed.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(&ALLOCATIONS_LEFT) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: GuardedAlloc<Failing> = GuardedAlloc::new(Failing);

/// Replaces `mmap` for this program and its crates; the C library calls its own.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    if fails(&MAPPINGS_LEFT) {
        // SAFETY: the address of this kernel thread's errno is valid.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's contract.
    let start = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            address,
            bytes,
            protection,
            flags,
            fd,
            offset,
        )
    };
    start as *mut c_void
}

/// Replaces the function that the standard library calls.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    type Create = unsafe extern "C" fn(
        *mut libc::pthread_t,
        *const libc::pthread_attr_t,
        extern "C" fn(*mut c_void) -> *mut c_void,
        *mut c_void,
    ) -> c_int;
    if fails(&THREADS_LEFT) {
        return libc::EAGAIN;
    }
    // SAFETY: the C library's own function has this type; the caller's contract is its contract.
    unsafe {
        let own = libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr());
        let own = std::mem::transmute::<*mut c_void, Create>(own);
        own(thread, attributes, start, argument)
    }
}

/// Replaces the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn timer_create(
    clock: libc::clockid_t,
    event: *mut libc::sigevent,
    timer: *mut libc::timer_t,
) -> c_int {
    type Create =
        unsafe extern "C" fn(libc::clockid_t, *mut libc::sigevent, *mut libc::timer_t) -> c_int;
    if fails(&TIMERS_LEFT) {
        // SAFETY: the address of this kernel thread's errno is valid.
        unsafe { *libc::__errno_location() = libc::EAGAIN };
        return -1;
    }
    // SAFETY: the C library's own function has this type; the caller's contract is its contract.
    unsafe {
        let own = libc::dlsym(libc::RTLD_NEXT, c"timer_create".as_ptr());
        let own = std::mem::transmute::<*mut c_void, Create>(own);
        own(clock, event, timer)
    }
}

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Uses every kind of kernel thread: workers and transfer helpers.
fn program_of_kernel_threads() -> Outcome {
    let runtime = Runtime::builder().workers(3).io(Backend::Threads).build()?;
    runtime.try_run(|| {
        let null = Arc::new(std::fs::File::create("/dev/null")?);
        let write = || {
            let null = Arc::clone(&null);
            spawn(move || write_at(&*null, b"nothing", 0))
        };
        let threads: Vec<_> = (0..20).map(|_| write()).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap()?, 7);
        }
        Ok(())
    })?
}

/// Each worker has a timer. If one is refused, the first thread must not have begun: it would be left in
/// the middle, with what it borrows.
fn program_of_timers() -> Outcome {
    let builder = common::preemptive(Duration::from_millis(1));
    let runtime = builder.workers(3).build()?;
    let begun = AtomicU64::new(0);
    let run = runtime.try_run(|| {
        begun.store(1, Ordering::Relaxed);
        let threads: Vec<_> = (0..20).map(|_| spawn(uthread::yield_now)).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        uthread::io::sleep(Duration::from_millis(1));
    });
    let begun = begun.into_inner() == 1;
    assert_eq!(begun, run.is_ok());
    Ok(run?)
}

/// Uses a little of everything.
fn program() -> Outcome {
    let runtime = common::preemptive(Duration::from_millis(1))
        .trace(100)
        .build()?;
    runtime.try_run(|| {
        let total = Arc::new(Lock::new(0));
        let (sender, receiver) = unbounded();
        let mut threads = Vec::new();
        for i in 0..20 {
            let (total, sender) = (Arc::clone(&total), sender.clone());
            let builder = Builder::new().name("adder").stack_size(64 << (10 + i % 3));
            threads.push(builder.spawn(move || {
                *total.lock().unwrap() += i;
                sender.send(i).unwrap();
            })?);
        }
        drop(sender);
        let sent: u64 = std::iter::from_fn(|| receiver.recv().ok()).sum();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(sent, *total.lock().unwrap());
        let mut magic = [0; 4];
        read_at(std::fs::File::open("/proc/self/exe")?, &mut magic, 0)?;
        write_at(std::fs::File::create("/dev/null")?, &magic, 0)?;
        Ok(())
    })?
}

const ROLE: &str = "UTHREAD_FAILURES";

/// Runs in its own process: the program with the failure that the role names.
fn act(role: &str) {
    let (kind, number) = role.split_once(' ').unwrap();
    let (left, program): (_, fn() -> Outcome) = match kind {
        "allocation" => (&ALLOCATIONS_LEFT, program),
        "mapping" => (&MAPPINGS_LEFT, program),
        "timer" => (&TIMERS_LEFT, program_of_timers),
        _ => (&THREADS_LEFT, program_of_kernel_threads),
    };
    left.store(number.parse().unwrap(), Ordering::Relaxed);
    let outcome = program();
    let reached = left.swap(0, Ordering::Relaxed) == 0;
    println!("reached: {reached}, {outcome:?}");
}

/// Makes the first call fail, then the second, and so on until there are no more. Returns their
/// number.
fn fail_in_turn(test: &str, kind: &str) -> u64 {
    if let Ok(role) = std::env::var(ROLE) {
        act(&role);
        return 0;
    }
    for number in 1.. {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, format!("{kind} {number}"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        if said.contains("reached: false") {
            assert!(said.contains("Ok(())"), "{said}");
            return number - 1;
        }
        let gave_up = output.status.signal() == Some(libc::SIGABRT)
            && complained.contains("memory allocation of");
        assert!(
            said.contains("reached: true") || gave_up,
            "{kind} {number}: {:?}\n{said}\n{complained}",
            output.status
        );
    }
    unreachable!("the program ends")
}

#[test]
fn any_allocation_may_fail() {
    let allocations = fail_in_turn("any_allocation_may_fail", "allocation");
    assert!(
        std::env::var_os(ROLE).is_some() || allocations > 20,
        "{allocations}"
    );
}

#[test]
fn any_mapping_may_fail() {
    let mappings = fail_in_turn("any_mapping_may_fail", "mapping");
    assert!(
        std::env::var_os(ROLE).is_some() || mappings >= 3,
        "{mappings}"
    );
}

#[test]
fn any_timer_may_be_refused() {
    let timers = fail_in_turn("any_timer_may_be_refused", "timer");
    // The trial of the builder, and three workers.
    let expected = if cfg!(uthread_tsan) { 0 } else { 4 };
    assert!(std::env::var_os(ROLE).is_some() || timers == expected);
}

#[test]
fn any_kernel_thread_may_be_refused() {
    let threads = fail_in_turn("any_kernel_thread_may_be_refused", "thread");
    // Two workers, and at least one transfer helper.
    assert!(
        std::env::var_os(ROLE).is_some() || threads >= 3,
        "{threads}"
    );
}
