//! Files to send past the attacker, and a judge of the result.

use crate::common::proxy::{Mischief, Proxy, Traffic, Ways};
use crate::common::{
    self, Served, TestDirectories, bytes, item, job, limits, open, send_options, send_to, set_mode,
    token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::{Mode, Part, Times};
use oscope_transfer::sender::{Contents, Job, Plan, Session};
use oscope_transfer::{Cover, Error, Limits, Outcome, sender};
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Bytes of a greeting, with the sender's proof that it knows the token, and of the answer with its proof.
pub const GREETING: usize = 64;
pub const OPENING: usize = GREETING + 48;
pub const ANSWER: usize = GREETING + 112;

const SECRET: &str = "a token of some length";
/// Maximum time that either side waits for what an attack left out.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Longest time for which a transfer is repeated.
const LONGEST_TRIAL: Duration = Duration::from_mins(3);

/// The session of transfers that an attacker may mix.
const SESSION: [u8; 16] = [7; 16];

/// The files: one with holes, and so in several frames of data; a dense one; and an empty one.
pub const NAMES: [&str; 3] = ["sparse", "dense", "empty"];
/// A file that two connections carry in parts.
pub const DIVIDED: &str = "divided";

/// A kind of protection of the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    pub has_token: bool,
    pub cover: Cover,
}

pub const SEALED: Protection = Protection {
    has_token: true,
    cover: Cover::Sealed,
};

/// Sources, a receiver, and the options of both sides.
pub struct Scene {
    pub dirs: TestDirectories,
    pub served: Served,
    pub protection: Protection,
    pub jobs: Vec<Job>,
}

/// The outcome of a transfer, on both sides.
#[derive(Debug)]
pub struct Ended {
    pub result: Result<(), Error>,
    /// The outcomes that the sender reports for its files.
    pub outcomes: Vec<Outcome>,
    /// The receiver's log about them.
    pub log: String,
}

/// Makes a file of this length with islands of data at these offsets.
fn make_sparse(path: &Path, len: u64, islands: [u64; 3]) {
    let file = File::create(path).expect("there is room");
    file.set_len(len).expect("there is room");
    for (offset, seed) in islands.into_iter().zip(1..) {
        let mut island = bytes(8192, seed);
        // Zeros at its end.
        island[8000..].fill(0);
        file.write_all_at(&island, offset).expect("there is room");
    }
}

impl Scene {
    pub fn new(protection: Protection, method: ReceiveMethod) -> Self {
        Self::with(protection, method, PATIENCE, 16)
    }

    /// A scene whose receiver has this patience, and this limit of simultaneous connections.
    pub fn with(
        protection: Protection,
        method: ReceiveMethod,
        patience: Duration,
        connections: usize,
    ) -> Self {
        let dirs = TestDirectories::new();
        dirs.file("dense", &bytes(20_000, 4));
        dirs.file("empty", b"");
        let islands = [0, 64 << 10, 160 << 10];
        make_sparse(&dirs.from("sparse"), 200_000, islands);
        let attributes = [(0o640, 1000), (0o604, 2000), (0o751, 3000)];
        let jobs = NAMES.iter().zip(attributes).map(|(name, (mode, second))| {
            let path = dirs.from(name);
            set_mode(&path, mode);
            let file = File::options()
                .write(true)
                .open(&path)
                .expect("it is there");
            let moment = UNIX_EPOCH + Duration::new(second, 500);
            file.set_modified(moment).expect("it is there");
            job(name, &path)
        });
        let jobs = jobs.collect();
        let served = Served::with(&dirs, |it| {
            it.token = protection.has_token.then(|| token(SECRET));
            it.unsealed = protection.cover != Cover::Sealed;
            it.limits.patience = patience;
            (it.method, it.max_connections) = (Some(method), connections);
        });
        Self {
            dirs,
            served,
            protection,
            jobs,
        }
    }

    /// Adds a file of 2 MiB that two connections carry.
    pub fn add_divided(&mut self) {
        let path = self.dirs.from(DIVIDED);
        make_sparse(&path, 2 << 20, [0, 1 << 20, 1500 << 10]);
        self.jobs.push(job(DIVIDED, &path));
    }

    /// Leaves the beginning of a file for a transfer that continues it.
    fn leave_partial(&self) {
        self.dirs.make_partials(0o700);
        let mut start = open(self.dirs.from("sparse")).take(100_000);
        let hidden = self.dirs.hidden("sparse");
        let mut file = File::create(&hidden).expect("there is room");
        io::copy(&mut start, &mut file).expect("there is room");
        set_mode(&hidden, 0o600);
    }

    pub fn options(&self, patience: Duration) -> sender::Options {
        sender::Options {
            token: self.protection.has_token.then(|| token(SECRET)),
            cover: self.protection.cover,
            limits: Limits {
                patience,
                ..limits()
            },
            ..send_options(SendMethod::File)
        }
    }

    /// Sends all files past the attacker, by a sender of this patience. Of what is continued, the beginning is there.
    pub fn send(&self, patience: Duration, plan: Plan, ways: Vec<Ways>) -> (Ended, Arc<Traffic>) {
        if plan.resume {
            self.leave_partial();
        }
        self.past(ways, |address| {
            let sent = send_to(address, &self.jobs, plan, &self.options(patience));
            (sent.summary.map(drop), sent.outcomes)
        })
    }

    /// Repeats an attack until it is carried out. The end, and true if it was carried out.
    pub fn until_attacked(&self, send: impl FnMut() -> (Ended, Arc<Traffic>)) -> (Ended, bool) {
        let is_attacked =
            |_: &Ended, traffic: &Traffic| traffic.is_attacked.load(Ordering::Acquire);
        let (ended, traffic) = self.until(is_attacked, send);
        let is_attacked = is_attacked(&ended, &traffic);
        (ended, is_attacked)
    }

    /// Repeats an honest transfer until everything has arrived.
    pub fn until_whole(&self, send: impl FnMut() -> (Ended, Arc<Traffic>)) -> Arc<Traffic> {
        let (ended, traffic) = self.until(|ended, _| ended.result.is_ok(), send);
        self.assert_whole(&ended);
        self.clear();
        traffic
    }

    /// Repeats a transfer until it is as wanted, for a while: on a busy machine a side may give up early.
    fn until(
        &self,
        is_wanted: impl Fn(&Ended, &Traffic) -> bool,
        mut send: impl FnMut() -> (Ended, Arc<Traffic>),
    ) -> (Ended, Arc<Traffic>) {
        let begun = Instant::now();
        loop {
            let (ended, traffic) = send();
            if is_wanted(&ended, &traffic) || begun.elapsed() > LONGEST_TRIAL {
                return (ended, traffic);
            }
            self.clear();
        }
    }

    /// Like [`Scene::send`], with `sending` as the sender.
    fn past(
        &self,
        ways: Vec<Ways>,
        sending: impl FnOnce(SocketAddr) -> (Result<(), Error>, Vec<Outcome>),
    ) -> (Ended, Arc<Traffic>) {
        self.served.log.lock().expect("nobody panics").clear();
        let proxy = Proxy::start(self.served.address, ways);
        let (result, outcomes) = sending(proxy.address);
        let traffic = Arc::clone(&proxy.traffic);
        drop(proxy);
        let connections = traffic.connections.load(Ordering::Acquire);
        self.served.wait_for_ends(connections);
        let ended = Ended {
            result,
            outcomes,
            log: self.served.log(),
        };
        (ended, traffic)
    }

    /// Sends all files over one connection past the attacker. Each of these transfers has the same
    /// session.
    pub fn send_again(&self, ways: Vec<Ways>) -> (Ended, Arc<Traffic>) {
        self.past(ways, |address| self.send_as(address, PATIENCE))
    }

    /// All bytes of an honest transfer of [`Scene::send_again`], there and back.
    pub fn record(&self) -> [Vec<u8>; 2] {
        let recordings: [Arc<Mutex<Vec<u8>>>; 2] = Default::default();
        self.until_whole(|| {
            let [there, back] = recordings.each_ref().map(|recording| {
                recording.lock().expect("nobody panics").clear();
                Some(Mischief::Record(Arc::clone(recording)))
            });
            let send = |address| self.send_as(address, common::PATIENCE);
            self.past(vec![Ways { there, back }], send)
        });
        recordings.map(|it| it.lock().expect("nobody panics").clone())
    }

    /// Sends all files over one connection of the same session.
    pub fn send_as(
        &self,
        address: SocketAddr,
        patience: Duration,
    ) -> (Result<(), Error>, Vec<Outcome>) {
        let mut outcomes = Vec::new();
        let mut send = || {
            let options = self.options(patience);
            let mut session = Session::connect(&address.to_string(), &options, SESSION, (0, 1))?;
            for (id, name) in (0..).zip(NAMES) {
                let file = open(self.dirs.from(name));
                let metadata = file.metadata().expect("it is there");
                let item = Part {
                    mode: Some(Mode {
                        bits: metadata.mode() & 0o777,
                        is_kept: true,
                    }),
                    modified: Some(Times {
                        seconds: metadata.mtime(),
                        nanoseconds: metadata.mtime_nsec() as u32,
                    }),
                    ..item(id, name, Some(metadata.len()))
                };
                session.send(&item, Contents::File(&file))?;
            }
            while let Some((_, outcome)) = session.outcome()? {
                outcomes.push(outcome);
            }
            session.finish().map(drop)
        };
        (send(), outcomes)
    }

    /// Complains unless everything arrived and both sides know it.
    pub fn assert_whole(&self, ended: &Ended) {
        assert!(ended.result.is_ok(), "{ended:?}");
        assert!(self.is_success(ended), "{ended:?}");
        assert_eq!(self.complain_about(ended), None);
    }

    /// The reason why an attack succeeded, if it did; empties the receiver's directory.
    pub fn judge(&self, ended: &Ended) -> Option<String> {
        let complaint = if self.is_success(ended) {
            Some(format!("it was not refused: {ended:?}"))
        } else {
            self.complain_about(ended)
        };
        self.clear();
        complaint
    }

    /// Like [`Scene::judge`], for an attack that may be accepted as long as it does no harm.
    pub fn judge_harm(&self, ended: &Ended) -> Option<String> {
        let complaint = self.complain_about(ended);
        self.clear();
        complaint
    }

    /// True if the sender accepts the whole transfer.
    fn is_success(&self, ended: &Ended) -> bool {
        let failed = ended.outcomes.iter().filter(|it| it.failure.is_some());
        ended.result.is_ok() && ended.outcomes.len() == self.jobs.len() && failed.count() == 0
    }

    /// The harm done: files that differ from their sources, or that a side wrongly accepts.
    fn complain_about(&self, ended: &Ended) -> Option<String> {
        let mut harm = self.partials_harm();
        let mut look_at = |name: &str, harmed: &str| {
            if let Some(difference) = self.difference(name) {
                harm = Some(format!("{name} {harmed} and {difference}"));
            }
        };
        for name in self.dirs.names() {
            if name != ".oscope-partial" {
                look_at(&name, "is there");
            }
        }
        for job in &self.jobs {
            let name = String::from_utf8_lossy(&job.name);
            let mut accepted = ended.outcomes.iter().filter(|it| it.failure.is_none());
            let line = format!("{name}: None");
            if accepted.any(|it| it.name == job.name) || ended.log.lines().any(|it| it == line) {
                look_at(&name, "is accepted");
            }
        }
        harm.map(|harm| format!("{harm}: {ended:?}"))
    }

    /// The difference between an arrived file and its source.
    fn difference(&self, name: &str) -> Option<&'static str> {
        let source = self.dirs.from(name);
        let arrived = self.dirs.to().join(name);
        let (Ok(source_is), Ok(arrived_is)) = (fs::metadata(&source), fs::metadata(&arrived))
        else {
            return Some("is not there, or should not be");
        };
        let permissions = |metadata: &fs::Metadata| metadata.permissions().mode() & 0o777;
        if fs::read(&source).ok() != fs::read(&arrived).ok() {
            Some("has other bytes")
        } else if permissions(&source_is) != permissions(&arrived_is) {
            Some("has another mode")
        } else if source_is.modified().ok() != arrived_is.modified().ok() {
            Some("has another time")
        } else {
            None
        }
    }

    /// Contents of a file kept for resuming that are not in its source. With a token, nothing
    /// unverified is kept.
    fn partials_harm(&self) -> Option<String> {
        if self.protection.cover == Cover::Bare {
            return None;
        }
        let entries = fs::read_dir(self.dirs.to().join(".oscope-partial")).ok()?;
        for entry in entries.flatten() {
            let kept = fs::read(entry.path()).unwrap_or_default();
            let is_start_of_one = self.jobs.iter().any(|job| {
                let path = self.dirs.from(&String::from_utf8_lossy(&job.name));
                fs::read(path).is_ok_and(|source| source.starts_with(&kept))
            });
            if !is_start_of_one {
                return Some(format!("{} bytes are kept that nobody sent", kept.len()));
            }
        }
        None
    }

    /// Removes everything that arrived.
    pub fn clear(&self) {
        for name in self.dirs.names() {
            let path = self.dirs.to().join(name);
            let removed = if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
            removed.expect("it is there");
        }
    }
}
