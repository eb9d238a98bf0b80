//! Loom explores the interleavings of lock, condition variable, semaphore, channel and barrier between
//! threads on different workers. The code is in the library's own files, compiled with loom's atomics
//! and with workers that each run one thread: where the library switches, such a thread waits.
//!
//! Not under Wine: it finds no handlers of panics on the stacks that loom makes. The structures are the same on
//! all systems.
#![cfg(not(windows))]
#![expect(unsafe_code, reason = "the structures link threads through pointers")]
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_self,
    reason = "the files are part of the library, which uses all"
)]

mod atomic;
mod sharing;
mod thread;
mod worker;

#[path = "../../src/scheduler/mod.rs"]
mod scheduler;
#[path = "../../src/spin.rs"]
mod spin;
#[path = "../../src/sync/mod.rs"]
mod sync;
#[path = "../../src/thread/wait.rs"]
mod wait;
#[path = "../../src/thread/waiting.rs"]
mod waiting;

mod trace {
    pub(crate) enum Kind {
        Priority(crate::scheduler::Priority),
    }
}

use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use sync::{Barrier, Condvar, Lock, Protocol, Receiver, Semaphore, Sender, bounded};
use worker::{Shared, Worker};

/// A time limit, which passes at any point of what the other threads do.
const LIMIT: Duration = Duration::ZERO;

/// Explores the interleavings of `first` with `second`, with a limited number of preemptions: without
/// a limit, a thread could spin forever. Loom reports a thread that nothing wakes.
fn model<T: Touch + Send + Sync + 'static>(
    new: impl Fn() -> T + Sync + Send + 'static,
    first: fn(&T),
    second: fn(&T),
    last: fn(&T),
) {
    model_many(new, first, [second], last);
}

fn model_many<T: Touch + Send + Sync + 'static, const N: usize>(
    new: impl Fn() -> T + Sync + Send + 'static,
    first: fn(&T),
    others: [fn(&T); N],
    last: fn(&T),
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let runtime = Shared::new();
        let workers: std::sync::Arc<[Worker]> =
            (0..=N).map(|index| Worker::new(&runtime, index)).collect();
        // SAFETY: this thread, which keeps the workers, joins all others.
        let begun = unsafe { workers[0].begin() };
        let shared = Arc::new(new());
        shared.touch();
        let start = |(index, work): (usize, fn(&T))| {
            let (workers, shared) = (std::sync::Arc::clone(&workers), Arc::clone(&shared));
            loom::thread::spawn(move || {
                // SAFETY: as above.
                let begun = unsafe { workers[index + 1].begin() };
                work(&shared);
                drop(shared);
                drop(begun);
            })
        };
        let others: Vec<_> = others.into_iter().enumerate().map(start).collect();
        first(&shared);
        for other in others {
            other.join().expect("it does not panic");
        }
        last(&shared);
        drop(shared);
        drop(begun);
    });
}

/// As [`model`], but the second thread belongs to no runtime.
fn model_outside<T: Touch + Send + Sync + 'static>(
    new: impl Fn() -> T + Sync + Send + 'static,
    inside: fn(&T),
    outside: fn(&T),
    last: fn(&T),
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let worker = std::sync::Arc::new(Worker::new(&Shared::new(), 0));
        // SAFETY: this thread, which keeps the worker, joins the other one.
        let begun = unsafe { worker.begin() };
        worker.open();
        let shared = Arc::new(new());
        shared.touch();
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || outside(&shared))
        };
        inside(&shared);
        other.join().expect("it does not panic");
        last(&shared);
        drop(shared);
        drop(begun);
    });
}

/// Uses each atomic value of an object once, and leaves the object as it was.
trait Touch {
    fn touch(&self) {}
}

impl<T> Touch for Lock<T> {
    fn touch(&self) {
        let guard = self.lock().expect("no poison");
        drop(Condvar::new().wait_timeout(guard, LIMIT));
    }
}

impl Touch for Semaphore {
    fn touch(&self) {
        self.release(1);
        self.acquire();
    }
}

impl Touch for Barrier {
    fn touch(&self) {
        assert!(self.wait_timeout(LIMIT).is_none());
    }
}

impl<T: Send> Touch for Receiver<T> {
    fn touch(&self) {
        assert!(self.try_recv().is_err());
    }
}

impl<T> Touch for Sender<T> {}

impl Touch for Condvar {}

impl<T: Touch> Touch for std::sync::Arc<T> {
    fn touch(&self) {
        (**self).touch();
    }
}

impl Touch for Number {}

impl<A: Touch, B: Touch> Touch for (A, B) {
    fn touch(&self) {
        self.0.touch();
        self.1.touch();
    }
}

impl<A: Touch, B: Touch, C: Touch> Touch for (A, B, C) {
    fn touch(&self) {
        self.0.touch();
        self.1.touch();
        self.2.touch();
    }
}

impl<A: Touch> Touch for [A; 2] {
    fn touch(&self) {
        self.iter().for_each(Touch::touch);
    }
}

/// A number that loom watches: it reports two uses at the same time, or one without the other's result.
struct Number(UnsafeCell<u32>);

// SAFETY: loom runs all threads of a model on one kernel thread.
unsafe impl Send for Number {}
// SAFETY: as above.
unsafe impl Sync for Number {}

impl Number {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn add(&self, more: u32) {
        // SAFETY: only for this moment; loom reports another use.
        self.0.with_mut(|number| unsafe { *number += more });
    }

    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|number| unsafe { *number })
    }
}

fn enter_twice(lock: &Lock<Number>) {
    for _ in 0..2 {
        lock.lock().expect("no poison").add(1);
    }
}

fn four(lock: &Lock<Number>) {
    assert_eq!(lock.lock().expect("no poison").get(), 4);
}

#[test]
fn the_lock_excludes_and_loses_nobody() {
    model(|| Lock::new(Number::new()), enter_twice, enter_twice, four);
}

#[test]
fn the_fifo_lock_excludes_and_loses_nobody() {
    model(|| Lock::fifo(Number::new()), enter_twice, enter_twice, four);
}

#[test]
fn the_lock_with_inheritance_excludes_and_loses_nobody() {
    model(
        || Lock::with_protocol(Number::new(), Protocol::Inheritance),
        enter_twice,
        enter_twice,
        four,
    );
}

#[test]
fn three_threads_share_a_lock() {
    fn enter(lock: &Lock<Number>) {
        lock.lock().expect("no poison").add(1);
    }
    model_many(
        || Lock::fifo(Number::new()),
        enter,
        [enter, enter],
        |lock| assert_eq!(lock.lock().expect("no poison").get(), 3),
    );
}

/// Either the thread has the lock, or its time was up, and the lock works on.
#[test]
fn a_lock_is_granted_or_its_time_is_up() {
    for new in [Lock::new as fn(Number) -> Lock<Number>, Lock::fifo] {
        model(
            move || new(Number::new()),
            |lock| lock.lock().expect("no poison").add(1),
            |lock| {
                if let Ok(number) = lock.lock_timeout(LIMIT) {
                    number.add(1);
                }
            },
            |lock| assert!([1, 2].contains(&lock.lock().expect("no poison").get())),
        );
    }
}

type Monitor = (Lock<Number>, Condvar);

fn monitor() -> Monitor {
    (Lock::new(Number::new()), Condvar::new())
}

/// The promise of Hoare: the waiter runs at once, and nobody changes the number in between.
#[test]
fn a_signalled_thread_finds_what_was_signalled() {
    model(
        monitor,
        |(lock, changed)| {
            let mut number = lock.lock().expect("no poison");
            if number.get() == 0 {
                number = changed.wait(number).expect("no poison");
                assert_eq!(number.get(), 1);
            }
            number.add(10);
        },
        |(lock, changed)| {
            let number = lock.lock().expect("no poison");
            number.add(1);
            let number = changed.signal(number).expect("no poison");
            assert!([1, 11].contains(&number.get()));
        },
        |(lock, _)| assert_eq!(lock.lock().expect("no poison").get(), 11),
    );
}

#[test]
fn a_notified_thread_does_not_sleep_on() {
    model(
        monitor,
        |(lock, changed)| {
            let mut number = lock.lock().expect("no poison");
            while number.get() == 0 {
                number = changed.wait(number).expect("no poison");
            }
        },
        |(lock, changed)| {
            let number = lock.lock().expect("no poison");
            number.add(1);
            changed.notify(&number);
        },
        |_| {},
    );
}

#[test]
fn a_thread_notified_from_outside_does_not_sleep_on() {
    for new in [Lock::new as fn(Number) -> Lock<Number>, Lock::fifo] {
        model(
            move || (new(Number::new()), Condvar::new()),
            |(lock, changed)| {
                let mut number = lock.lock().expect("no poison");
                while number.get() == 0 {
                    number = changed.wait(number).expect("no poison");
                }
                number.add(1);
            },
            |(lock, changed)| {
                lock.lock().expect("no poison").add(1);
                changed.notify_outside();
            },
            |(lock, _)| assert_eq!(lock.lock().expect("no poison").get(), 2),
        );
    }
}

/// The signal finds the waiter, or the waiter's time is up; the lock is free afterwards.
#[test]
fn a_wait_is_signalled_or_its_time_is_up() {
    model(
        monitor,
        |(lock, changed)| {
            let number = lock.lock().expect("no poison");
            if number.get() == 0 {
                let (number, _) = changed.wait_timeout(number, LIMIT).expect("no poison");
                number.add(10);
            }
        },
        |(lock, changed)| {
            let number = lock.lock().expect("no poison");
            number.add(1);
            changed.signal_exit(number);
        },
        |(lock, _)| assert!([1, 11].contains(&lock.lock().expect("no poison").get())),
    );
}

fn permit_and_number() -> (Semaphore, Number) {
    (Semaphore::new(0), Number::new())
}

fn acquires((semaphore, number): &(Semaphore, Number)) {
    semaphore.acquire();
    number.add(1);
}

fn releases((semaphore, number): &(Semaphore, Number)) {
    number.add(1);
    semaphore.release(1);
}

fn both_have_added((_, number): &(Semaphore, Number)) {
    assert_eq!(number.get(), 2);
}

/// A thread that gets a permit sees everything that was done before its release.
#[test]
fn a_permit_carries_what_was_done_before() {
    model(permit_and_number, acquires, releases, both_have_added);
}

#[test]
fn a_permit_from_outside_carries_what_was_done_before() {
    model_outside(permit_and_number, acquires, releases, both_have_added);
}

/// The sender waits where the channel has no room.
#[test]
fn values_from_outside_arrive_in_order() {
    for room in [0, 1] {
        model_outside(
            move || bounded(room),
            |(_, receiver)| {
                assert_eq!(receiver.recv(), Ok(1));
                assert_eq!(receiver.recv(), Ok(2));
            },
            |(sender, _)| {
                for value in 1..=2 {
                    sender.send(value).expect("the receiver lives");
                }
            },
            |(_, receiver)| assert!(receiver.try_recv().is_err()),
        );
    }
}

/// The last receiver's end wakes the sender outside.
#[test]
fn a_closed_channel_wakes_its_sender_outside() {
    model_outside(
        || {
            let (sender, receiver) = bounded(0);
            receiver.touch();
            drop(receiver.clone());
            (Lock::new(Some(receiver)), sender)
        },
        |(receiver, _)| {
            let receiver = receiver.lock().expect("no poison").take();
            drop(receiver);
        },
        |(_, sender)| assert!(sender.send(7).is_err()),
        |_| {},
    );
}

#[test]
fn no_permit_is_lost_when_time_is_up() {
    model(
        || Semaphore::new(0),
        |semaphore| {
            if semaphore.acquire_timeout(LIMIT) {
                semaphore.release(1);
            }
        },
        |semaphore| semaphore.release(1),
        |semaphore| assert!(semaphore.try_acquire() && !semaphore.try_acquire()),
    );
}

#[test]
fn a_channel_hands_over_every_value_in_order() {
    for room in [0, 1] {
        model(
            move || bounded(room),
            |(sender, _)| {
                for value in 1..=2 {
                    sender.send(value).expect("the receiver lives");
                }
            },
            |(_, receiver)| {
                assert_eq!(receiver.recv(), Ok(1));
                assert_eq!(receiver.recv(), Ok(2));
            },
            |(_, receiver)| assert!(receiver.try_recv().is_err()),
        );
    }
}

/// A value is received, or the sender gets it back, never both.
#[test]
fn a_value_is_received_or_its_time_is_up() {
    model(
        || (bounded(0), [Number::new(), Number::new()]),
        |((sender, _), [kept, _])| {
            if sender.send_timeout(1, LIMIT).is_err() {
                kept.add(1);
            }
        },
        |((_, receiver), [_, received])| {
            if let Ok(value) = receiver.recv_timeout(LIMIT) {
                received.add(value);
            }
        },
        |((_, receiver), [kept, received])| {
            assert!(receiver.try_recv().is_err());
            assert_eq!(kept.get() + received.get(), 1);
        },
    );
}

/// The last sender's end wakes the receiver that waits.
#[test]
fn a_closed_channel_wakes_its_receiver() {
    model(
        || {
            let (sender, receiver) = bounded::<u32>(0);
            (Lock::new(Some(sender)), receiver)
        },
        |(_, receiver)| assert!(receiver.recv().is_err()),
        |(sender, _)| {
            let sender = sender.lock().expect("no poison").take();
            drop(sender);
        },
        |_| {},
    );
}

/// The ends of a channel that no runtime owns yet.
struct Unused(std::sync::Mutex<Option<Sender<u32>>>, Receiver<u32>);

impl Touch for Unused {
    fn touch(&self) {
        worker::in_a_former_runtime(|| {
            let sender = self.0.lock().expect("no poison").clone();
            drop((sender, self.1.clone()));
            assert!(self.1.try_recv().is_err());
        });
    }
}

impl Unused {
    fn new() -> Self {
        let (sender, receiver) = bounded(1);
        Self(std::sync::Mutex::new(Some(sender)), receiver)
    }

    fn take_sender(&self) -> Sender<u32> {
        let mut sender = self.0.lock().expect("no poison");
        sender.take().expect("it is taken once")
    }
}

/// One worker drops the sender while the other makes the channel its runtime's.
#[test]
fn a_sender_that_goes_at_the_first_receive_is_counted() {
    model(
        Unused::new,
        |ends| drop(ends.take_sender()),
        |ends| assert!(ends.1.recv().is_err()),
        |_| {},
    );
}

/// One worker clones the sender while the other makes the channel its runtime's.
#[test]
fn a_sender_that_is_cloned_at_the_first_receive_is_counted() {
    model(
        Unused::new,
        |ends| {
            let sender = ends.take_sender();
            let other = sender.clone();
            drop(sender);
            other.send(7).expect("the receiver lives");
        },
        |ends| assert_eq!(ends.1.recv(), Ok(7)),
        |_| {},
    );
}

/// Each thread sees what the other did before the barrier.
#[test]
fn a_barrier_opens_for_all() {
    fn meet((barrier, numbers, place): &(Barrier, [Number; 2], Semaphore)) {
        let mine = usize::from(place.try_acquire());
        numbers[mine].add(1);
        barrier.wait();
        assert_eq!(numbers[1 - mine].get(), 1);
    }
    model(
        || {
            let numbers = [Number::new(), Number::new()];
            (Barrier::new(2), numbers, Semaphore::new(1))
        },
        meet,
        meet,
        |_| {},
    );
}
