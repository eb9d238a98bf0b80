//! Single bits that flip in transit, and connections that end, anywhere, in either direction.
//!
//! Every flip must be detected. Only a flip in the greeting or in the plain answer may go unnoticed,
//! and it must then change nothing. The same seed always gives the same damage. A long campaign:
//!
//! ```sh
//! OSCOPE_FLIPS=100000 OSCOPE_FLIPS_SEED=7 cargo test --release -p oscope-transfer --test attacks damage
//! ```

use crate::common::proxy::{Mischief, Ways};
use crate::common::{Draw, KEEPING, PATIENCE, receive_methods};
use crate::scene::{GREETING, Protection, SEALED, Scene};
use oscope_transfer::Cover;
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::sender::Plan;
use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Default number of damaged transfers.
const FLIPS: u64 = 1000;
/// Number of concurrent transfers, each through a separate attacker.
const THREADS: usize = 4;
/// Maximum time that either side waits, since a flip may make it expect bytes that never come.
const DAMAGED_PATIENCE: Duration = Duration::from_secs(1);
/// The first and the last bytes of a direction, which are drawn more often than those between.
const EDGE: u64 = 300;

/// A repeatable transfer.
struct Course {
    scene: Scene,
    plan: Plan,
    /// Number of bytes in each direction of each connection.
    lens: Vec<[u64; 2]>,
}

/// Damage to the bytes of a connection of a transfer, there or back.
struct Damage {
    connection: usize,
    direction: usize,
    at: u64,
    mischief: Mischief,
    name: String,
}

impl Course {
    /// A transfer over one connection or two, or one that continues a file.
    fn new(protection: Protection, method: ReceiveMethod, plan: Plan) -> Self {
        let mut scene = Scene::with(protection, method, DAMAGED_PATIENCE, 16);
        if plan.streams > 1 {
            scene.add_divided();
        }
        if plan.resume {
            scene.jobs.retain(|job| job.name == b"sparse");
        }
        // This transfer must succeed, so it gets the usual patience.
        let traffic = scene.until_whole(|| scene.send(PATIENCE, plan, Vec::new()));
        let bytes = traffic.bytes[..usize::from(plan.streams)].iter();
        let lens = bytes.map(|bytes| bytes.each_ref().map(|it| it.load(Ordering::Acquire)));
        let lens = lens.collect();
        Self { scene, plan, lens }
    }

    fn draw(&self, draw: &mut Draw) -> Damage {
        let connection = draw.below(self.lens.len() as u64) as usize;
        // The sender sends most of the bytes.
        let direction = usize::from(draw.below(3) == 0);
        let len = self.lens[connection][direction];
        let at = match draw.below(4) {
            0 => draw.below(EDGE.min(len)),
            1 => len - 1 - draw.below(EDGE.min(len)),
            _ => draw.below(len),
        };
        let bit = draw.below(8) as u32;
        let (mischief, name) = match draw.below(6) {
            0 => (Mischief::Cut(at), "cut".to_owned()),
            1 => (Mischief::End(at), "end".to_owned()),
            _ => (Mischief::Flip(at, bit), format!("flip of bit {bit}")),
        };
        Damage {
            connection,
            direction,
            at,
            mischief,
            name,
        }
    }

    /// Does damage to a transfer; returns a complaint if it did harm.
    fn suffer(&self, damage: &Damage) -> Option<String> {
        let mut ways = vec![Ways::default(); self.lens.len()];
        let Ways { there, back } = &mut ways[damage.connection];
        *[there, back][damage.direction] = Some(damage.mischief.clone());
        let (ended, is_done) = self
            .scene
            .until_attacked(|| self.scene.send(DAMAGED_PATIENCE, self.plan, ways.clone()));
        // The last bytes of a direction may be cut off without loss.
        let must_be_refused =
            matches!(damage.mischief, Mischief::Flip(at, _) if at >= GREETING as u64);
        let complaint = if !is_done {
            Some(format!("it was never done: {ended:?}"))
        } else if must_be_refused {
            self.scene.judge(&ended)
        } else {
            self.scene.judge_harm(&ended)
        };
        self.scene.clear();
        complaint.map(|complaint| {
            let Damage {
                connection,
                direction,
                at,
                name,
                ..
            } = damage;
            let (lens, protection) = (&self.lens, self.scene.protection);
            format!(
                "{name} at {at} of {connection}, {direction}, {lens:?}, {protection:?}: {complaint}"
            )
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

/// Damages transfers with this protection, over one connection and over two, and those of a file that is
/// continued.
fn damage_is_noticed(protection: Protection) {
    let (flips, seed) = (
        number("OSCOPE_FLIPS", FLIPS),
        number("OSCOPE_FLIPS_SEED", 1),
    );
    let mut methods = receive_methods();
    methods.retain(|method| method.can(protection.cover));
    let plans = [1, 2].map(|streams| Plan { streams, ..KEEPING });
    let continued = Plan {
        resume: true,
        ..KEEPING
    };
    let next = AtomicU64::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let each = methods
                    .iter()
                    .flat_map(|method| plans.map(|plan| (*method, plan)));
                let each = each.chain([(ReceiveMethod::File, continued)]);
                let course = |(method, plan)| Course::new(protection, method, plan);
                let courses: Vec<_> = each.map(course).collect();
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= flips {
                        break;
                    }
                    let mut draw = Draw::new(seed.wrapping_mul(1 << 40).wrapping_add(round));
                    let course = &courses[draw.below(courses.len() as u64) as usize];
                    if let Some(complaint) = course.suffer(&course.draw(&mut draw)) {
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
        "{} of {flips}:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn damage_is_noticed_with_a_token() {
    damage_is_noticed(SEALED);
}

#[test]
fn damage_is_noticed_by_sums_without_a_token() {
    damage_is_noticed(Protection {
        has_token: false,
        cover: Cover::Summed,
    });
}
