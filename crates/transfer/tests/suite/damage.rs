//! Single bits that flip in transit, and connections that end, anywhere, in either direction.
//!
//! Every flip must be detected, except one in the greeting or in the plain answer, which must then change
//! nothing. Whatever happens, a file under its name is complete, and a second attempt sends the rest. The same
//! seed always draws the same damage. A long campaign:
//!
//! ```sh
//! OSCOPE_FLIPS=100000 OSCOPE_FLIPS_SEED=7 cargo test --release -p oscope-transfer --test suite damage
//! ```

use crate::common::proxy::{Mischief, Proxy, Traffic, Ways};
use crate::common::{
    Draw, PLAN, RESUME, Sent, Served, TestDirectories, bytes, receive_methods, sealed,
    send_methods, send_options, send_to, set_mode, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::GREETING_BYTES;
use oscope_transfer::sender::{self, Job, Plan};
use oscope_transfer::{Cover, Limits};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs, thread};
use testing::wait_until;

/// Default number of damaged transfers.
const FLIPS: u64 = 1000;
/// Number of concurrent transfers, each through a separate attacker.
const THREADS: usize = 4;
/// Maximum time that either side waits, since a flip may make it expect bytes that never come.
const PATIENCE: Duration = Duration::from_secs(1);
/// The first and the last bytes of a direction, which are drawn more often than those between.
const EDGE: u64 = 300;
const SECRET: &str = "a token of some length";

/// A file, and its way to a receiver over one connection or two.
struct Course {
    dirs: TestDirectories,
    served: Served,
    contents: Vec<u8>,
    jobs: [Job; 1],
    sender: sender::Options,
    streams: u16,
    /// Number of bytes in each direction of each connection.
    lens: Vec<[u64; 2]>,
}

impl Course {
    fn new(cover: Cover, method: ReceiveMethod, streams: u16) -> Self {
        let dirs = TestDirectories::new();
        // So large that its beginning is kept, and that two connections divide it.
        let contents = bytes(700_000 * 3_usize.pow(u32::from(streams) - 1), 1);
        let jobs = [dirs.file("file", &contents)];
        let is_sealed = cover == Cover::Sealed;
        let served = Served::with(&dirs, |it| {
            it.token = is_sealed.then(|| token(SECRET));
            (it.method, it.limits.patience) = (Some(method), PATIENCE);
        });
        let sender = if is_sealed {
            sealed(SECRET, SendMethod::File)
        } else {
            send_options(SendMethod::File)
        };
        let mut course = Self {
            dirs,
            served,
            contents,
            jobs,
            sender,
            streams,
            lens: Vec::new(),
        };
        let traffic = course.arrives(SendMethod::File, PLAN);
        let bytes = traffic.bytes[..usize::from(streams)].iter();
        let lens = bytes.map(|bytes| bytes.each_ref().map(|it| it.load(Ordering::Acquire)));
        course.lens = lens.collect();
        course
    }

    /// Sends the file past an attacker, and waits until both sides are done.
    fn send(&self, method: SendMethod, plan: Plan, ways: Vec<Ways>) -> (Sent, Arc<Traffic>) {
        self.served.log.lock().expect("nobody panics").clear();
        let proxy = Proxy::start(self.served.address, ways);
        let options = sender::Options {
            method,
            limits: Limits {
                patience: PATIENCE,
                ..self.sender.limits
            },
            ..self.sender.clone()
        };
        let streams = self.streams;
        let sent = send_to(
            proxy.address,
            &self.jobs,
            Plan { streams, ..plan },
            &options,
        );
        let traffic = Arc::clone(&proxy.traffic);
        drop(proxy);
        let connections = traffic.connections.load(Ordering::Acquire);
        self.served.wait_for_ends(connections);
        (sent, traffic)
    }

    /// Sends the file without damage until it arrives: on a busy machine a side may give up early.
    fn arrives(&self, method: SendMethod, plan: Plan) -> Arc<Traffic> {
        let mut last = None;
        wait_until("an honest transfer", || {
            let (sent, traffic) = self.send(method, plan, Vec::new());
            last = Some(traffic);
            sent.summary.is_ok_and(|summary| summary.files == 1)
        });
        assert!(self.dirs.received("file") == self.contents);
        fs::remove_file(self.dirs.to().join("file")).expect("it arrived");
        last.expect("it was sent")
    }

    /// Makes the remains of an earlier attempt.
    fn leave_beginning(&self) {
        self.dirs.make_partials(0o700);
        let hidden = self.dirs.hidden("file");
        fs::write(&hidden, &self.contents[..300_000]).expect("there is room");
        set_mode(&hidden, 0o600);
    }

    /// Draws damage and does it to a transfer; returns true if it was done.
    fn suffer(&self, method: SendMethod, draw: &mut Draw, round: &str) -> bool {
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
            0 => (Mischief::Cut(at), "cut"),
            1 => (Mischief::End(at), "end"),
            _ => (Mischief::Flip(at, bit), "flip"),
        };
        let must_be_refused = name == "flip" && at >= GREETING_BYTES as u64;
        let mut ways = vec![Ways::default(); self.lens.len()];
        let Ways { there, back } = &mut ways[connection];
        *[there, back][direction] = Some(mischief);
        let plan = if draw.below(4) == 0 {
            self.leave_beginning();
            RESUME
        } else {
            PLAN
        };
        let (sent, traffic) = self.send(method, plan, ways);
        let is_done = traffic.is_attacked.load(Ordering::Acquire);

        let case = format!(
            "{round}: {name} at {at}, bit {bit}, of {connection}, {direction}, {:?}, {method}: {:?}, {:?}, {}",
            self.lens,
            sent.summary,
            sent.outcomes,
            self.served.log()
        );
        let is_accepted = matches!(&sent.summary, Ok(summary) if summary.files == 1);
        assert!(!(is_done && must_be_refused && is_accepted), "{case}");
        let arrived = fs::read(self.dirs.to().join("file"));
        let arrived = arrived
            .ok()
            .inspect(|bytes| assert!(*bytes == self.contents, "{case}"));
        let counts = |outcome: &oscope_transfer::Outcome| outcome.failure.is_none();
        let is_known = sent.outcomes.iter().any(counts) || self.served.log().contains("file: None");
        assert!(arrived.is_some() || !(is_accepted || is_known), "{case}");
        if arrived.is_some() {
            fs::remove_file(self.dirs.to().join("file")).expect("it is there");
        } else {
            let kept = fs::read(self.dirs.hidden("file")).unwrap_or_default();
            assert!(self.contents.starts_with(&kept), "{case}");
            self.arrives(method, RESUME);
        }
        assert_eq!(self.dirs.names(), [""; 0], "{case}");
        is_done
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

/// Damages transfers with this protection, by all methods, over one connection and over two.
fn damage_does_no_harm(cover: Cover) {
    let flips = number("OSCOPE_FLIPS", FLIPS);
    let seed = number("OSCOPE_FLIPS_SEED", 1);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut methods = receive_methods();
    methods.retain(|method| method.can(cover));
    let mut send_methods = send_methods();
    send_methods.retain(|method| method.can(cover));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let courses = methods
                    .iter()
                    .flat_map(|method| [1, 2].map(|streams| Course::new(cover, *method, streams)));
                let courses: Vec<_> = courses.collect();
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= flips {
                        break;
                    }
                    let mut draw = Draw::new(seed.wrapping_mul(1 << 40).wrapping_add(round));
                    let course = draw.of(&courses);
                    let method = *draw.of(&send_methods);
                    let round = format!("seed {seed}, round {round}");
                    let is_done = course.suffer(method, &mut draw, &round);
                    done.fetch_add(u64::from(is_done), Ordering::Relaxed);
                }
            });
        }
    });
    // On its way to its place, a transfer may have ended.
    let done = done.into_inner();
    assert!(done > flips / 2, "only {done} of {flips} were done");
}

#[test]
fn damage_does_no_harm_with_a_token() {
    damage_does_no_harm(Cover::Sealed);
}

#[test]
fn damage_does_no_harm_without_a_token() {
    damage_does_no_harm(Cover::Summed);
}
