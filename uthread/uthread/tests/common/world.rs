//! Objects that the threads of a random program share, with counts of what was granted and taken.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use proptest::prelude::*;
use uthread::{Condvar, Lock, LockGuard, LockResult, Receiver, Semaphore, Sender, bounded};

/// The programs of some threads.
pub fn programs<Step: std::fmt::Debug>(
    step: impl Strategy<Value = Step>,
) -> impl Strategy<Value = Vec<Vec<Step>>> {
    prop::collection::vec(prop::collection::vec(step, 0..12), 1..8)
}

/// Times in ns: few and short, so that grants and the ends of waits meet often.
pub fn time_ns() -> impl Strategy<Value = u64> {
    (0..5u64).prop_map(|n| n * 1000)
}

/// The lock is poisoned if its holder was cancelled, which harms no count.
pub fn whole<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
pub struct Count(AtomicUsize);

impl Count {
    pub fn bump(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

pub struct World {
    pub permits: Semaphore,
    pub lock: Lock<usize>,
    pub monitor: (Lock<usize>, Condvar),
    pub sender: Sender<u32>,
    pub receiver: Receiver<u32>,
    pub acquired: Count,
    released: Count,
    pub sent: Count,
    pub received: Count,
    held: Count,
    pub taken: Count,
    brought: Count,
}

/// Grants that nobody has taken at the end.
pub struct Left {
    permits: usize,
    in_channel: usize,
}

impl World {
    pub fn new(capacity: usize, barging: bool) -> Arc<Self> {
        let lock = if barging { Lock::new } else { Lock::fifo };
        let (sender, receiver) = bounded(capacity);
        Arc::new(Self {
            permits: Semaphore::new(0),
            lock: lock(0),
            monitor: (lock(0), Condvar::new()),
            sender,
            receiver,
            acquired: Count::default(),
            released: Count::default(),
            sent: Count::default(),
            received: Count::default(),
            held: Count::default(),
            taken: Count::default(),
            brought: Count::default(),
        })
    }

    pub fn release(&self) {
        self.released.bump();
        self.permits.release(1);
    }

    /// Holds the lock meanwhile, alone.
    pub fn hold(&self, mut value: LockGuard<'_, usize>, sleep: impl FnOnce(Duration), ns: u64) {
        let before = *value;
        sleep(Duration::from_nanos(ns));
        assert_eq!(*value, before, "two threads own the lock");
        *value += 1;
        self.held.bump();
    }

    /// Brings one unit into the monitor by Hoare's signal.
    pub fn bring(&self) {
        let mut units = whole(self.monitor.0.lock());
        *units += 1;
        self.brought.bump();
        drop(self.monitor.1.signal(units));
    }

    /// Counts what is left, in the runtime.
    pub fn take_left(&self) -> Left {
        let in_channel = std::iter::from_fn(|| self.receiver.try_recv().ok());
        let permits = std::iter::from_fn(|| self.permits.try_acquire().then_some(()));
        Left {
            permits: permits.count(),
            in_channel: in_channel.count(),
        }
    }

    /// Checks that everything granted was taken exactly once, and tells the counts.
    pub fn check(self: Arc<Self>, left: &Left) -> Vec<usize> {
        let world = Arc::into_inner(self).expect("all threads have ended");
        let counts = [
            world.acquired.get(),
            world.released.get(),
            world.sent.get(),
            world.received.get(),
            world.held.get(),
            world.taken.get(),
            world.brought.get(),
        ];
        let [acquired, released, sent, received, held, taken, brought] = counts;
        assert_eq!(acquired + left.permits, released);
        assert_eq!(received + left.in_channel, sent);
        assert_eq!(whole(world.lock.into_inner()), held);
        assert_eq!(taken + whole(world.monitor.0.into_inner()), brought);
        counts.to_vec()
    }
}
