//! Priority inversion and its remedies: C (GREEN) holds a lock for longer than a slice, A (RED)
//! waits for it, B (ORANGE) only computes.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use uthread::Priority::{Green, Orange, Red};
use uthread::{Builder, JoinHandle, Lock, Priority, Protocol, Runtime, Semaphore, current};

const SLICE: Duration = Duration::from_millis(1);

/// Computes for several slices.
fn compute() {
    for i in 0..5_000_000u64 {
        black_box(i);
    }
}

fn start(name: &str, priority: Priority, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let builder = Builder::new().name(name).priority(priority);
    builder.spawn(work).expect("there is memory for a stack")
}

fn show(title: &str, protocol: Protocol) {
    // SAFETY: the threads share nothing that belongs to the kernel thread.
    let builder = unsafe { Runtime::builder().slice(SLICE) };
    let runtime = builder
        .decay(false)
        .trace(10_000)
        .build()
        .expect("threads can be preempted here");
    let (end, ends) = channel();
    runtime.run(|| {
        current().set_priority(Red);
        let lock = Arc::new(Lock::with_protocol((), protocol));
        let locked = Arc::new(Semaphore::new(0));
        let done = |name: &'static str| {
            let end = end.clone();
            move || {
                // The channel of the standard library contains a lock.
                let _guard = uthread::no_preempt();
                end.send(name).expect("main listens");
            }
        };
        let (done_a, done_b, done_c) = (done("A"), done("B"), done("C"));
        let c = {
            let (lock, locked) = (Arc::clone(&lock), Arc::clone(&locked));
            start("C", Green, move || {
                let _guard = lock.lock().expect("nobody panics");
                locked.release(1);
                compute();
                done_c();
            })
        };
        locked.acquire();
        let a = start("A", Red, move || {
            let _guard = lock.lock().expect("nobody panics");
            compute();
            done_a();
        });
        let b = start("B", Orange, move || {
            compute();
            done_b();
        });
        for thread in [a, b, c] {
            thread.join().expect("nobody panics");
        }
    });
    drop(end);
    let order: Vec<_> = ends.iter().collect();
    println!("{title}: the order of finishing is {}", order.join(", "));
    println!("{}", runtime.trace().timeline(60));
}

fn main() {
    show("no remedy", Protocol::None);
    show("priority inheritance", Protocol::Inheritance);
    show("priority ceiling", Protocol::Ceiling(Red));
}
