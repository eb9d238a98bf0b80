//! Locks of readers and writers, functions that run once, and channels that are watched.

use std::sync::Arc;

use crate::sync::{End, Notice, Once, RwLock, Semaphore, bounded};
use crate::worker::require_worker;
use crate::{LIMIT, Number, Touch, model};

impl<T> Touch for RwLock<T> {
    fn touch(&self) {
        drop(self.read().expect("no poison"));
    }
}

/// Its function does not run.
impl Touch for Once {
    fn touch(&self) {
        assert!(!self.is_completed());
        let call = || self.call(|| std::panic::resume_unwind(Box::new(())));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    }
}

#[test]
fn writers_exclude_each_other_and_readers() {
    fn write_and_read(lock: &RwLock<Number>) {
        let before = {
            let number = lock.write().expect("no poison");
            number.add(1);
            number.get()
        };
        assert!(lock.read().expect("no poison").get() >= before);
    }
    model(
        || RwLock::new(Number::new()),
        write_and_read,
        write_and_read,
        |lock| assert_eq!(lock.read().expect("no poison").get(), 2),
    );
}

/// Either the writer has the lock, or its time was up, and the reader goes on.
#[test]
fn a_writer_whose_time_is_up_lets_readers_pass() {
    model(
        || RwLock::new(Number::new()),
        |lock| {
            if let Ok(number) = lock.write_timeout(LIMIT) {
                number.add(1);
            }
        },
        |lock| assert!(lock.read().expect("no poison").get() <= 1),
        |lock| lock.write().expect("no poison").add(1),
    );
}

#[test]
fn a_function_runs_once_and_all_see_it() {
    fn call((once, number): &(Once, Number)) {
        once.call(|| number.add(1));
        assert_eq!(number.get(), 1);
    }
    model(|| (Once::new(), Number::new()), call, call, |_| {});
}

/// A value, the end of a sender and room are noticed by those who watch, however close they come.
#[test]
fn a_change_of_a_channel_is_noticed() {
    model(
        || (bounded(1), Arc::new(Semaphore::new(0))),
        |((_, receiver), noticed)| {
            let permits = Arc::clone(noticed);
            let notice: Notice = Arc::new(move || permits.add(1));
            let worker = require_worker("a test");
            if !receiver.is_ready(worker, &notice) {
                noticed.acquire();
            }
            End::forget(receiver, worker, &notice);
            assert_eq!(receiver.try_recv(), Ok(7));
        },
        |((sender, _), _)| sender.send(7).expect("the receiver lives"),
        |_| {},
    );
}
