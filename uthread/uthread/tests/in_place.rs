//! A runtime whose first thread is the caller, on its own stack.

#![expect(
    unsafe_code,
    reason = "a runtime in place, and a preemptive one, ask for promises"
)]

mod common;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use uthread::{InPlace, Lock, Runtime, RuntimeBuilder, current, spawn, suspend, yield_now};

fn begin(builder: RuntimeBuilder) -> InPlace {
    let runtime = builder.build().expect("the system can do this");
    // SAFETY: every test calls `end` on the same kernel thread.
    unsafe { runtime.begin() }.expect("there is memory for a stack")
}

#[test]
fn the_caller_is_the_first_thread_on_its_own_stack() {
    let before = 7;
    let first = begin(Runtime::builder());
    let after = 8;
    let apart = (&raw const before)
        .addr()
        .abs_diff((&raw const after).addr());
    assert!(apart < 4096, "the stack has changed");
    assert_eq!(
        (current().name(), current().id().number()),
        (Some("main"), 1)
    );
    let lock = Arc::new(Lock::new(0));
    let guard = lock.lock().expect("nobody panics");
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.lock().expect("nobody panics") += 1);
    yield_now();
    assert_eq!(*guard, 0);
    drop(guard);
    thread.join().expect("it does not panic");
    assert_eq!(*lock.lock().expect("nobody panics"), 1);
    first.end().expect("all threads have ended");
    assert!(!uthread::is_user_thread());
}

#[test]
fn the_end_waits_for_all_threads_and_allows_another_beginning() {
    let count = Arc::new(AtomicU64::new(0));
    for workers in [1, 2, 1] {
        let first = begin(Runtime::builder().workers(workers));
        for _ in 0..10 {
            let count = Arc::clone(&count);
            drop(spawn(move || {
                yield_now();
                count.fetch_add(1, Ordering::Relaxed);
            }));
        }
        first.end().expect("all threads have ended");
    }
    assert_eq!(count.load(Ordering::Relaxed), 30);
}

#[test]
fn threads_that_can_never_run_again_are_an_error_of_the_end() {
    let first = begin(Runtime::builder());
    drop(spawn(suspend));
    yield_now();
    let error = first.end().expect_err("a thread is stuck");
    assert_eq!(error.kind(), ErrorKind::Deadlock);
    begin(Runtime::builder())
        .end()
        .expect("all threads have ended");
}

#[test]
fn a_panic_of_the_first_thread_unwinds_the_callers_frames() {
    let first = begin(common::preemptive(Duration::from_millis(1)));
    let caught = uthread::catch_unwind(|| {
        yield_now();
        panic!("on the caller's stack")
    });
    assert!(caught.is_err());
    first.end().expect("all threads have ended");
}

#[test]
fn a_user_thread_cannot_begin_another_runtime() {
    let first = begin(Runtime::builder());
    let inside = std::panic::catch_unwind(|| {
        let runtime = Runtime::builder().build().expect("nothing is asked for");
        // SAFETY: it panics, since this is a user thread already.
        unsafe { runtime.begin() }
    });
    assert!(inside.is_err());
    first.end().expect("all threads have ended");
}
