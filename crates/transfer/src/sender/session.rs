//! One connection to a receiver, and files over it.

use super::pump::{Flow, Pump, Stopped};
use super::{Contents, Options};
use crate::connection::{Inlet, Outlet, prepare};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::method::ReceiveMethod;
use crate::outcome::{Outcome, Timing};
use crate::protocol::{
    Challenge, DIGEST_BYTES, FileName, Frame, Hello, Malformed, Part, Times, VERSION, Verdict,
};
use crate::token::{Greetings, Side};
use platform::block_io::read_at;
use std::collections::VecDeque;
use std::fs::File;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What is said of a file before its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Item<'i> {
    /// Its number, the same on every connection.
    pub id: u64,
    /// Its name at the receiver.
    pub name: FileName<'i>,
    /// Its size; `None` if it is not known.
    pub size: Option<u64>,
    /// Into how many parts it is divided, and which of them is sent here, from 0.
    pub part: (u16, u16),
    /// Whether what the receiver has of it is kept if it agrees.
    pub resume: bool,
    /// Permission bits to be set.
    pub mode: Option<u32>,
    /// Time of the last change to be set.
    pub modified: Option<Times>,
}

/// One connection to a receiver.
pub struct Session {
    options: Options,
    outlet: Outlet,
    pump: Pump,
    replies: mpsc::Receiver<Reply>,
    /// Files whose outcome is not known yet: number, name and size.
    open: VecDeque<(u64, Vec<u8>, u64)>,
    /// Outcomes that nobody has asked for yet.
    settled: VecDeque<(u64, Outcome)>,
    /// How many replies the receiver was asked for.
    asked: Arc<AtomicU64>,
    /// Number of the last file that failed, plus 1.
    failed: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

/// What the receiver says.
enum Reply {
    Partial {
        len: u64,
        digest: [u8; DIGEST_BYTES],
    },
    Receipt {
        id: u64,
        timing: Timing,
        failure: Option<String>,
    },
    Done {
        bytes: u64,
        cpu: Duration,
    },
    Ready {
        room: u64,
        failure: Option<String>,
    },
    Lost(Error),
}

/// Waiting for the receiver to write to its device takes so many times as long as its silence is
/// borne otherwise.
const DEVICE_PATIENCE: u32 = 10;
/// Parts of a file begin at multiples of this.
const PART_UNIT: u64 = 1 << 20;

impl Session {
    /// Connects to a receiver at `address`, as `stream` of `streams` connections of one transfer.
    ///
    /// # Errors
    /// If it is not there, does not know the token, or does not go on; if the system does not allow
    /// the method.
    pub fn connect(
        address: &str,
        options: &Options,
        session: [u8; 16],
        (stream, streams): (u16, u16),
    ) -> Result<Self> {
        options.method.check()?;
        let limits = options.limits;
        let socket = reach(address, limits.patience)?;
        prepare(&socket)?;
        let clone = || socket.try_clone().map_err(Error::network);
        let mut inlet = Inlet::new(clone()?, limits);
        let mut outlet = Outlet::new(clone()?, limits);
        let mut nonce = [0; 32];
        random(&mut nonce)?;
        let hello = Hello {
            version: VERSION,
            checksum: options.checksum,
            has_token: options.token.is_some(),
            streams,
            stream,
            session,
            nonce,
        };
        greet(&hello, options, &mut inlet, &mut outlet)?;

        // It waits for as long as there is something to be sent.
        inlet.be_patient(Duration::MAX);
        let (asked, failed) = (Arc::default(), Arc::default());
        let (sender, replies) = mpsc::channel();
        let reader = Reader {
            inlet,
            replies: sender,
            asked: Arc::clone(&asked),
            failed: Arc::clone(&failed),
        };
        Ok(Self {
            options: options.clone(),
            outlet,
            pump: Pump::new(options.method),
            replies,
            open: VecDeque::new(),
            settled: VecDeque::new(),
            asked,
            failed,
            reader: Some(thread::spawn(|| reader.run())),
        })
    }

    /// Asks a receiver that measures to throw away what it received last over this connection, and to
    /// receive the next file by `method`. Tells how large that may be, in bytes.
    ///
    /// # Errors
    /// [`Error::Unready`] if the receiver does not measure or cannot use the method; another if the
    /// connection is of no more use.
    pub fn prepare(&mut self, method: ReceiveMethod) -> Result<u64> {
        self.ask();
        self.outlet.frame(&Frame::Prepare { method })?;
        match self.answer()? {
            Reply::Ready {
                room,
                failure: None,
            } => Ok(room),
            Reply::Ready {
                failure: Some(reason),
                ..
            } => Err(Error::Unready(reason)),
            _ => Err(Malformed::Order(0).into()),
        }
    }

    /// The receiver owes one more reply.
    fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends a file, or a part of one. What became of it is told by [`Session::outcome`].
    ///
    /// # Errors
    /// If the connection is of no more use.
    pub fn send(&mut self, item: &Item<'_>, mut contents: Contents<'_>) -> Result<()> {
        let (parts, part) = item.part;
        self.ask();
        self.outlet.frame(&Frame::File(Part {
            id: item.id,
            size: item.size,
            parts,
            resume: item.resume,
            mode: item.mode,
            modified: item.modified,
            name: item.name,
        }))?;
        let mut range = range(item.size, parts, part);
        self.open
            .push_back((item.id, item.name.bytes().to_vec(), range.end - range.start));
        if item.resume {
            self.ask();
            range.start = self.resume(&contents, range.end)?;
            self.outlet.frame(&Frame::Start {
                offset: range.start,
            })?;
        }
        let failed = Arc::clone(&self.failed);
        let progress = Arc::clone(&self.options.progress);
        let mut flow = Flow {
            outlet: &mut self.outlet,
            digest: Digest::new(self.options.checksum),
            expected: 0,
            is_wanted: &|| failed.load(Ordering::Relaxed) != item.id + 1,
            progress: &progress,
        };
        let outcome = self
            .pump
            .run(&mut flow, &mut contents, range.clone())
            .and_then(|()| still(&contents, item.size));
        let (digest, expected) = (flow.digest.finish(), flow.expected);
        match outcome {
            // What came last may have been cut off by the same wish.
            Ok(()) if self.outlet.shall_stop() => Err(Error::Interrupted),
            Ok(()) => {
                let size = item.size.unwrap_or(expected);
                if let Some(open) = self.open.back_mut()
                    && item.size.is_none()
                {
                    open.2 = size;
                }
                self.outlet.frame(&Frame::End { size, digest })
            }
            Err(Stopped::Source(reason)) => {
                let reason = reason.as_bytes();
                self.outlet.frame(&Frame::Abort { reason })
            }
            Err(Stopped::Refused) => self.outlet.frame(&Frame::Abort { reason: b"" }),
            Err(Stopped::Lost(error)) => Err(error),
        }
    }

    /// Where to go on: behind what the receiver has, if that is what is here too.
    fn resume(&mut self, contents: &Contents<'_>, end: u64) -> Result<u64> {
        let Reply::Partial {
            len,
            digest: theirs,
        } = self.answer()?
        else {
            return Err(Malformed::Order(0).into());
        };
        let Contents::File(file) = contents else {
            return Ok(0);
        };
        let agrees = len <= end && digest_of(file, len, self.options.checksum) == Some(theirs);
        Ok(if agrees { len } else { 0 })
    }

    /// What the receiver answers to a question. Outcomes of files before it come first.
    fn answer(&mut self) -> Result<Reply> {
        self.outlet.flush()?;
        loop {
            match self.reply()? {
                Reply::Receipt {
                    id,
                    timing,
                    failure,
                } => self.settle(id, timing, failure)?,
                other => return Ok(other),
            }
        }
    }

    /// What became of the file that was sent first of those not told yet; `None` if there is none.
    ///
    /// # Errors
    /// If the connection is of no more use.
    pub fn outcome(&mut self) -> Result<Option<(u64, Outcome)>> {
        if self.settled.is_empty() && !self.open.is_empty() {
            self.outlet.flush()?;
            match self.reply()? {
                Reply::Receipt {
                    id,
                    timing,
                    failure,
                } => self.settle(id, timing, failure)?,
                _ => return Err(Malformed::Order(0).into()),
            }
        }
        Ok(self.settled.pop_front())
    }

    /// As [`Session::outcome`], but only what is known already.
    ///
    /// # Errors
    /// If the connection is of no more use.
    pub fn known_outcome(&mut self) -> Result<Option<(u64, Outcome)>> {
        match self.replies.try_recv() {
            Ok(Reply::Receipt {
                id,
                timing,
                failure,
            }) => self.settle(id, timing, failure)?,
            Ok(Reply::Lost(error)) => return Err(error),
            Ok(_) => return Err(Malformed::Order(0).into()),
            Err(_) => {}
        }
        Ok(self.settled.pop_front())
    }

    fn settle(&mut self, id: u64, timing: Timing, failure: Option<String>) -> Result<()> {
        match self.open.pop_front() {
            Some((expected, name, size)) if id == expected => {
                self.settled.push_back((
                    id,
                    Outcome {
                        name,
                        size,
                        timing,
                        failure,
                    },
                ));
                Ok(())
            }
            _ => Err(Malformed::Number("receipt").into()),
        }
    }

    /// Takes leave of the receiver; tells how many bytes it received and the CPU time it spent.
    ///
    /// # Errors
    /// If the connection fails. Outcomes that were not asked for are lost.
    pub fn finish(mut self) -> Result<(u64, Duration)> {
        while self.outcome()?.is_some() {}
        self.ask();
        self.outlet.frame(&Frame::Bye)?;
        self.outlet.flush()?;
        self.outlet.close();
        match self.reply()? {
            Reply::Done { bytes, cpu } => Ok((bytes, cpu)),
            _ => Err(Malformed::Order(0).into()),
        }
    }

    /// The next thing that the receiver says.
    fn reply(&mut self) -> Result<Reply> {
        let limits = self.options.limits;
        let deadline = Instant::now() + limits.patience * DEVICE_PATIENCE;
        loop {
            match self.replies.recv_timeout(Duration::from_millis(100)) {
                Ok(Reply::Lost(error)) => return Err(error),
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::PeerGone),
                Err(RecvTimeoutError::Timeout) if limits.stop.load(Ordering::Acquire) => {
                    return Err(Error::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Err(Error::Silent(limits.patience * DEVICE_PATIENCE));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ends the reader, wherever it waits; a connection that is gone cannot be shut.
        let _ = self.outlet.socket().shutdown(Shutdown::Both);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Reads what the receiver says for as long as it says anything.
struct Reader {
    inlet: Inlet,
    replies: mpsc::Sender<Reply>,
    asked: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
}

impl Reader {
    fn run(mut self) {
        let mut replies = 0;
        loop {
            replies += 1;
            let reply = match self.inlet.frame() {
                Ok(Frame::Partial { len, digest }) => Reply::Partial { len, digest },
                Ok(Frame::Ready { room, failure }) => Reply::Ready {
                    room,
                    failure: text(failure),
                },
                Ok(Frame::Receipt {
                    id,
                    received_ns,
                    stored_ns,
                    failure,
                }) => {
                    if !failure.is_empty() {
                        self.failed.store(id + 1, Ordering::Relaxed);
                    }
                    Reply::Receipt {
                        id,
                        timing: Timing {
                            received: Duration::from_nanos(received_ns),
                            stored: Duration::from_nanos(stored_ns),
                        },
                        failure: text(failure),
                    }
                }
                Ok(Frame::Done { bytes, cpu_ns }) => Reply::Done {
                    bytes,
                    cpu: Duration::from_nanos(cpu_ns),
                },
                Ok(other) => Reply::Lost(Malformed::Order(other.kind()).into()),
                Err(error) => Reply::Lost(error),
            };
            // More replies than were asked for would only fill memory.
            let reply = if replies > self.asked.load(Ordering::Relaxed) {
                match reply {
                    Reply::Lost(error) => Reply::Lost(error),
                    _ => Reply::Lost(Malformed::Number("reply").into()),
                }
            } else {
                reply
            };
            let is_last = matches!(reply, Reply::Lost(_) | Reply::Done { .. });
            if self.replies.send(reply).is_err() || is_last {
                return;
            }
        }
    }
}

/// A reason that the receiver gives; `None` if it gives none.
fn text(reason: &[u8]) -> Option<String> {
    (!reason.is_empty()).then(|| String::from_utf8_lossy(reason).into_owned())
}

/// Fills `bytes` with what nobody can foresee.
pub(crate) fn random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| Error::System {
        action: "draw random bytes",
        reason: error.into(),
    })
}

fn reach(address: &str, patience: Duration) -> Result<TcpStream> {
    let failed = |reason| Error::Connect {
        address: address.to_owned(),
        reason,
    };
    let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such host");
    for address in address.to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// Says who this is, hears who that is, and makes sure that both know the token.
fn greet(hello: &Hello, options: &Options, inlet: &mut Inlet, outlet: &mut Outlet) -> Result<()> {
    let deadline = Instant::now() + options.limits.patience;
    let hello = hello.encode();
    outlet.bytes(&hello)?;
    outlet.flush()?;
    let challenge = inlet.greeting(deadline)?;
    let answer = Challenge::parse(&challenge)?;
    if answer.verdict != Verdict::Welcome {
        return Err(Error::Refused(answer.verdict));
    }
    if answer.version != VERSION {
        return Err(Error::Refused(Verdict::Version));
    }
    if let Some(token) = &options.token {
        let greetings = Greetings { hello, challenge };
        outlet.bytes(&token.proof(Side::Sender, &greetings))?;
        outlet.flush()?;
        let proof = inlet.proof(deadline).map_err(|error| match error {
            // A receiver does not answer a sender that cannot prove what it should know.
            Error::PeerGone => Error::WrongToken,
            other => other,
        })?;
        token.check(Side::Receiver, &greetings, &proof)?;
        outlet.seal(Some(token.seal(Side::Sender, &greetings)));
        inlet.seal(Some(token.seal(Side::Receiver, &greetings)));
    }
    Ok(())
}

/// The bytes of a file that are in one of its parts.
fn range(size: Option<u64>, parts: u16, part: u16) -> std::ops::Range<u64> {
    let Some(size) = size else { return 0..0 };
    let (parts, part) = (u64::from(parts.max(1)), u64::from(part));
    let each = size.div_ceil(parts).next_multiple_of(PART_UNIT);
    (part * each).min(size)..((part + 1) * each).min(size)
}

/// Whether a file still has the size that was said.
fn still(contents: &Contents<'_>, size: Option<u64>) -> std::result::Result<(), Stopped> {
    match (contents, size) {
        (Contents::File(file), Some(size)) if file.metadata()?.len() != size => Err(
            Stopped::Source("it changed its size while it was sent".into()),
        ),
        _ => Ok(()),
    }
}

/// The digest of the first `len` bytes of a file; `None` if it has not so many.
pub(crate) fn digest_of(
    file: &File,
    len: u64,
    checksum: crate::Checksum,
) -> Option<[u8; DIGEST_BYTES]> {
    let mut digest = Digest::new(checksum);
    let mut buffer = vec![0; 256 << 10];
    let mut offset = 0;
    while offset < len {
        let wanted = (len - offset).min(buffer.len() as u64) as usize;
        let count = read_at(file, &mut buffer[..wanted], offset).ok()?;
        if count == 0 {
            return None;
        }
        digest.update(&buffer[..count]);
        offset += count as u64;
    }
    Some(digest.finish())
}
