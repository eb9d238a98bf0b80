//! Animals that want into a room.

use super::super::monitor::{
    ANIMALS, BROADCAST, HELD, IN_ORDER, NOTIFY, ROOM, SIGNAL, VISIT, WAKING,
};
use super::{run, unknown};
use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;
use std::sync::Arc;
use uthread::{Condvar, Lock, LockGuard, Runtime, yield_now};

/// Visits of each animal in the run that is looked at closely.
const VISITS: u64 = 3;

pub(in super::super) fn monitor(
    point: &Point,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let animals = point.number(ANIMALS)?;
    let waking = match point.choice(WAKING)? {
        SIGNAL => Waking::Signal,
        BROADCAST => Waking::Broadcast,
        NOTIFY => Waking::Notify,
        other => return Err(unknown("way of waking", other)),
    };
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
        sampler.value(HELD, inside.held as f64 / inside.woken.max(1) as f64)?;
        sampler.value(IN_ORDER, f64::from(u8::from(inside.in_order)))?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waking {
    Signal,
    Broadcast,
    Notify,
}

/// What the lock guards.
struct Inside {
    now: usize,
    most: usize,
    /// Wake-ups, and those after which there was room.
    woken: u64,
    held: u64,
    /// Tickets of those who wait, and whether they were let in by their numbers.
    next_ticket: u64,
    last_admitted: u64,
    in_order: bool,
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
            inside.in_order &= ticket > inside.last_admitted;
            inside.last_admitted = inside.last_admitted.max(ticket);
        }
        inside.now += 1;
        inside.most = inside.most.max(inside.now);
    }

    fn leave(&self) {
        let mut inside = self.lock();
        // Others come, and queue for the lock.
        yield_now();
        inside.now -= 1;
        match self.waking {
            Waking::Signal => self.room.signal_exit(inside),
            Waking::Broadcast => self.room.broadcast(&inside),
            Waking::Notify => self.room.notify(&inside),
        }
    }
}

/// Lets each animal visit the room so many times.
fn open_zoo(waking: Waking, animals: u64, visits: u64) -> Result<Inside, MeasureError> {
    run(Runtime::builder(), || {
        let zoo = Arc::new(Zoo {
            inside: Lock::new(Inside {
                now: 0,
                most: 0,
                woken: 0,
                held: 0,
                next_ticket: 0,
                last_admitted: 0,
                in_order: true,
            }),
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
