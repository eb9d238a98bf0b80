//! The attacker: reads the bytes of one side as a list of units, changes it, and passes it on.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use twox_hash::XxHash3_128;

pub const FILE: u8 = 1;
pub const DATA: u8 = 3;
pub const END: u8 = 4;
pub const ABORT: u8 = 5;
pub const BYE: u8 = 6;
pub const RECEIPT: u8 = 17;
pub const DONE: u8 = 18;
pub const OPENED: u8 = 20;

pub const GREETING: usize = 64;
pub const OPENING: usize = 48;
pub const ANSWER: usize = 112;
pub const HEADER: usize = 16;
pub const CHECK: usize = 16;
pub const HEAD: usize = HEADER + CHECK;

/// Maximum time to wait for either side.
const PATIENCE: Duration = Duration::from_secs(8);
const TICK: Duration = Duration::from_millis(10);

/// A greeting, a handshake message, or a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit(pub Vec<u8>);

impl Unit {
    pub fn kind(&self) -> u8 {
        self.0[0]
    }

    pub fn len(&self) -> u32 {
        u32::from_le_bytes(self.0[4..8].try_into().expect("four bytes"))
    }

    pub fn set_len(&mut self, len: u32) {
        self.0[4..8].copy_from_slice(&len.to_le_bytes());
    }

    pub fn value(&self) -> u64 {
        u64::from_le_bytes(self.0[8..16].try_into().expect("eight bytes"))
    }

    pub fn set_value(&mut self, value: u64) {
        self.0[8..16].copy_from_slice(&value.to_le_bytes());
    }

    /// A frame with the checksums of a connection with this greeting and without a token, as frame
    /// `number` of its direction.
    pub fn summed(greeting: &[u8], number: u64, kind: u8, value: u64, body: &[u8]) -> Self {
        let mut header = [0; HEADER];
        header[0] = kind;
        header[4..8].copy_from_slice(&(body.len() as u32).to_le_bytes());
        header[8..].copy_from_slice(&value.to_le_bytes());
        let sum = |seed, bytes: &[u8]| XxHash3_128::oneshot_with_seed(seed, bytes).to_le_bytes();
        let seed =
            |check: [u8; CHECK]| u64::from_le_bytes(check[..8].try_into().expect("eight bytes"));
        let check = sum(seed(sum(0, greeting)).wrapping_add(number), &header);
        let mut unit = [header, check].concat();
        if !body.is_empty() {
            unit.extend(body);
            unit.extend(sum(seed(check), body));
        }
        Self(unit)
    }
}

/// The turns of a transfer: in each, one side speaks and then waits for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    Greeting,
    Answer,
    Open,
    Opened,
    /// A file that is to be resumed.
    Announced,
    Partial,
    /// All frames up to the end of the last file.
    Files,
    Receipts,
    Bye,
    Done,
}

impl Turn {
    /// All turns in their order.
    pub const ALL: [Self; 10] = [
        Self::Greeting,
        Self::Answer,
        Self::Open,
        Self::Opened,
        Self::Announced,
        Self::Partial,
        Self::Files,
        Self::Receipts,
        Self::Bye,
        Self::Done,
    ];

    /// True if only a transfer that resumes a file has it.
    pub fn is_of_resuming(self) -> bool {
        matches!(self, Self::Announced | Self::Partial)
    }

    pub fn is_senders(self) -> bool {
        matches!(
            self,
            Self::Greeting | Self::Open | Self::Announced | Self::Files | Self::Bye
        )
    }
}

/// The fate of the connections after a turn is passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    #[default]
    GoOn,
    /// The listener sees the end of the stream.
    Finish,
    /// Both connections are cut.
    Cut,
}

/// Everything that one side says in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speech {
    pub units: Vec<Unit>,
    pub then: Then,
}

/// The shape of the expected connections.
#[derive(Clone)]
pub struct Line {
    pub has_token: bool,
    /// Data has no checks.
    pub is_bare: bool,
    pub resumes: bool,
    /// Number of files, or parts of files, on each connection.
    pub files: Vec<usize>,
}

/// Receives each turn of each connection before it is passed on.
pub type Act = dyn Fn(usize, Turn, &mut Speech) + Send + Sync;

/// The attacker; stops when dropped.
pub struct Between {
    pub address: SocketAddr,
    /// Number of connections so far.
    connections: Arc<AtomicUsize>,
    /// True if anything was changed.
    has_changed: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Between {
    pub fn start(receiver: SocketAddr, line: Line, act: Arc<Act>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("it listens");
        let address = listener.local_addr().expect("it listens");
        let connections = Arc::new(AtomicUsize::new(0));
        let (has_changed, is_over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let thread = thread::spawn({
            let (connections, has_changed) = (Arc::clone(&connections), Arc::clone(&has_changed));
            let is_over = Arc::clone(&is_over);
            move || {
                thread::scope(|scope| {
                    while !is_over.load(Ordering::Acquire) {
                        let Ok((near, _)) = listener.accept() else {
                            thread::sleep(Duration::from_millis(1));
                            continue;
                        };
                        let number = connections.fetch_add(1, Ordering::AcqRel);
                        let (line, act, has_changed) = (&line, &act, &has_changed);
                        scope.spawn(move || {
                            near.set_nonblocking(false).expect("it is there");
                            let far = TcpStream::connect(receiver).expect("the receiver is there");
                            let mut relay = Relay {
                                near,
                                far,
                                line,
                                number,
                            };
                            // Either side may close at any time: some attacks aim at that.
                            let _ = relay.run(&**act, has_changed);
                            let _ = relay.near.shutdown(Shutdown::Both);
                            let _ = relay.far.shutdown(Shutdown::Both);
                        });
                    }
                });
            }
        });
        Self {
            address,
            connections,
            has_changed,
            is_over,
            thread: Some(thread),
        }
    }

    /// Stops. The number of connections, and true if anything was changed.
    pub fn end(self) -> (usize, bool) {
        let (connections, has_changed) =
            (Arc::clone(&self.connections), Arc::clone(&self.has_changed));
        drop(self);
        let connections = connections.load(Ordering::Acquire);
        (connections, has_changed.load(Ordering::Acquire))
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(
                joined.is_ok() || thread::panicking(),
                "the attacker panicked"
            );
        }
    }
}

/// One connection of the sender, and its counterpart to the receiver.
struct Relay<'r> {
    near: TcpStream,
    far: TcpStream,
    line: &'r Line,
    number: usize,
}

impl Relay<'_> {
    fn run(&mut self, act: &Act, has_changed: &AtomicBool) -> io::Result<()> {
        for socket in [&self.near, &self.far] {
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(TICK))?;
            socket.set_write_timeout(Some(PATIENCE))?;
        }
        for turn in Turn::ALL {
            if turn.is_of_resuming() && !self.line.resumes {
                continue;
            }
            let (mut speech, heard) = self.hear(turn);
            let said = speech.clone();
            act(self.number, turn, &mut speech);
            if speech != said {
                has_changed.store(true, Ordering::Release);
            }
            let (mut from, mut to) = if turn.is_senders() {
                (&self.near, &self.far)
            } else {
                (&self.far, &self.near)
            };
            let units = speech.units.iter().map(|unit| &unit.0[..]);
            to.write_all(&units.collect::<Vec<_>>().concat())?;
            heard?;
            match speech.then {
                Then::GoOn => {}
                Then::Cut => break,
                Then::Finish => {
                    to.shutdown(Shutdown::Write)?;
                    to.set_read_timeout(Some(PATIENCE))?;
                    io::copy(&mut to, &mut from)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Everything that one side says in a turn, or as much as it said before its connection ended.
    fn hear(&self, turn: Turn) -> (Speech, io::Result<()>) {
        let (from, other) = if turn.is_senders() {
            (&self.near, &self.far)
        } else {
            (&self.far, &self.near)
        };
        let mut units = Vec::new();
        let heard = self.hear_units(turn, from, other, &mut units);
        let then = Then::GoOn;
        (Speech { units, then }, heard)
    }

    fn hear_units(
        &self,
        turn: Turn,
        from: &TcpStream,
        other: &TcpStream,
        units: &mut Vec<Unit>,
    ) -> io::Result<()> {
        if let Turn::Greeting | Turn::Answer = turn {
            let is_first = turn == Turn::Greeting;
            let lens = [GREETING, if is_first { OPENING } else { ANSWER }];
            for len in &lens[..=usize::from(self.line.has_token)] {
                units.push(Unit(read(from, Some(other), *len)?));
            }
            return Ok(());
        }
        let files = self.line.files.get(self.number).copied().unwrap_or(0);
        let is_end = |unit: &&Unit| matches!(unit.kind(), END | ABORT);
        let is_over = |units: &[Unit]| match turn {
            Turn::Files => units.iter().filter(is_end).count() == files,
            Turn::Receipts => units.len() == files,
            _ => units.len() == 1,
        };
        // The sender closes its side before it hears the last turn.
        let other = (turn != Turn::Done).then_some(other);
        while !is_over(units) {
            units.push(self.frame(from, other)?);
        }
        Ok(())
    }

    fn frame(&self, from: &TcpStream, other: Option<&TcpStream>) -> io::Result<Unit> {
        let mut unit = Unit(read(from, other, HEAD)?);
        let len = unit.len() as usize;
        if len > 0 {
            let is_bare = self.line.is_bare && unit.kind() == DATA;
            let behind = if is_bare { 0 } else { CHECK };
            unit.0.extend(read(from, other, len + behind)?);
        }
        Ok(unit)
    }
}

/// Reads `len` bytes, unless either side closes or stays silent too long.
fn read(mut from: &TcpStream, other: Option<&TcpStream>, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let (mut filled, began) = (0, Instant::now());
    while filled < len {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let is_gone = |other: &TcpStream| match other.peek(&mut [0]) {
                    Ok(count) => count == 0,
                    Err(error) => error.kind() != ErrorKind::WouldBlock,
                };
                if other.is_some_and(is_gone) || began.elapsed() > PATIENCE {
                    return Err(ErrorKind::TimedOut.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// All turns of one connection, as they were before any change.
pub type Heard = [(Turn, Speech)];
pub type Recording = Arc<Mutex<Vec<(Turn, Speech)>>>;

/// What is said in a turn.
pub fn speech(heard: &Heard, turn: Turn) -> Option<&Speech> {
    let found = heard.iter().find(|(of, _)| *of == turn);
    found.map(|(_, speech)| speech)
}

/// Changes nothing, and records the first connection.
pub fn recorder() -> (Recording, Arc<Act>) {
    let recording = Recording::default();
    let kept = Arc::clone(&recording);
    let act = move |number: usize, turn, speech: &mut Speech| {
        if number == 0 {
            kept.lock()
                .expect("nobody panics")
                .push((turn, speech.clone()));
        }
    };
    (recording, Arc::new(act))
}
