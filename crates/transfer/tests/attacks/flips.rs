//! Single bits that flip in transit, anywhere, in either direction.
//!
//! Every flip must be detected. Only a flip in the greeting or in the plain answer may go unnoticed,
//! and it must then change nothing. The same seed always gives the same flips. A long campaign:
//!
//! ```sh
//! OSCOPE_FLIPS=100000 OSCOPE_FLIPS_SEED=7 cargo test --release -p oscope-transfer --test attacks flips
//! ```

use crate::between::{Act, Line, Speech, Turn};
use crate::common::{Draw, KEEPING, PATIENCE, receive_methods};
use crate::scene::{Protection, SEALED, SUMMED, Scene};
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::sender::Plan;
use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Default number of flips.
const FLIPS: u64 = 1000;
/// Number of concurrent transfers, each through a separate attacker.
const THREADS: usize = 4;
/// Maximum time that either side waits, since a flip may make it expect bytes that never come.
const FLIPPED_PATIENCE: Duration = Duration::from_secs(1);
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

/// A flip in a transfer of this number of bytes in each direction of each connection.
fn draw_flip(draw: &mut Draw, lens: &[[u64; 2]]) -> Flip {
    let connection = draw.below(lens.len() as u64) as usize;
    // The sender sends most of the bytes.
    let direction = usize::from(draw.below(3) == 0);
    let len = lens[connection][direction];
    let at = match draw.below(4) {
        0 => draw.below(EDGE.min(len)),
        1 => len - 1 - draw.below(EDGE.min(len)),
        _ => draw.below(len),
    };
    Flip {
        way: (connection, direction),
        at,
        bit: draw.below(8) as u32,
    }
}

/// Number of bytes that passed in each direction of two connections.
type Passed = Arc<Mutex<[[u64; 2]; 2]>>;

/// Counts the bytes that pass, and flips one bit.
fn flipper(flip: Option<Flip>) -> (Passed, Arc<Act>) {
    let passed = Passed::default();
    let counted = Arc::clone(&passed);
    let act = move |number: usize, turn: Turn, speech: &mut Speech| {
        let way = (number, usize::from(!turn.is_senders()));
        let mut passed = counted.lock().expect("nobody panics");
        let before = &mut passed[way.0][way.1];
        for unit in &mut speech.units {
            let end = *before + unit.0.len() as u64;
            if let Some(flip) = flip.filter(|it| it.way == way && (*before..end).contains(&it.at)) {
                unit.0[(flip.at - *before) as usize] ^= 1 << flip.bit;
            }
            *before = end;
        }
    };
    (passed, Arc::new(act))
}

/// A repeatable transfer with flips.
struct Course {
    scene: Scene,
    plan: Plan,
    line: Line,
    /// Number of bytes in each direction of each connection.
    lens: Vec<[u64; 2]>,
}

impl Course {
    fn new(protection: Protection, method: ReceiveMethod, streams: u16) -> Self {
        let mut scene = Scene::with(protection, method, FLIPPED_PATIENCE, 16);
        let mut line = scene.line();
        if streams > 1 {
            scene.add_divided();
            line.files = vec![3, 2];
        }
        let plan = Plan { streams, ..KEEPING };
        // This transfer must succeed, so it gets the usual patience.
        let (passed, act) = flipper(None);
        let (ended, _) = scene.send(PATIENCE, plan, line.clone(), act);
        scene.assert_whole(&ended);
        scene.clear();
        let passed = passed.lock().expect("nobody panics");
        let lens = passed[..usize::from(streams)].to_vec();
        Self {
            scene,
            plan,
            line,
            lens,
        }
    }

    /// Flips one bit; returns a complaint if nobody noticed.
    fn flip(&self, flip: Flip) -> Option<String> {
        let (ended, has_flipped) = self.scene.until_changed(|| {
            let (_, act) = flipper(Some(flip));
            self.scene
                .send(FLIPPED_PATIENCE, self.plan, self.line.clone(), act)
        });
        let complaint = if !has_flipped {
            Some(format!("the bit was never there: {ended:?}"))
        } else if flip.at < GREETING {
            self.scene.judge_harm(&ended)
        } else {
            self.scene.judge(&ended)
        };
        self.scene.clear();
        complaint.map(|complaint| {
            let protection = self.scene.protection;
            format!("{flip:?} of {:?}, {protection:?}: {complaint}", self.lens)
        })
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
fn flips_are_noticed(protection: Protection) {
    let (flips, seed) = (
        number("OSCOPE_FLIPS", FLIPS),
        number("OSCOPE_FLIPS_SEED", 1),
    );
    let mut methods = receive_methods();
    methods.retain(|method| method.can(protection.cover));
    let next = AtomicU64::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let each = methods
                    .iter()
                    .flat_map(|method| [(*method, 1), (*method, 2)]);
                let course = |(method, streams)| Course::new(protection, method, streams);
                let courses: Vec<_> = each.map(course).collect();
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= flips {
                        break;
                    }
                    let mut draw = Draw::new(seed.wrapping_mul(1 << 40).wrapping_add(round));
                    let course = &courses[draw.below(courses.len() as u64) as usize];
                    if let Some(complaint) = course.flip(draw_flip(&mut draw, &course.lens)) {
                        let complaint = format!("seed {seed}, round {round}: {complaint}");
                        complaints.lock().expect("nobody panics").push(complaint);
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
fn flips_are_noticed_with_a_token() {
    flips_are_noticed(SEALED);
}

#[test]
fn flips_are_noticed_by_sums_without_a_token() {
    flips_are_noticed(SUMMED);
}
