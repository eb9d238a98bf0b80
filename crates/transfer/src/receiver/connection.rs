//! One sender, from its greeting to its farewell.

use super::room::Room;
use super::store::Store;
use super::target::{Shelf, Target};
use super::{Event, Observer, Options};
use crate::Checksum;
use crate::clock::thread_cpu;
use crate::connection::{Inlet, Outlet};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::method::ReceiveMethod;
use crate::outcome::{Outcome, Timing};
use crate::protocol::{
    Challenge, DIGEST_BYTES, FileName, Frame, Hello, LONGEST_REASON, Malformed, Part, VERSION,
    Verdict,
};
use crate::sender::random;
use crate::token::{Greetings, Side};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A greeting has to be complete within this time.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// One sender.
pub(super) struct Connection<'r> {
    options: &'r Options,
    shelf: &'r Shelf,
    observer: &'r Observer<'r>,
    peer: SocketAddr,
    hello: Hello,
    inlet: Inlet,
    outlet: Outlet,
    store: Store,
    files: u64,
    bytes: u64,
    measuring: Option<Measuring>,
}

/// The one file of a connection that is measured.
struct Measuring {
    /// Its name here, whatever the sender calls it.
    name: String,
    /// Whether it has come.
    has_come: bool,
}

/// A file, or a part of one, that is coming in.
struct Incoming {
    id: u64,
    name: Vec<u8>,
    began: Instant,
    digest: Digest,
    /// Where the next byte goes if nothing is left out.
    expected: u64,
    /// How many bytes came.
    bytes: u64,
    received: Duration,
    room: Room,
    /// Where it goes, or why it goes nowhere.
    target: std::result::Result<Arc<Target>, String>,
    /// Whether what becomes of it becomes of the file: of its parts, only the last tells the observer.
    is_whole: bool,
    /// Whether the sender was told already.
    is_told: bool,
}

impl<'r> Connection<'r> {
    /// Hears who it is, says who this is, and makes sure that both know the token.
    pub(super) fn greet(
        socket: &TcpStream,
        peer: SocketAddr,
        options: &'r Options,
        shelf: &'r Shelf,
        observer: &'r Observer<'r>,
    ) -> Result<Self> {
        let clone = || socket.try_clone().map_err(Error::network);
        let mut inlet = Inlet::new(clone()?, options.limits);
        let mut outlet = Outlet::new(clone()?, options.limits);
        let deadline = Instant::now() + GREETING_TIME.min(options.limits.patience);
        let hello = inlet
            .greeting(deadline)
            .map_err(|error| stranger(error, &inlet))?;
        let said = Hello::parse(&hello)?;
        let mut answer = Challenge {
            version: VERSION,
            verdict: verdict(&said, options),
            max_size: options.max_size,
            nonce: [0; 32],
        };
        random(&mut answer.nonce)?;
        let challenge = answer.encode();
        outlet.bytes(&challenge)?;
        outlet.flush()?;
        if answer.verdict != Verdict::Welcome {
            return Err(Error::Refused(answer.verdict));
        }
        if let Some(token) = &options.token {
            let greetings = Greetings { hello, challenge };
            let proof = inlet.proof(deadline)?;
            token.check(Side::Sender, &greetings, &proof)?;
            outlet.bytes(&token.proof(Side::Receiver, &greetings))?;
            outlet.flush()?;
            inlet.seal(Some(token.seal(Side::Sender, &greetings)));
            outlet.seal(Some(token.seal(Side::Receiver, &greetings)));
        }
        shelf.enter(said.session);
        Ok(Self {
            options,
            shelf,
            observer,
            peer,
            hello: said,
            inlet,
            outlet,
            store: Store::new(options.method),
            files: 0,
            bytes: 0,
            measuring: None,
        })
    }

    /// Takes in files until the sender says farewell; tells the CPU time that took.
    pub(super) fn run(mut self) -> Result<Duration> {
        let outcome = self.files();
        self.forget();
        self.shelf.leave(self.hello.session, outcome.is_err());
        outcome
    }

    fn files(&mut self) -> Result<Duration> {
        let before = thread_cpu();
        loop {
            self.answer()?;
            let began = match self.inlet.frame()? {
                Frame::File(part) => {
                    self.files += 1;
                    let wanted = if self.options.measures {
                        measured(&part, &mut self.measuring)
                    } else {
                        Ok(part)
                    };
                    let target = wanted.and_then(|part| {
                        target(&part, &self.hello, self.options, self.shelf, self.files)
                    });
                    let room = Room::new(&part, self.store.method());
                    (begin(&part, &self.hello, room, target), part.resume)
                }
                Frame::Prepare { method } => {
                    self.prepare(method)?;
                    continue;
                }
                Frame::Bye => break,
                other => return Err(Malformed::Order(other.kind()).into()),
            };
            let (mut incoming, resume) = began;
            let outcome = self.file(&mut incoming, resume);
            if let Err(error) = outcome {
                // What arrived is kept if it can be gone on with.
                let _ = self.store.settle();
                self.lost(&incoming, &error);
                return Err(error);
            }
        }
        let cpu = thread_cpu().saturating_sub(before);
        self.outlet.frame(&Frame::Done {
            bytes: self.bytes,
            cpu_ns: cpu.as_nanos() as u64,
        })?;
        self.outlet.flush()?;
        Ok(cpu)
    }

    /// Gets ready for a file that is measured.
    fn prepare(&mut self, method: ReceiveMethod) -> Result<()> {
        self.forget();
        let ready = if self.options.measures {
            method.check().map_err(|error| error.to_string())
        } else {
            Err("it keeps what it receives; `oscope receive --measure` does not".to_owned())
        };
        if ready.is_ok() {
            self.store.use_method(method);
            self.measuring = Some(Measuring {
                name: self.shelf.name_to_measure(),
                has_come: false,
            });
        }
        let room = self.shelf.room().unwrap_or(u64::MAX);
        self.outlet.frame(&Frame::Ready {
            room: room.min(self.options.max_size),
            failure: ready.err().unwrap_or_default().as_bytes(),
        })
    }

    /// Throws away what was measured.
    fn forget(&mut self) {
        if let Some(Measuring { name, .. }) = self.measuring.take() {
            self.shelf.remove(&name);
        }
    }

    /// Before the next frame is waited for, what was said to the sender is sent: one packet tells of
    /// many small files.
    fn answer(&mut self) -> Result<()> {
        if self.inlet.is_drained() {
            self.outlet.flush()?;
        }
        Ok(())
    }

    /// Takes in one file, or a part of one.
    fn file(&mut self, incoming: &mut Incoming, resume: bool) -> Result<()> {
        if incoming.target.is_err() {
            self.tell(incoming, None)?;
        }
        if resume {
            self.resume(incoming)?;
        }
        loop {
            self.answer()?;
            match self.inlet.frame()? {
                Frame::Data { offset, len } => self.data(incoming, offset, len)?,
                Frame::End { size, digest } => {
                    incoming.received = incoming.began.elapsed();
                    if let Err(reason) = self.store.settle()? {
                        incoming.refuse(reason);
                    }
                    if let Ok(target) = &incoming.target
                        && let Some(file) = target.file()
                    {
                        incoming.room.give_back(file);
                    }
                    let finished = finish(incoming, size, digest, self.options);
                    incoming.is_whole = finished.as_ref().copied().unwrap_or(true);
                    return self.settle(incoming, size, finished.err());
                }
                Frame::Abort { reason } => {
                    let reason = String::from_utf8_lossy(reason).into_owned();
                    // It is given up anyway.
                    let _ = self.store.settle()?;
                    if let Ok(target) = &incoming.target {
                        target.spoil(&reason);
                    }
                    let failure = format!("the sender gave it up: {reason}");
                    return self.settle(incoming, incoming.bytes, Some(failure));
                }
                other => return Err(Malformed::Order(other.kind()).into()),
            }
        }
    }

    /// Tells the sender what is there of a file, and hears where it goes on.
    fn resume(&mut self, incoming: &mut Incoming) -> Result<()> {
        let (len, digest) = match &incoming.target {
            Ok(target) => target.present(self.hello.checksum),
            Err(_) => (0, [0; DIGEST_BYTES]),
        };
        self.outlet.frame(&Frame::Partial { len, digest })?;
        self.outlet.flush()?;
        // The sender reads as much of its file as there is here.
        let patience = self.options.limits.patience;
        self.inlet.be_patient(patience * 10);
        let offset = match self.inlet.frame()? {
            Frame::Start { offset } if offset <= len => offset,
            Frame::Start { .. } => return Err(Malformed::Number("start").into()),
            other => return Err(Malformed::Order(other.kind()).into()),
        };
        self.inlet.be_patient(patience);
        if let Ok(target) = &incoming.target
            && let Err(reason) = target.keep_only(offset)
        {
            incoming.target = Err(reason);
            self.tell(incoming, None)?;
        }
        Ok(())
    }

    fn data(&mut self, incoming: &mut Incoming, offset: u64, len: u32) -> Result<()> {
        if self.inlet.shall_stop() {
            return Err(Error::Interrupted);
        }
        if offset != incoming.expected {
            incoming.digest.jump(offset);
        }
        incoming.expected = offset.saturating_add(len.into());
        if incoming.expected > self.options.max_size {
            incoming.refuse(too_large(self.options));
        }
        if let Ok(target) = &incoming.target {
            let target = Arc::clone(target);
            if let Some(file) = target.file() {
                incoming.room.reach(file, offset, len.into());
            }
            let stored = self.store.take(
                &mut self.inlet,
                &mut incoming.digest,
                &target,
                offset,
                len as usize,
            )?;
            if let Err(reason) = stored {
                target.spoil(&reason);
                incoming.target = Err(reason);
            }
        } else {
            self.store.drain(&mut self.inlet, len as usize)?;
        }
        incoming.bytes += u64::from(len);
        self.bytes += u64::from(len);
        self.options
            .progress
            .fetch_add(len.into(), Ordering::Relaxed);
        if incoming.target.is_err() {
            self.tell(incoming, None)?;
        }
        Ok(())
    }

    /// Tells sender and observer what became of a file, once.
    fn settle(
        &mut self,
        incoming: &mut Incoming,
        size: u64,
        failure: Option<String>,
    ) -> Result<()> {
        if incoming.is_told {
            return Ok(());
        }
        if let Some(failure) = failure {
            incoming.refuse(failure);
        }
        self.tell(incoming, Some(size))
    }

    fn tell(&mut self, incoming: &mut Incoming, size: Option<u64>) -> Result<()> {
        if incoming.is_told {
            return Ok(());
        }
        incoming.is_told = true;
        let timing = Timing {
            received: incoming.received,
            stored: incoming.began.elapsed(),
        };
        let failure = incoming.target.as_ref().err().cloned();
        let mut said = failure.clone().unwrap_or_default();
        said.truncate(said.floor_char_boundary(LONGEST_REASON));
        self.outlet.frame(&Frame::Receipt {
            id: incoming.id,
            received_ns: timing.received.as_nanos() as u64,
            stored_ns: timing.stored.as_nanos() as u64,
            failure: said.as_bytes(),
        })?;
        if failure.is_some() {
            // The rest of it need not be sent.
            self.outlet.flush()?;
        }
        if !incoming.is_whole {
            return Ok(());
        }
        (self.observer)(&Event::Settled {
            peer: self.peer,
            outcome: &Outcome {
                name: incoming.name.clone(),
                size: size.unwrap_or(incoming.bytes),
                timing,
                failure,
            },
        });
        Ok(())
    }

    /// The connection is lost with a file under way: tells the observer what is left of it.
    fn lost(&self, incoming: &Incoming, error: &Error) {
        let mut failure = error.to_string();
        if let Ok(target) = &incoming.target {
            let is_worthless = target.has_parts() || self.options.measures;
            if matches!(error, Error::Malformed(_)) || is_worthless {
                target.spoil(&failure);
            } else if let Some(kept) = target.kept() {
                failure = format!("{failure}; {kept} bytes are kept for --resume");
            }
        }
        if !incoming.is_told {
            let outcome = Outcome {
                name: incoming.name.clone(),
                size: incoming.bytes,
                timing: Timing::default(),
                failure: Some(failure),
            };
            (self.observer)(&Event::Settled {
                peer: self.peer,
                outcome: &outcome,
            });
        }
    }
}

impl Incoming {
    /// It goes nowhere any more.
    fn refuse(&mut self, reason: String) {
        if let Ok(target) = &self.target {
            target.spoil(&reason);
            self.target = Err(reason);
        }
    }
}

/// What is received in place of `part` where files are only measured, or why nothing is.
fn measured<'m>(
    part: &Part<'m>,
    measuring: &'m mut Option<Measuring>,
) -> std::result::Result<Part<'m>, String> {
    match measuring {
        _ if part.parts > 1 || part.resume => Err("a file that is measured comes in one go".into()),
        Some(measuring) if !measuring.has_come => {
            measuring.has_come = true;
            let name = FileName::new(measuring.name.as_bytes());
            Ok(Part {
                name: name.map_err(|error| error.to_string())?,
                ..*part
            })
        }
        _ => Err("nothing is kept here: this receiver only measures".into()),
    }
}

/// Where a file goes, or why it goes nowhere.
fn target(
    part: &Part<'_>,
    hello: &Hello,
    options: &Options,
    shelf: &Shelf,
    count: u64,
) -> std::result::Result<Arc<Target>, String> {
    if count > options.max_files {
        Err(format!(
            "it is one of more than {} files",
            options.max_files
        ))
    } else if part.size.is_some_and(|size| size > options.max_size) {
        Err(too_large(options))
    } else {
        shelf.target(part, hello.session, options)
    }
}

/// Prepares for a file.
fn begin(
    part: &Part<'_>,
    hello: &Hello,
    room: Room,
    target: std::result::Result<Arc<Target>, String>,
) -> Incoming {
    Incoming {
        id: part.id,
        name: part.name.bytes().to_vec(),
        began: Instant::now(),
        digest: Digest::new(hello.checksum),
        expected: 0,
        bytes: 0,
        received: Duration::ZERO,
        room,
        target,
        is_whole: true,
        is_told: false,
    }
}

fn too_large(options: &Options) -> String {
    format!(
        "it is larger than the {} bytes that are taken here",
        options.max_size
    )
}

/// Verifies what came, and puts the file under its name with its last part; tells whether this was it.
fn finish(
    incoming: &Incoming,
    size: u64,
    digest: [u8; DIGEST_BYTES],
    options: &Options,
) -> std::result::Result<bool, String> {
    let target = incoming.target.as_ref().map_err(Clone::clone)?;
    if size > options.max_size {
        return Err(too_large(options));
    }
    if incoming.digest.finish() != digest {
        return Err("its checksum is wrong: it changed on its way, or while it was read".into());
    }
    target.complete_part(size, options)
}

fn verdict(hello: &Hello, options: &Options) -> Verdict {
    match (&options.token, hello.has_token) {
        _ if hello.version != VERSION => Verdict::Version,
        (Some(_), false) => Verdict::TokenNeeded,
        (None, true) => Verdict::NoToken,
        (Some(_), true) if hello.checksum != Checksum::Blake3 => Verdict::Checksum,
        _ => Verdict::Welcome,
    }
}

/// Names what somebody said who is no sender.
fn stranger(error: Error, inlet: &Inlet) -> Error {
    match error {
        Error::Malformed(Malformed::Magic) => Error::Stranger(inlet.glimpse()),
        Error::PeerGone => Error::Stranger(String::new()),
        other => other,
    }
}
