//! Ninety animals want to enter a room that holds ten. The room is a Hoare monitor: an animal that
//! wakes up finds space without a second check.

use std::sync::Arc;

use uthread::{Condvar, Lock, Runtime, yield_now};

const ANIMALS: usize = 90;
const ROOM: usize = 10;

#[derive(Default)]
struct Inside {
    now: usize,
    most: usize,
    order: Vec<usize>,
}

struct Zoo {
    inside: Lock<Inside>,
    room: Condvar,
}

impl Zoo {
    fn enter(&self, animal: usize) {
        let mut inside = self.inside.lock().expect("no animal panics");
        if inside.now == ROOM {
            inside = self.room.wait(inside).expect("no animal panics");
        }
        assert!(inside.now < ROOM, "let in without room");
        inside.now += 1;
        inside.most = inside.most.max(inside.now);
        inside.order.push(animal);
    }

    fn leave(&self) {
        let mut inside = self.inside.lock().expect("no animal panics");
        inside.now -= 1;
        self.room.signal_exit(inside);
    }
}

fn main() {
    let runtime = Runtime::builder()
        .trace(10_000)
        .build()
        .expect("nothing special is asked for");
    runtime.run(|| {
        let zoo = Arc::new(Zoo {
            // Animals come in in the order in which they ask for the lock.
            inside: Lock::fifo(Inside::default()),
            room: Condvar::new(),
        });
        let animals: Vec<_> = (0..ANIMALS)
            .map(|animal| {
                let zoo = Arc::clone(&zoo);
                uthread::spawn(move || {
                    zoo.enter(animal);
                    (0..3).for_each(|_| yield_now());
                    zoo.leave();
                })
            })
            .collect();
        for animal in animals {
            animal.join().expect("no animal panics");
        }
        let inside = zoo.inside.lock().expect("no animal panics");
        assert!(
            inside.order.iter().copied().eq(0..ANIMALS),
            "not in the order of coming"
        );
        uthread::println!(
            "{ANIMALS} animals were inside, at most {} at a time, in the order of coming",
            inside.most
        );
    });
    let timeline = runtime.trace().timeline(72);
    println!("the first and the last of them:");
    let lines: Vec<_> = timeline.lines().collect();
    for line in lines
        .iter()
        .take(6)
        .chain(&["..."])
        .chain(lines.iter().rev().take(5).rev())
    {
        println!("{line}");
    }
}
