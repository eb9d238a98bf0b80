//! The zoo: animals that enter a room, guarded by a monitor.

use super::run;
use crate::prelude::*;
use crate::threads::kind::UserThreads;
use crate::threads::monitor::{ANIMALS, HELD, IN_ORDER, Monitor, ROOM, VISIT, WAKING, Waking};
use std::sync::Arc;
use uthread::{Condvar, Lock, LockGuard, Runtime, yield_now};

/// Visits of each animal in the run that is looked at closely.
const VISITS: u64 = 3;

impl UserThreads for Monitor {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(animals) = point.level(ANIMALS)?;
        let waking = point.level(WAKING)?;
        sampler.repeat(VISIT, animals as f64, |visits| {
            open_zoo(waking, animals, visits).map(drop)
        })?;
        for _ in 0..sampler.samples() {
            let inside = open_zoo(waking, animals, VISITS)?;
            if inside.most > ROOM {
                return Err(MeasureError::Unsupported(format!(
                    "the monitor let {} animals into a room for {ROOM}",
                    inside.most
                )));
            }
            if inside.woken > 0 {
                sampler.value(HELD, inside.held as f64 / inside.woken as f64);
            }
            sampler.value(IN_ORDER, f64::from(u8::from(!inside.out_of_order)));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Inside {
    now: usize,
    most: usize,
    /// Wake-ups, and those after which there was room.
    woken: u64,
    held: u64,
    /// Tickets of those who wait, and whether one was let in after a later one.
    next_ticket: u64,
    last_admitted: u64,
    out_of_order: bool,
}

struct Zoo {
    inside: Lock<Inside>,
    room: Condvar,
    waking: Waking,
}

impl Zoo {
    fn lock(&self) -> LockGuard<'_, Inside> {
        self.inside.lock().expect("no animal panics")
    }

    fn enter(&self) {
        let mut inside = self.lock();
        if inside.now == ROOM {
            inside.next_ticket += 1;
            let ticket = inside.next_ticket;
            loop {
                inside = self.room.wait(inside).expect("no animal panics");
                inside.woken += 1;
                if inside.now < ROOM {
                    inside.held += 1;
                    break;
                }
            }
            inside.out_of_order |= ticket < inside.last_admitted;
            inside.last_admitted = inside.last_admitted.max(ticket);
        }
        inside.now += 1;
        inside.most = inside.most.max(inside.now);
    }

    fn leave(&self) {
        let mut inside = self.lock();
        // Other animals run, and queue for the lock.
        yield_now();
        inside.now -= 1;
        match self.waking {
            Waking::Signal => self.room.signal_exit(inside),
            Waking::Broadcast => self.room.broadcast(&inside),
            Waking::Notify => self.room.notify(&inside),
        }
    }
}

/// Has each animal visit the room `visits` times.
fn open_zoo(waking: Waking, animals: u64, visits: u64) -> Result<Inside, MeasureError> {
    run(Runtime::builder(), || {
        let zoo = Arc::new(Zoo {
            inside: Lock::fifo(Inside::default()),
            room: Condvar::new(),
            waking,
        });
        let animals: Vec<_> = (0..animals)
            .map(|_| {
                let zoo = Arc::clone(&zoo);
                uthread::spawn(move || {
                    for _ in 0..visits {
                        zoo.enter();
                        yield_now();
                        zoo.leave();
                    }
                })
            })
            .collect();
        for animal in animals {
            animal.join().expect("no animal panics");
        }
        let zoo = Arc::into_inner(zoo).expect("all animals are gone");
        zoo.inside.into_inner().expect("no animal panics")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{count, sampled, setting, values};

    #[test]
    fn a_room_in_which_nobody_waits_says_nothing_of_wake_ups() {
        let point = Point::new().at(ANIMALS, Count(2));
        let samples = sampled(&Monitor, &point.at(WAKING, Waking::Signal), &[VISIT]);
        assert_eq!(count(&samples, HELD), 0);
    }

    #[test]
    fn hoare_keeps_the_promise_and_mesa_does_not() {
        for point in Monitor.points(&setting(Profile::Standard)) {
            let samples = sampled(&Monitor, &point, &[VISIT]);
            let all = |metric, of: fn(f64) -> bool| values(&samples, metric).into_iter().all(of);
            let is_kept = match point.level(WAKING).expect("it has one") {
                Waking::Signal => all(HELD, |it| it >= 1.0) && all(IN_ORDER, |it| it >= 1.0),
                Waking::Broadcast => all(HELD, |share| share > 0.0),
                Waking::Notify => all(HELD, |share| share < 1.0),
            };
            assert!(is_kept, "{point}");
        }
    }
}
