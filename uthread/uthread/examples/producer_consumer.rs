//! Producers and consumers with a buffer of eight slots: a Hoare monitor.

use std::collections::VecDeque;
use std::sync::Arc;

use uthread::{Condvar, Lock, spawn};

const PLACES: usize = 8;
const EACH: u64 = 10_000;

#[derive(Default)]
struct Buffer {
    values: Lock<VecDeque<u64>>,
    not_full: Condvar,
    not_empty: Condvar,
}

impl Buffer {
    fn put(&self, value: u64) {
        let mut values = self.values.lock().expect("nobody panics");
        if values.len() == PLACES {
            values = self.not_full.wait(values).expect("nobody panics");
        }
        values.push_back(value);
        self.not_empty.signal_exit(values);
    }

    fn take(&self) -> u64 {
        let mut values = self.values.lock().expect("nobody panics");
        if values.is_empty() {
            values = self.not_empty.wait(values).expect("nobody panics");
        }
        let value = values
            .pop_front()
            .expect("Hoare's condition is true for the woken");
        self.not_full.signal_exit(values);
        value
    }
}

fn main() {
    uthread::run(|| {
        let buffer = Arc::new(Buffer::default());
        for producer in 0..3 {
            let buffer = Arc::clone(&buffer);
            drop(spawn(move || {
                (0..EACH).for_each(|i| buffer.put(producer * EACH + i));
            }));
        }
        let consumers = [(); 3].map(|()| {
            let buffer = Arc::clone(&buffer);
            spawn(move || (0..EACH).map(|_| buffer.take()).sum::<u64>())
        });
        let sum: u64 = consumers
            .into_iter()
            .map(|c| c.join().expect("nobody panics"))
            .sum();
        assert_eq!(sum, 3 * EACH * (3 * EACH - 1) / 2);
        uthread::println!(
            "{} values went through {PLACES} places, and none was lost",
            3 * EACH
        );
    });
}
