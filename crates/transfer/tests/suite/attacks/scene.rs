//! Files to send past the attacker, and a judge of the result.

use crate::common::proxy::{Mischief, Proxy, Traffic, Ways};
use crate::common::{
    self, Served, TestDirectories, bytes, item, limits, open, sealed, set_mode, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::{Mode, Part, Times};
use oscope_transfer::sender::{Contents, Session};
use oscope_transfer::{Cover, Error, Limits, Outcome, sender};
use std::fs::{self, File};
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
const NAMES: [&str; 3] = ["sparse", "dense", "empty"];

/// Sources, a receiver with a token, and the protection of contents that both sides choose.
pub struct Scene {
    pub dirs: TestDirectories,
    pub served: Served,
    cover: Cover,
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

impl Ended {
    /// True if the sender accepts the whole transfer.
    fn is_success(&self) -> bool {
        let failed = self.outcomes.iter().filter(|it| it.failure.is_some());
        self.result.is_ok() && self.outcomes.len() == NAMES.len() && failed.count() == 0
    }
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
    pub fn new(cover: Cover, method: ReceiveMethod) -> Self {
        Self::with(cover, method, PATIENCE, 16)
    }

    /// A scene whose receiver has this patience, and this limit of simultaneous connections.
    pub fn with(
        cover: Cover,
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
        for (name, (mode, second)) in NAMES.iter().zip(attributes) {
            let path = dirs.from(name);
            set_mode(&path, mode);
            let file = File::options().write(true).open(&path);
            let moment = UNIX_EPOCH + Duration::new(second, 500);
            let set = file.and_then(|file| file.set_modified(moment));
            set.expect("it is there");
        }
        let served = Served::with(&dirs, |it| {
            it.token = Some(token(SECRET));
            it.unsealed = cover != Cover::Sealed;
            it.limits.patience = patience;
            (it.method, it.max_connections) = (Some(method), connections);
        });
        Self {
            dirs,
            served,
            cover,
        }
    }

    /// Attacks a transfer until the attack is carried out. The end, and true if it was carried out.
    pub fn attacked(&self, ways: &[Ways]) -> (Ended, bool) {
        let is_attacked = |traffic: &Traffic| traffic.is_attacked.load(Ordering::Acquire);
        let (ended, traffic) = self.until(PATIENCE, ways, |_, traffic| is_attacked(traffic));
        let is_attacked = is_attacked(&traffic);
        (ended, is_attacked)
    }

    /// Sends all files past the attacker by a sender of this patience, until the end is as wanted, or for a while:
    /// on a busy machine a side may give up early.
    fn until(
        &self,
        patience: Duration,
        ways: &[Ways],
        is_wanted: impl Fn(&Ended, &Traffic) -> bool,
    ) -> (Ended, Arc<Traffic>) {
        let begun = Instant::now();
        loop {
            self.served.log.lock().expect("nobody panics").clear();
            let proxy = Proxy::start(self.served.address, ways.to_vec());
            let (result, outcomes) = self.send_as(proxy.address, patience);
            let traffic = Arc::clone(&proxy.traffic);
            drop(proxy);
            let connections = traffic.connections.load(Ordering::Acquire);
            self.served.wait_for_ends(connections);
            let ended = Ended {
                result,
                outcomes,
                log: self.served.log(),
            };
            if is_wanted(&ended, &traffic) || begun.elapsed() > LONGEST_TRIAL {
                return (ended, traffic);
            }
            self.clear();
        }
    }

    /// All bytes of an honest transfer, there and back.
    pub fn record(&self) -> [Vec<u8>; 2] {
        let recordings: [Arc<Mutex<Vec<u8>>>; 2] = Default::default();
        let [there, back] = recordings
            .each_ref()
            .map(|recording| Some(Mischief::Record(Arc::clone(recording))));
        let ways = [Ways { there, back }];
        let (ended, _) = self.until(common::PATIENCE, &ways, |ended, _| {
            let is_whole = ended.result.is_ok();
            if !is_whole {
                for recording in &recordings {
                    recording.lock().expect("nobody panics").clear();
                }
            }
            is_whole
        });
        assert!(ended.is_success(), "{ended:?}");
        assert_eq!(self.complain_about(&ended), None);
        self.clear();
        recordings.map(|it| it.lock().expect("nobody panics").clone())
    }

    /// Sends all files over one connection. Each of these transfers has the same session.
    pub fn send_as(
        &self,
        address: SocketAddr,
        patience: Duration,
    ) -> (Result<(), Error>, Vec<Outcome>) {
        let mut outcomes = Vec::new();
        let mut send = || {
            let options = sender::Options {
                cover: self.cover,
                limits: Limits {
                    patience,
                    ..limits()
                },
                ..sealed(SECRET, SendMethod::File)
            };
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

    /// The reason why an attack succeeded, if it did; empties the receiver's directory.
    pub fn judge(&self, ended: &Ended) -> Option<String> {
        let complaint = if ended.is_success() {
            Some(format!("it was not refused: {ended:?}"))
        } else {
            self.complain_about(ended)
        };
        self.clear();
        complaint
    }

    /// The harm done: files that differ from their sources, or that a side wrongly accepts.
    fn complain_about(&self, ended: &Ended) -> Option<String> {
        let mut harm = None;
        let mut look_at = |name: &str, harmed: &str| {
            if let Some(difference) = self.difference(name) {
                harm = Some(format!("{name} {harmed} and {difference}"));
            }
        };
        for name in self.dirs.names() {
            look_at(&name, "is there");
        }
        for name in NAMES {
            let mut accepted = ended.outcomes.iter().filter(|it| it.failure.is_none());
            let line = format!("{name}: None");
            if accepted.any(|it| it.name == name.as_bytes())
                || ended.log.lines().any(|it| it == line)
            {
                look_at(name, "is accepted");
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

    /// Removes everything that arrived.
    pub fn clear(&self) {
        for name in self.dirs.names() {
            fs::remove_file(self.dirs.to().join(name)).expect("it is there");
        }
    }
}
