//! One sender, from its greeting to its last frame.

use super::greeting::Greeted;
use super::method::{Arrival, Store};
use super::room::Room;
use super::target::{Shelf, Target};
use super::{Event, Failure, Observer, Options};
use crate::connection::{Inlet, Outlet};
use crate::error::{Error, Result};
use crate::method::ReceiveMethod;
use crate::protocol::{FileName, Frame, Hello, Kind, Malformed, Part, Partial, Verdict, reason};
use crate::{Outcome, Timing, thread_cpu};
use choice::Choice;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Receipts are held back until they take this many bytes or no frame is waiting. One packet then
/// reports dozens of small files: a packet costs about as much as a file.
const MOST_UNSENT: usize = 4 << 10;

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

/// The file of a connection that measures.
struct Measuring {
    /// Its name on disk, independent of the name that the sender gives.
    name: String,
    /// True once the sender has announced the file.
    has_come: bool,
}

impl<'r> Connection<'r> {
    /// A sender that has been greeted and may send.
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
        let store = Store::new(options.method, hello.cover)?;
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

    /// Accepts the sender and receives files until it leaves; returns the CPU time spent.
    pub(super) fn run(mut self) -> Result<Duration> {
        let outcome = self.welcome().and_then(|()| self.files());
        self.forget();
        self.shelf.leave(self.hello.session, outcome.is_err());
        outcome
    }

    /// Reports to the sender that it is accepted. The transfer already counts this connection:
    /// otherwise, if another connection ended now, it would look like the last one and would
    /// discard its share of divided files.
    fn welcome(&mut self) -> Result<()> {
        let (verdict, max_size) = (Verdict::Welcome, self.options.max_size);
        self.outlet.frame(&Frame::Opened { verdict, max_size })?;
        self.outlet.flush()?;
        self.outlet.keep_alive();
        Ok(())
    }

    fn files(&mut self) -> Result<Duration> {
        let before = thread_cpu();
        loop {
            self.answer()?;
            match self.inlet.frame()? {
                Frame::File(part) => {
                    self.files += 1;
                    let target = if self.options.measures {
                        measured(&part, &mut self.measuring).and_then(|part| self.target(&part))
                    } else {
                        self.target(&part)
                    };
                    let (id, parts) = (part.id, part.parts);
                    self.file(Incoming {
                        room: Room::new(&part, self.store.method),
                        part,
                        began: Instant::now(),
                        is_right: true,
                        bytes: 0,
                        received: Duration::ZERO,
                        target,
                        is_whole: true,
                        is_reported: false,
                    })?;
                    if parts > 1 {
                        self.shelf.part_is_over(id, self.hello.session);
                    }
                }
                Frame::Prepare { method } => self.prepare(method)?,
                Frame::Working => {}
                Frame::Bye => break,
                _ => return Err(Malformed::Order.into()),
            }
        }
        let cpu = thread_cpu().saturating_sub(before);
        self.outlet.fall_silent();
        self.outlet.frame(&Frame::Done {
            bytes: self.bytes,
            cpu_ns: cpu.as_nanos() as u64,
        })?;
        self.outlet.flush()?;
        Ok(cpu)
    }

    /// The target of a file, or the reason for refusing it.
    fn target(&self, part: &Part) -> std::result::Result<Arc<Target>, Failure> {
        let options = self.options;
        if self.files > options.max_files {
            Err(format!("it is one of more than {} files", options.max_files).into())
        } else if part.size.is_some_and(|size| size > options.max_size) {
            Err(too_large(options))
        } else if part.resume && part.parts > 1 {
            // Each part would truncate what the others have written.
            Err("a file in parts cannot be continued".into())
        } else if part.name.is_hidden() && !options.allow_hidden {
            Err("its name begins with a dot (--allow-hidden there takes it)".into())
        } else {
            self.shelf.target(part, self.hello.session, options)
        }
    }

    /// Prepares for a file to be measured.
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
            self.store.method = method;
            self.measuring = Some(Measuring {
                name: format!(
                    "measured-{}",
                    self.shelf.measured.fetch_add(1, Ordering::Relaxed)
                ),
                has_come: false,
            });
        }
        let room = self.shelf.room().unwrap_or(u64::MAX);
        self.outlet.frame(&Frame::Ready {
            room: room.min(self.options.max_size),
            failure: reason(ready.err().unwrap_or_default()),
        })
    }

    /// Deletes the measured file.
    fn forget(&mut self) {
        if let Some(Measuring { name, .. }) = self.measuring.take() {
            self.shelf.remove(&name);
        }
    }

    /// Sends queued replies before blocking on the next frame, so that one packet carries the
    /// receipts of many small files.
    fn answer(&mut self) -> Result<()> {
        let unsent = self.outlet.gathered();
        if unsent >= MOST_UNSENT || (unsent > 0 && self.inlet.would_wait()) {
            self.outlet.flush()?;
        }
        Ok(())
    }

    /// Receives one file or part, or keeps what arrived of it.
    fn file(&mut self, mut incoming: Incoming) -> Result<()> {
        let outcome = self.all_of(&mut incoming);
        if let Err(error) = &outcome {
            // A file that can be resumed stays; its pending writes must finish first.
            let _ = self.store.settle();
            self.lost(incoming, error);
        }
        outcome
    }

    fn all_of(&mut self, incoming: &mut Incoming) -> Result<()> {
        if incoming.target.is_err() {
            self.report(incoming, None)?;
        }
        // A link has no bytes to compare.
        if incoming.part.resume && incoming.part.kind == Kind::File {
            self.resume(incoming)?;
        }
        loop {
            self.answer()?;
            match self.inlet.frame()? {
                Frame::Data { offset, len, .. } => self.data(incoming, offset, len)?,
                Frame::Working => {}
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
                    incoming.is_whole = *finished.as_ref().unwrap_or(&true);
                    if let Err(failure) = finished {
                        incoming.refuse(failure);
                    }
                    return self.report(incoming, Some(size));
                }
                Frame::Abort { reason } => {
                    let failure: Failure = match reason.as_str() {
                        "" => "the sender gave it up".into(),
                        reason => format!("the sender gave it up: {reason}").into(),
                    };
                    // The file is lost in any case.
                    let _ = self.store.settle()?;
                    incoming.refuse(failure);
                    return self.report(incoming, None);
                }
                _ => return Err(Malformed::Order.into()),
            }
        }
    }

    /// Reports to the sender which part of a file exists here, and receives the offset to resume from.
    fn resume(&mut self, incoming: &mut Incoming) -> Result<()> {
        let present = match &incoming.target {
            Ok(target) => self.shelf.present(target, self.options.limits.stop)?,
            Err(_) => Partial::default(),
        };
        let len = present.len;
        self.outlet.frame(&Frame::Partial(present))?;
        self.outlet.flush()?;
        let offset = loop {
            match self.inlet.frame()? {
                Frame::Start { offset } if offset <= len => break offset,
                Frame::Start { .. } => return Err(Malformed::Number("start").into()),
                Frame::Working => {}
                _ => return Err(Malformed::Order.into()),
            }
        };
        if let Ok(target) = &incoming.target
            && let Err(reason) = target.keep_only(offset)
        {
            incoming.target = Err(reason);
            self.report(incoming, None)?;
        }
        Ok(())
    }

    fn data(&mut self, incoming: &mut Incoming, offset: u64, len: u32) -> Result<()> {
        // A call that never waits does not check this itself.
        if self.options.limits.stop.load(Ordering::Acquire) {
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
        if incoming.target.is_err() && !incoming.is_reported {
            // Pending writes keep the file open and so hold its name and its space. The sender may
            // need both once it knows of the failure.
            let _ = self.store.settle()?;
            self.report(incoming, None)?;
        }
        Ok(())
    }

    /// Reports the outcome of a file to sender and observer, once.
    fn report(&mut self, incoming: &mut Incoming, size: Option<u64>) -> Result<()> {
        if incoming.is_reported {
            return Ok(());
        }
        incoming.is_reported = true;
        let timing = Timing {
            received: incoming.received,
            stored: incoming.began.elapsed(),
        };
        let failure = incoming.target.as_ref().err();
        let Part {
            id, parts, name, ..
        } = &incoming.part;
        if let Some(failure) = failure.filter(|_| *parts > 1) {
            self.shelf.release(*id, self.hello.session, failure);
        }
        let needs_room = failure.is_some_and(|failure| failure.needs_room);
        let failure = failure.map(ToString::to_string);
        self.outlet.frame(&Frame::Receipt {
            id: *id,
            received_ns: timing.received.as_nanos() as u64,
            stored_ns: timing.stored.as_nanos() as u64,
            needs_room,
            failure: reason(failure.clone().unwrap_or_default()),
        })?;
        if failure.is_some() {
            // If it knows now, the sender can skip the rest of the file.
            self.outlet.flush()?;
        }
        if !incoming.is_whole {
            return Ok(());
        }
        (self.observer)(&Event::Settled {
            peer: self.peer,
            outcome: &Outcome {
                name: name.bytes().to_vec(),
                size: size.unwrap_or(incoming.bytes),
                timing,
                failure,
                is_kept: false,
                needs_room,
            },
        });
        Ok(())
    }

    /// The connection is lost during a file: reports to the observer how much of the file remains.
    fn lost(&self, incoming: Incoming, error: &Error) {
        let mut failure = error.to_string();
        let mut is_kept = false;
        if let Ok(target) = &incoming.target {
            let is_worthless = self.options.measures || !incoming.is_right;
            if matches!(error, Error::Malformed(_)) || is_worthless {
                target.spoil(&failure[..]);
            } else if target.has_parts() {
                // Other connections may still write to it.
                target.abandon(&failure[..]);
            } else if let Some(kept) = target.kept() {
                is_kept = true;
                failure = format!("{failure}; {kept} bytes are kept for --resume");
            }
        }
        // The observer may resume the file at once, so its lock must be free.
        drop(incoming.target);
        if !incoming.is_reported {
            let outcome = Outcome {
                name: incoming.part.name.bytes().to_vec(),
                size: incoming.bytes,
                failure: Some(failure),
                is_kept,
                ..Outcome::default()
            };
            (self.observer)(&Event::Settled {
                peer: self.peer,
                outcome: &outcome,
            });
        }
    }
}

/// The announcement to use in place of `part` when files are only measured, or the reason for
/// refusing it.
fn measured(part: &Part, measuring: &mut Option<Measuring>) -> std::result::Result<Part, Failure> {
    match measuring {
        _ if part.parts > 1 || part.resume || part.kind != Kind::File => {
            Err("a file that is measured comes in one go".into())
        }
        Some(measuring) if !measuring.has_come => {
            measuring.has_come = true;
            let name = FileName::new(measuring.name.as_bytes());
            Ok(Part {
                name: name.map_err(|error| error.to_string())?,
                ..part.clone()
            })
        }
        _ => Err("nothing is kept here: this receiver only measures".into()),
    }
}

/// A file, or a part of one, while it arrives.
struct Incoming {
    part: Part,
    began: Instant,
    /// True if all checksums so far were right.
    is_right: bool,
    /// Number of bytes received.
    bytes: u64,
    received: Duration,
    room: Room,
    /// The target of the bytes, or the reason for discarding them.
    target: std::result::Result<Arc<Target>, Failure>,
    /// True if its outcome is that of the file. Of a file in parts, only the last part is reported
    /// to the observer, and a directory only if it fails.
    is_whole: bool,
    /// True if the outcome was reported to the sender.
    is_reported: bool,
}

impl Incoming {
    /// Discards everything that still arrives.
    fn refuse(&mut self, reason: Failure) {
        if let Ok(target) = &self.target {
            // A file whose other connection was lost is refused for that, and its beginning is kept.
            if target.failure().as_ref() != Some(&reason) {
                target.spoil(reason.clone());
            }
            self.target = Err(reason);
        }
    }

    /// Publishes the file under its name with its last part; returns true if this was the last
    /// part.
    fn finish(&self, size: u64, options: &Options) -> std::result::Result<bool, Failure> {
        let target = self.target.as_ref().map_err(Clone::clone)?;
        if size > options.max_size {
            return Err(too_large(options));
        }
        if !self.is_right {
            return Err(
                "its checksum is wrong: it changed on its way, or while it was read".into(),
            );
        }
        target.complete_part(size, options)
    }
}

/// The reason for refusing a file of this size.
fn too_large(options: &Options) -> Failure {
    format!(
        "it is larger than the {} bytes that are taken here",
        options.max_size
    )
    .into()
}
