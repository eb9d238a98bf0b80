//! Single bits that flip in transit, anywhere, in either direction.
//!
//! Every flip must be detected. Only a flip in the greeting or in the plain answer may go unnoticed,
//! and it must then change nothing. The same seed always gives the same flips. A long campaign:
//!
//! ```sh
//! OSCOPE_FLIPS=100000 OSCOPE_FLIPS_SEED=7 cargo test --release -p oscope-transfer --test attacks flips
//! ```

use crate::common::{PATIENCE, receive_methods, send_to};
use crate::scene::{KEEPING, Protection, SEALED, SUMMED, Scene};
use oscope_transfer::Cover;
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::sender::Plan;
use std::env;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Default number of flips.
const FLIPS: u64 = 1000;
/// Number of concurrent transfers, each through an attacker of its own.
const THREADS: usize = 4;
/// Maximum time that either side waits, since a flip may make it expect bytes that never come.
const FLIPPED_PATIENCE: Duration = Duration::from_secs(1);
/// Attempts per flip. On a busy machine a transfer may time out before it reaches the bit.
const ATTEMPTS: usize = 5;
/// Number of bytes in the greeting, which nothing protects.
const GREETING: u64 = 64;
/// The first and the last bytes of a direction, which are drawn more often than those between.
const EDGE: u64 = 300;

/// A connection of a transfer, from 0, and its direction: 0 from the sender, 1 back.
type Way = (usize, usize);

/// A bit in transit.
#[derive(Clone, Copy, Debug)]
struct Flip {
    way: Way,
    at: u64,
    bit: u32,
}

/// Pseudorandom numbers, the same for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64: neighbouring seeds give unrelated sequences.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn flip(&mut self, lens: &[[u64; 2]]) -> Flip {
        let connection = self.below(lens.len() as u64) as usize;
        // The sender sends most of the bytes.
        let direction = usize::from(self.below(3) == 0);
        let len = lens[connection][direction];
        let at = match self.below(4) {
            0 => self.below(EDGE.min(len)),
            1 => len - 1 - self.below(EDGE.min(len)),
            _ => self.below(len),
        };
        Flip {
            way: (connection, direction),
            at,
            bit: self.below(8) as u32,
        }
    }
}

/// A repeatable transfer with flips.
struct Course {
    scene: Scene,
    plan: Plan,
    /// Number of bytes in each direction of each connection.
    lens: Vec<[u64; 2]>,
}

impl Course {
    fn new(protection: Protection, method: ReceiveMethod, streams: u16) -> Self {
        let mut scene = Scene::with(protection, method, FLIPPED_PATIENCE);
        if streams > 1 {
            scene.add_divided();
        }
        let mut course = Self {
            scene,
            plan: Plan { streams, ..KEEPING },
            lens: Vec::new(),
        };
        // This transfer must succeed, so it gets the usual patience.
        let (ended, passed) = course.run(None, PATIENCE);
        course.scene.assert_whole(&ended);
        course.scene.clear();
        course.lens = passed.lens();
        assert_eq!(course.lens.len(), usize::from(streams));
        course
    }

    fn run(&self, flip: Option<Flip>, patience: Duration) -> (crate::scene::Ended, Arc<Passed>) {
        let passed = Arc::new(Passed::new(flip));
        let served = &self.scene.served;
        served.log.lock().expect("nobody panics with it").clear();
        let line = Flipping::start(served.address, Arc::clone(&passed));
        let options = self.scene.options(patience);
        let (result, outcomes) = send_to(line.address, &self.scene.jobs, self.plan, &options);
        drop(line);
        served.wait_for_ends(passed.connections.load(Ordering::Acquire));
        let ended = crate::scene::Ended {
            result: result.map(drop),
            outcomes,
            log: served.log(),
        };
        (ended, passed)
    }

    /// Flips one bit; returns a complaint if nobody noticed.
    fn flip(&self, flip: Flip) -> Option<String> {
        let has_flipped = |passed: &Passed| passed.has_flipped.load(Ordering::Acquire);
        let (mut ended, mut passed) = self.run(Some(flip), FLIPPED_PATIENCE);
        for _ in 1..ATTEMPTS {
            if has_flipped(&passed) {
                break;
            }
            self.scene.clear();
            (ended, passed) = self.run(Some(flip), FLIPPED_PATIENCE);
        }
        let complaint = if !has_flipped(&passed) {
            Some(format!("the bit was never there: {ended:?}"))
        } else if flip.at < GREETING {
            self.scene.judge_harm(&ended)
        } else {
            self.scene.judge(&ended)
        };
        self.scene.clear();
        complaint.map(|complaint| {
            let Scene { protection, .. } = self.scene;
            let streams = self.plan.streams;
            format!(
                "{flip:?} of {:?}, {protection:?}, {streams} streams: {complaint}",
                self.lens
            )
        })
    }
}

/// Bytes that passed, and the bit to flip among them.
struct Passed {
    flip: Option<Flip>,
    has_flipped: AtomicBool,
    connections: AtomicUsize,
    bytes: [[AtomicU64; 2]; 2],
}

impl Passed {
    fn new(flip: Option<Flip>) -> Self {
        Self {
            flip,
            has_flipped: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            bytes: Default::default(),
        }
    }

    fn lens(&self) -> Vec<[u64; 2]> {
        let count = self.connections.load(Ordering::Acquire);
        let lens = self
            .bytes
            .each_ref()
            .map(|bytes| bytes.each_ref().map(|bytes| bytes.load(Ordering::Acquire)));
        lens[..count].to_vec()
    }

    fn pass(&self, way: Way, mut from: &TcpStream, mut to: &TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let bytes = &self.bytes[way.0][way.1];
            let before = bytes.fetch_add(count as u64, Ordering::AcqRel);
            if let Some(flip) = self.flip
                && flip.way == way
                && (before..before + count as u64).contains(&flip.at)
            {
                buffer[(flip.at - before) as usize] ^= 1 << flip.bit;
                self.has_flipped.store(true, Ordering::Release);
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }
}

/// A link on which a bit flips; stops when dropped.
struct Flipping {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Flipping {
    fn start(receiver: SocketAddr, passed: Arc<Passed>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let is_over = Arc::<AtomicBool>::default();
        let thread = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                thread::scope(|scope| {
                    for connection in 0.. {
                        let (near, _) = listener.accept().expect("it listens");
                        if is_over.load(Ordering::Acquire) {
                            break;
                        }
                        passed.connections.fetch_add(1, Ordering::AcqRel);
                        let passed = &passed;
                        scope.spawn(move || {
                            let far = TcpStream::connect(receiver).expect("the receiver is there");
                            for socket in [&near, &far] {
                                socket.set_nodelay(true).expect("it is there");
                            }
                            thread::scope(|scope| {
                                scope.spawn(|| passed.pass((connection, 1), &far, &near));
                                passed.pass((connection, 0), &near, &far);
                            });
                        });
                    }
                });
            }
        });
        Self {
            address,
            is_over,
            thread: Some(thread),
        }
    }
}

impl Drop for Flipping {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the thread that waits for the next connection.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(joined.is_ok() || thread::panicking(), "the line panicked");
        }
    }
}

/// A number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    let Ok(text) = env::var(name) else {
        return otherwise;
    };
    text.parse()
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Flips bits of transfers with this protection, over one connection and over two.
fn flips_are_told(protection: Protection) {
    let (flips, seed) = (
        number("OSCOPE_FLIPS", FLIPS),
        number("OSCOPE_FLIPS_SEED", 1),
    );
    let methods: Vec<_> = receive_methods()
        .into_iter()
        .filter(|method| protection.cover != Cover::Sealed || *method != ReceiveMethod::Splice)
        .collect();
    let next = AtomicU64::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let courses: Vec<_> = methods
                    .iter()
                    .flat_map(|method| {
                        [1, 2].map(|streams| Course::new(protection, *method, streams))
                    })
                    .collect();
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= flips {
                        break;
                    }
                    let mut draw = Draw(seed.wrapping_mul(1 << 40).wrapping_add(round));
                    let course = &courses[draw.below(courses.len() as u64) as usize];
                    if let Some(complaint) = course.flip(draw.flip(&course.lens)) {
                        let complaint = format!("seed {seed}, round {round}: {complaint}");
                        complaints
                            .lock()
                            .expect("nobody panics with it")
                            .push(complaint);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("nobody panics with it");
    assert!(
        complaints.is_empty(),
        "{} of {flips} flips:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn flips_are_told_with_a_token() {
    flips_are_told(SEALED);
}

#[test]
fn flips_are_told_by_sums_without_a_token() {
    flips_are_told(SUMMED);
}
