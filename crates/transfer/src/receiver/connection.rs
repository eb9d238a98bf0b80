//! One sender, from its greeting to its farewell.

use super::greeting::Greeted;
use super::incoming::{Incoming, too_large};
use super::method::Arrival;
use super::place::Failure;
use super::room::Room;
use super::store::Store;
use super::target::{Shelf, Target};
use super::{Event, Observer, Options};
use crate::clock::thread_cpu;
use crate::connection::{Inlet, Outlet};
use crate::error::{Error, Result};
use crate::method::ReceiveMethod;
use crate::outcome::{Outcome, Timing};
use crate::protocol::{FileName, Frame, Hello, LONGEST_REASON, Malformed, Part, Partial, Verdict};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// So many bytes of receipts wait at most: some hundred files are not told of until then, and a packet
/// costs about as much as a file.
const MOST_UNTOLD: usize = 4 << 10;

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

impl<'r> Connection<'r> {
    /// It has been greeted, and may send.
    pub(super) fn new(
        greeted: Greeted,
        peer: SocketAddr,
        options: &'r Options,
        shelf: &'r Shelf,
        observer: &'r Observer<'r>,
    ) -> Result<Self> {
        let Greeted {
            hello,
            inlet,
            outlet,
        } = greeted;
        let usual = ReceiveMethod::usual(hello.cover);
        let store = Store::new(options.method.unwrap_or(usual))?;
        shelf.enter(hello.session);
        Ok(Self {
            options,
            shelf,
            observer,
            peer,
            hello,
            inlet,
            outlet,
            store,
            files: 0,
            bytes: 0,
            measuring: None,
        })
    }

    /// Lets the sender in, and takes in files until it says farewell; tells the CPU time that took.
    pub(super) fn run(mut self) -> Result<Duration> {
        let outcome = self.welcome().and_then(|()| self.files());
        self.forget();
        self.shelf.leave(self.hello.session, outcome.is_err());
        outcome
    }

    /// Tells the sender that it is let in. By now its transfer knows of this connection: another one
    /// might come to its end at once, and would take what it has of divided files with it if it were
    /// the only one.
    fn welcome(&mut self) -> Result<()> {
        let (verdict, max_size) = (Verdict::Welcome, self.options.max_size);
        self.outlet.frame(&Frame::Opened { verdict, max_size })?;
        self.outlet.flush()
    }

    fn files(&mut self) -> Result<Duration> {
        let before = thread_cpu();
        loop {
            self.answer()?;
            match self.inlet.frame()? {
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
                    let (resume, id, parts) = (part.resume, part.id, part.parts);
                    let incoming = Incoming::new(&part, room, target);
                    self.file(incoming, resume)?;
                    if parts > 1 {
                        self.shelf.part_is_over(id, self.hello.session);
                    }
                }
                Frame::Prepare { method } => self.prepare(method)?,
                Frame::Bye => break,
                other => return Err(Malformed::Order(other.kind()).into()),
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
        let ready = if self.options.measures && !method.can(self.hello.cover) {
            Err(Error::Unsealable(method.name()).to_string())
        } else if self.options.measures {
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
        let untold = self.outlet.gathered();
        if untold >= MOST_UNTOLD || (untold > 0 && self.inlet.would_wait()) {
            self.outlet.flush()?;
        }
        Ok(())
    }

    /// Takes in one file, or a part of one, or keeps what came of it.
    fn file(&mut self, mut incoming: Incoming, resume: bool) -> Result<()> {
        let outcome = self.all_of(&mut incoming, resume);
        if let Err(error) = &outcome {
            // What arrived is kept if it can be gone on with.
            let _ = self.store.settle();
            self.lost(incoming, error);
        }
        outcome
    }

    fn all_of(&mut self, incoming: &mut Incoming, resume: bool) -> Result<()> {
        if incoming.target.is_err() {
            self.tell(incoming, None)?;
        }
        if resume {
            self.resume(incoming)?;
        }
        loop {
            self.answer()?;
            match self.inlet.frame()? {
                Frame::Data { offset, len, .. } => self.data(incoming, offset, len)?,
                Frame::End { size } => {
                    incoming.received = incoming.began.elapsed();
                    if let Some(reason) = self.store.settle()? {
                        incoming.refuse(reason);
                    }
                    if let Ok(target) = &incoming.target
                        && let Some(file) = target.file()
                    {
                        incoming.room.give_back(file);
                    }
                    let finished = incoming.finish(size, self.options);
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
        let present = match &incoming.target {
            Ok(target) => self.shelf.present(target, self.options.limits.stop)?,
            Err(_) => Partial::default(),
        };
        let len = present.len;
        self.outlet.frame(&Frame::Partial(present))?;
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
        if offset.saturating_add(len.into()) > self.options.max_size {
            incoming.refuse(too_large(self.options));
        }
        if let Ok(target) = &incoming.target {
            let target = Arc::clone(target);
            if let Some(file) = target.file() {
                incoming.room.reach(file, offset, len.into());
            }
            incoming.is_right &= self.store.take(Arrival {
                inlet: &mut self.inlet,
                target: &target,
                offset,
                len: len as usize,
            })?;
            if let Some(reason) = target.failure() {
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
    fn lost(&self, incoming: Incoming, error: &Error) {
        let mut failure = error.to_string();
        if let Ok(target) = &incoming.target {
            let is_worthless = target.has_parts() || self.options.measures || !incoming.is_right;
            if matches!(error, Error::Malformed(_)) || is_worthless {
                target.spoil(&failure);
            } else if let Some(kept) = target.kept() {
                failure = format!("{failure}; {kept} bytes are kept for --resume");
            }
        }
        // Whoever is told may want to go on with it at once.
        drop(incoming.target);
        if !incoming.is_told {
            let outcome = Outcome {
                name: incoming.name,
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

/// What is received in place of `part` where files are only measured, or why nothing is.
fn measured<'m>(
    part: &Part<'m>,
    measuring: &'m mut Option<Measuring>,
) -> std::result::Result<Part<'m>, Failure> {
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
) -> std::result::Result<Arc<Target>, Failure> {
    if count > options.max_files {
        Err(format!(
            "it is one of more than {} files",
            options.max_files
        ))
    } else if part.size.is_some_and(|size| size > options.max_size) {
        Err(too_large(options))
    } else if part.resume && part.parts > 1 {
        // Each part would cut off what the others have brought.
        Err("a file in parts cannot be gone on with".into())
    } else if part.name.is_hidden() && !options.allow_hidden {
        Err("its name begins with a dot (--allow-hidden there takes it)".into())
    } else {
        shelf.target(part, hello.session, options)
    }
}
