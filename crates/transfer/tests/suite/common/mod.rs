//! A receiver in a thread of this process, and files to send to it.

pub mod proxy;

use choice::Choice;
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::{FileName, Part};
use oscope_transfer::receiver::{self, Event, Receiver};
use oscope_transfer::sender::{self, Contents, Job, Plan, Session, Source, Summary};
use oscope_transfer::{Cover, Error, Limits, Outcome, Result, Token};
use proxy::{Mischief, between};
use std::fmt::Display;
use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use testing::{Command, joined, wait_until};

pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn limits() -> Limits {
    Limits {
        patience: PATIENCE,
        stop: Box::leak(Box::new(AtomicBool::new(false))),
    }
}

pub fn receive_options(directory: &Path, method: ReceiveMethod) -> receiver::Options {
    receiver::Options {
        directory: Some(directory.to_owned()),
        measures: false,
        method: Some(method),
        token: None,
        insecure: false,
        unsealed: false,
        allow_hidden: true,
        max_size: u64::MAX >> 1,
        max_files: 100_000,
        max_partial: u64::MAX,
        max_connections: 16,
        fsync: false,
        force: false,
        limits: limits(),
        progress: Arc::default(),
    }
}

pub fn send_options(method: SendMethod) -> sender::Options {
    sender::Options {
        method,
        cover: Cover::Summed,
        token: None,
        insecure: false,
        limits: limits(),
        progress: Arc::default(),
    }
}

/// A sender that waits for a silent receiver this long.
pub fn patient_sender(patience: Duration) -> sender::Options {
    sender::Options {
        limits: Limits {
            patience,
            ..limits()
        },
        ..send_options(SendMethod::File)
    }
}

/// The methods that the system supports; prints those that it does not.
fn supported<M: Choice + Copy + Display>(check: fn(M) -> Result<()>) -> Vec<M> {
    let is_supported = |method: &M| match check(*method) {
        Ok(()) => true,
        Err(error) => {
            println!("skipped: {method}: {error}");
            false
        }
    };
    M::ALL.iter().copied().filter(is_supported).collect()
}

pub fn send_methods() -> Vec<SendMethod> {
    supported(SendMethod::check)
}

pub fn receive_methods() -> Vec<ReceiveMethod> {
    supported(ReceiveMethod::check)
}

pub fn token(text: &str) -> Token {
    Token::new(text.as_bytes()).expect("long enough")
}

pub const PLAN: Plan = Plan {
    streams: 1,
    resume: false,
    keep: false,
};
pub const RESUME: Plan = Plan {
    resume: true,
    ..PLAN
};
pub const TWO: Plan = Plan { streams: 2, ..PLAN };
/// Keeps modes and times.
pub const KEEPING: Plan = Plan { keep: true, ..PLAN };

/// A receiver that accepts connections until it is dropped.
pub struct Served {
    pub address: SocketAddr,
    pub log: Arc<Mutex<Vec<String>>>,
    stop: &'static AtomicBool,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// A receiver in these directories, by [`ReceiveMethod::File`].
    pub fn of(dirs: &TestDirectories) -> Self {
        Self::by(dirs, ReceiveMethod::File)
    }

    pub fn by(dirs: &TestDirectories, method: ReceiveMethod) -> Self {
        Self::start(receive_options(&dirs.to(), method))
    }

    /// As [`Served::of`], with changed options.
    pub fn with(dirs: &TestDirectories, change: impl FnOnce(&mut receiver::Options)) -> Self {
        let mut options = receive_options(&dirs.to(), ReceiveMethod::File);
        change(&mut options);
        Self::start(options)
    }

    /// Sends files by [`SendMethod::File`].
    pub fn send(&self, jobs: &[Job], plan: Plan) -> Sent {
        self.send_by(jobs, plan, &send_options(SendMethod::File))
    }

    pub fn send_by(&self, jobs: &[Job], plan: Plan, options: &sender::Options) -> Sent {
        send_to(self.address, jobs, plan, options)
    }

    /// The only connection of a session.
    pub fn session(&self, options: &sender::Options) -> Session {
        session(self.address, options)
    }

    /// An address behind which nothing passes after this number of bytes until the flag is set.
    pub fn hold(&self, bytes: u64) -> (SocketAddr, Arc<AtomicBool>) {
        let go_on = Arc::<AtomicBool>::default();
        let mischief = Mischief::Hold(bytes, Arc::clone(&go_on));
        (between(self.address, [mischief]), go_on)
    }

    pub fn start(options: receiver::Options) -> Self {
        let stop = options.limits.stop;
        let receiver = Receiver::bind("127.0.0.1:0", options).expect("a free port");
        let address = receiver.address().expect("it listens");
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let thread = std::thread::spawn({
            let log = Arc::clone(&log);
            move || {
                let observe = |event: &Event<'_>| {
                    let line = match event {
                        Event::Settled { outcome, .. } => format!(
                            "{}: {:?}",
                            String::from_utf8_lossy(&outcome.name),
                            outcome.failure
                        ),
                        Event::GivenUp { reason, .. } => format!("given up: {reason}"),
                        Event::Began { .. } => "began".into(),
                        Event::Ended { .. } => "ended".into(),
                    };
                    log.lock().expect("nobody panics with it").push(line);
                };
                receiver.serve(false, &observe).expect("it serves");
            }
        });
        Self {
            address,
            log,
            stop,
            thread: Some(thread),
        }
    }

    pub fn log(&self) -> String {
        self.log.lock().expect("nobody panics with it").join("\n")
    }

    /// Number of connections that have ended.
    pub fn ends(&self) -> usize {
        let log = self.log.lock().expect("nobody panics with it");
        log.iter()
            .filter(|line| *line == "ended" || line.starts_with("given up"))
            .count()
    }

    /// Waits until this number of connections have ended.
    pub fn wait_for_ends(&self, count: usize) {
        wait_until(&format!("{count} connections that end"), || {
            self.ends() >= count
        });
    }

    /// Waits until the log contains a text.
    pub fn wait_for(&self, what: &str) {
        wait_until(what, || self.log().contains(what));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            joined("the end of the receiver", thread);
        }
    }
}

/// Two directories: one to send from, one to receive in.
pub struct TestDirectories {
    pub root: TempDir,
}

impl TestDirectories {
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(root.path().join("from")).expect("a directory in it");
        fs::create_dir(root.path().join("to")).expect("a directory in it");
        Self { root }
    }

    pub fn to(&self) -> PathBuf {
        self.root.path().join("to")
    }

    /// The path of a file to send.
    pub fn from(&self, name: &str) -> PathBuf {
        self.root.path().join("from").join(name)
    }

    /// Makes a file to send.
    pub fn file(&self, name: &str, contents: &[u8]) -> Job {
        let path = self.from(name);
        fs::write(&path, contents).expect("there is room");
        job(name, &path)
    }

    /// Makes a named pipe to send.
    pub fn named_pipe(&self, name: &str) -> PathBuf {
        make_pipe(&self.from(name));
        self.from(name)
    }

    /// Waits until a file is arriving, under any name.
    pub fn wait_for_a_file(&self) {
        wait_until("a file", || !self.names().is_empty());
    }

    pub fn received(&self, name: &str) -> Vec<u8> {
        fs::read(self.to().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The path of a received file while it is incomplete.
    pub fn hidden(&self, name: &str) -> PathBuf {
        let name = twox_hash::XxHash3_128::oneshot(name.as_bytes());
        self.to().join(format!(".oscope-partial/{name:032x}"))
    }

    /// Makes the directory of incomplete files.
    pub fn make_partials(&self, mode: u32) -> PathBuf {
        let partials = self.to().join(".oscope-partial");
        fs::create_dir(&partials).expect("it is not there yet");
        set_mode(&partials, mode);
        partials
    }

    /// The only incomplete file.
    pub fn partial(&self) -> PathBuf {
        let entries = fs::read_dir(self.to().join(".oscope-partial")).expect("it is there");
        let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        let [partial] = &paths[..] else {
            panic!("{paths:?}")
        };
        partial.clone()
    }

    /// The names in the receiver's directory.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.to()).expect("it is there");
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.map(|it| it.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

pub fn job(name: &str, path: &Path) -> Job {
    Job {
        name: name.into(),
        source: source(path),
    }
}

/// The file at a path, as it is now.
pub fn source(path: &Path) -> Source {
    Source::Path {
        path: path.to_owned(),
        size: path.metadata().ok().map(|metadata| metadata.len()),
    }
}

/// Pseudorandom bytes, the same for the same seed.
pub fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random(seed).fill(&mut bytes);
    bytes
}

fn random(seed: u64) -> blake3::OutputReader {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).finalize_xof()
}

/// Pseudorandom numbers, the same for the same seed.
pub struct Draw(blake3::OutputReader);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(random(seed))
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        let mut drawn = [0; 8];
        self.0.fill(&mut drawn);
        u64::from_le_bytes(drawn) % bound
    }

    pub fn of<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// Sets the mode regardless of the umask.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

pub fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()));
}

pub fn open(path: impl AsRef<Path>) -> File {
    File::open(path).expect("it is there")
}

/// The greeting of a sender of this version without a token.
pub fn greeting(version: u16) -> [u8; 64] {
    let mut greeting = [0; 64];
    greeting[..8].copy_from_slice(b"oscope\r\n");
    greeting[8..10].copy_from_slice(&version.to_le_bytes());
    (greeting[10], greeting[12]) = (1, 1);
    greeting
}

/// A connection that has said this to a receiver.
pub fn say(address: SocketAddr, words: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(address).expect("it listens");
    let patience = Some(PATIENCE);
    socket.set_read_timeout(patience).expect("a time above 0");
    // The receiver may close before it has read everything.
    let _ = socket.write_all(words);
    socket
}

/// All that the receiver says before it closes.
pub fn hear(mut socket: TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => answer,
    }
}

/// A whole file with this number to send in a session.
pub fn item(id: u64, name: &str, size: Option<u64>) -> Part {
    let name = FileName::new(name.as_bytes()).expect("a plain name");
    Part::file(id, name, size)
}

pub fn session(address: SocketAddr, options: &sender::Options) -> Session {
    Session::connect(&address.to_string(), options, [0; 16], (0, 1)).expect("it is welcome")
}

/// Sends a file over a connection that holds; returns its outcome.
pub fn deliver(session: &mut Session, item: &Part, contents: Contents<'_>) -> Outcome {
    session.send(item, contents).expect("the connection holds");
    let outcome = session.outcome().expect("the connection holds");
    outcome.expect("a file was sent").1
}

/// The options of a sender with a token.
pub fn sealed(text: &str, method: SendMethod) -> sender::Options {
    sender::Options {
        token: Some(token(text)),
        cover: Cover::Sealed,
        ..send_options(method)
    }
}

/// What a sender reports: the whole, and the outcomes in the order of their names.
pub struct Sent {
    pub summary: Result<Summary>,
    pub outcomes: Vec<Outcome>,
}

impl Sent {
    /// Checks the number of files that arrived and of those that failed.
    #[track_caller]
    pub fn assert(&self, files: u64, failed: u64) {
        let Self { summary, outcomes } = self;
        let counts = summary.as_ref().map(|it| (it.files, it.failed));
        assert!(
            matches!(counts, Ok(counts) if counts == (files, failed)),
            "{summary:?} {outcomes:?}"
        );
    }

    /// Checks that a file failed for a reason that contains `text`.
    #[track_caller]
    pub fn assert_failure(&self, index: usize, text: &str) {
        let failure = self.outcomes[index].failure.as_deref().unwrap_or_default();
        assert!(failure.contains(text), "{:?}", self.outcomes);
    }

    /// The error that ended the transfer.
    #[track_caller]
    pub fn error(self) -> Error {
        self.summary.expect_err("it is refused")
    }
}

/// Sends files to any address.
pub fn send_to(address: SocketAddr, jobs: &[Job], plan: Plan, options: &sender::Options) -> Sent {
    let outcomes = Mutex::new(Vec::new());
    let observe = |outcome: &Outcome| {
        let mut outcomes = outcomes.lock().expect("nobody panics with it");
        outcomes.push(outcome.clone());
    };
    let summary = sender::send(&address.to_string(), jobs, plan, options, &observe);
    let mut outcomes = outcomes.into_inner().expect("nobody panics with it");
    outcomes.sort_by(|one, other| one.name.cmp(&other.name));
    Sent { summary, outcomes }
}
