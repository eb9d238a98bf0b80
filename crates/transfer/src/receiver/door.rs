//! Admission: connections that have not yet proven their right to send are kept apart from accepted
//! ones.

use super::greeting::Opening;
use std::collections::VecDeque;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of waiting connections of each [`Standing`]. A further one replaces the oldest of
/// its own standing: silent connections keep nobody out, and strangers nobody who knows the token.
const MOST_AT_THE_DOOR: usize = 64;
/// Maximum number of addresses, and of openings, that are remembered; the oldest are forgotten.
const MOST_REMEMBERED: usize = 1024;

/// Admission control of a receiver.
#[derive(Default)]
pub(super) struct Door {
    hall: Mutex<Hall>,
    /// Accepted connections.
    inside: AtomicUsize,
    /// All connections that have a thread.
    threads: AtomicUsize,
}

/// The trust that a waiting connection has earned so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing.
    Stranger,
    /// Its address is that of a sender that has proven earlier that it knows the token.
    Known,
    /// It has sent a message that takes the token to make, or is known to be this user's.
    Vouched,
}

/// The connections that are not yet accepted, and the memory of earlier ones.
#[derive(Default)]
struct Hall {
    waiting: VecDeque<Waiting>,
    known: VecDeque<IpAddr>,
    openings: VecDeque<Opening>,
}

/// A connection that is not yet accepted.
struct Waiting {
    number: u64,
    socket: Arc<TcpStream>,
    standing: Standing,
}

/// Adds a value to the newest of many.
fn remember<T>(newest: &mut VecDeque<T>, value: T) {
    if newest.len() >= MOST_REMEMBERED {
        newest.pop_front();
    }
    newest.push_back(value);
}

impl Hall {
    /// Adds a connection, in place of the oldest of its standing if there are too many.
    fn add(&mut self, new: Waiting) {
        let is_alike = |waiting: &Waiting| waiting.standing == new.standing;
        let count = self.waiting.iter().filter(|waiting| is_alike(waiting));
        if count.count() >= MOST_AT_THE_DOOR
            && let Some(oldest) = self.waiting.iter().position(is_alike)
            && let Some(oldest) = self.waiting.remove(oldest)
        {
            // Its thread notices, wherever it blocks. The connection may already be closed.
            let _ = oldest.socket.shutdown(Shutdown::Both);
        }
        self.waiting.push_back(new);
    }

    fn remove(&mut self, number: u64) -> Option<Waiting> {
        let place = self.waiting.iter().position(|it| it.number == number)?;
        self.waiting.remove(place)
    }
}

/// The place of an accepted connection; dropping it frees the place.
pub(super) struct Inside<'d>(&'d Door);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Door {
    fn hall(&self) -> MutexGuard<'_, Hall> {
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a new connection from `address` under this number.
    pub(super) fn come(&self, number: u64, socket: Arc<TcpStream>, address: IpAddr) {
        self.threads.fetch_add(1, Ordering::AcqRel);
        let mut hall = self.hall();
        let standing = if hall.known.contains(&address) {
            Standing::Known
        } else {
            Standing::Stranger
        };
        hall.add(Waiting {
            number,
            socket,
            standing,
        });
    }

    /// Records that a waiting connection has shown by its `opening` that it knows the token, or
    /// without one that it is this user's. An opening that came before may be a recorded one, and
    /// shows nothing.
    pub(super) fn vouch(&self, number: u64, opening: Option<&Opening>) {
        let mut hall = self.hall();
        if let Some(opening) = opening {
            if hall.openings.contains(opening) {
                return;
            }
            remember(&mut hall.openings, *opening);
        }
        if let Some(waiting) = hall.remove(number) {
            hall.add(Waiting {
                standing: Standing::Vouched,
                ..waiting
            });
        }
    }

    /// Remembers the address of a sender that has proven that it knows the token.
    pub(super) fn remember(&self, address: IpAddr) {
        let mut hall = self.hall();
        if !hall.known.contains(&address) {
            remember(&mut hall.known, address);
        }
    }

    /// Removes a connection that is accepted or has ended.
    pub(super) fn leave(&self, number: u64) {
        self.hall().remove(number);
    }

    /// Takes one of `most` places for accepted connections; `None` if all are taken.
    pub(super) fn enter(&self, most: usize) -> Option<Inside<'_>> {
        let add = |inside| (inside < most).then_some(inside + 1);
        let added = self
            .inside
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        added.is_ok().then_some(Inside(self))
    }

    /// Counts the end of a connection's thread.
    pub(super) fn end(&self) {
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }

    /// True if there are no connections.
    pub(super) fn is_idle(&self) -> bool {
        self.threads.load(Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Door, MOST_AT_THE_DOOR, MOST_REMEMBERED};
    use std::io::Read;
    use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::Duration;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    /// Connections at a door.
    struct Scene {
        door: Door,
        listener: TcpListener,
        count: u64,
    }

    /// A connection at the door, and its number.
    struct Comer(u64, TcpStream);

    impl Scene {
        fn new() -> Self {
            Self {
                door: Door::default(),
                listener: TcpListener::bind((HERE, 0)).unwrap(),
                count: 0,
            }
        }

        fn comes(&mut self, from: IpAddr) -> Comer {
            let near = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
            let (far, _) = self.listener.accept().unwrap();
            self.count += 1;
            self.door.come(self.count, Arc::new(far), from);
            near.set_nonblocking(true).unwrap();
            Comer(self.count, near)
        }

        fn crowd(&mut self, from: IpAddr) -> Vec<Comer> {
            (0..MOST_AT_THE_DOOR).map(|_| self.comes(from)).collect()
        }
    }

    impl Comer {
        fn is_waiting(&mut self) -> bool {
            self.1.read(&mut [0]).is_err()
        }

        /// True if it is pushed out, which may take a moment to arrive.
        fn is_out(&mut self) -> bool {
            (0..1000).any(|_| {
                std::thread::sleep(Duration::from_millis(2));
                !self.is_waiting()
            })
        }
    }

    #[test]
    fn the_oldest_stranger_makes_place_for_the_next_unless_another_leaves() {
        let mut scene = Scene::new();
        let mut crowd = scene.crowd(HERE);
        scene.door.leave(crowd.remove(5).0);
        let mut next = scene.comes(HERE);
        assert!(next.is_waiting() && crowd.iter_mut().all(Comer::is_waiting));
        let mut next = scene.comes(HERE);
        assert!(next.is_waiting() && crowd[0].is_out() && crowd[1].is_waiting());
    }

    #[test]
    fn strangers_push_out_nobody_who_has_shown_the_token() {
        let mut scene = Scene::new();
        let (mut shown, mut replayed) = (scene.comes(HERE), scene.comes(HERE));
        let mut own = scene.comes(HERE);
        scene.door.vouch(shown.0, Some(&[7; 48]));
        scene.door.vouch(replayed.0, Some(&[7; 48]));
        scene.door.vouch(own.0, None);
        let _crowd = scene.crowd(HERE);
        assert!(shown.is_waiting() && own.is_waiting() && replayed.is_out());
        // Those who have shown it push each other out.
        let others = scene.crowd(HERE);
        for (index, Comer(number, _)) in others.iter().enumerate() {
            scene.door.vouch(*number, Some(&[index as u8 + 8; 48]));
        }
        assert!(shown.is_out());
    }

    #[test]
    fn strangers_push_out_no_address_that_proved_to_know_the_token() {
        let mut scene = Scene::new();
        scene.door.remember(ELSEWHERE);
        let mut known = scene.comes(ELSEWHERE);
        let _crowd = scene.crowd(HERE);
        let mut stranger = scene.comes(HERE);
        assert!(known.is_waiting() && stranger.is_waiting());
        // Among themselves they do, and an address may be forgotten.
        let _crowd = scene.crowd(ELSEWHERE);
        assert!(known.is_out());
        for number in 0..MOST_REMEMBERED as u32 {
            scene.door.remember(Ipv4Addr::from(number).into());
        }
        assert!(!scene.door.hall().known.contains(&ELSEWHERE));
    }
}
