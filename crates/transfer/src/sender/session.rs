//! One connection to a receiver, and the files sent over it.

use super::greeting::{check, connect};
use super::method::{Flow, Stopped};
use super::pump::Pump;
use super::replies::Replies;
use super::{Contents, Options};
use crate::connection::Outlet;
use crate::cover::Cover;
use crate::error::{Error, Result};
use crate::method::{ReceiveMethod, SendMethod};
use crate::protocol::{Frame, Malformed, Part, reason};
use crate::ranges::Hashing;
use crate::{Outcome, Timing};
use platform::socket::on_their_way;
use std::collections::VecDeque;
use std::fs::Metadata;
use std::io;
use std::net::Shutdown;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// One connection to a receiver.
pub struct Session {
    options: Options,
    outlet: Outlet,
    pump: Pump,
    replies: Replies,
    /// Files whose outcome is not known yet.
    open: VecDeque<Open>,
    /// Outcomes that the caller has not fetched yet.
    settled: VecDeque<Settled>,
}

/// Number of a file, number of its parts, and the outcome of the part sent here.
pub(super) type Settled = (u64, u16, Outcome);

/// A file, or a part of one, whose outcome is not known yet.
struct Open {
    id: u64,
    parts: u16,
    name: Vec<u8>,
    size: u64,
    /// Bytes sent from its beginning; `None` if the receiver keeps nothing of it.
    sent: Option<u64>,
}

/// A receiver that got this much of the beginning of a file, in bytes, keeps some of it.
const SURELY_KEPT: u64 = 2 << 20;

/// Parts of a file begin at multiples of this.
const PART_UNIT: u64 = 1 << 20;

impl Session {
    /// Connects to a receiver at `address`, as `stream` of `streams` connections of one transfer.
    ///
    /// # Errors
    /// If the receiver does not exist, does not know the token, or refuses; if the system does not
    /// support the method.
    pub fn connect(
        address: &str,
        options: &Options,
        session: [u8; 16],
        (stream, streams): (u16, u16),
    ) -> Result<Self> {
        check(options)?;
        let (inlet, outlet) = connect(address, options, session, (stream, streams))?;
        Ok(Self {
            options: options.clone(),
            outlet,
            pump: Pump::new(options.method)?,
            replies: Replies::hear(inlet)?,
            open: VecDeque::new(),
            settled: VecDeque::new(),
        })
    }

    /// Sends the files that follow by another method, over the same connection.
    ///
    /// # Errors
    /// If the system does not support the method, or it cannot protect the contents as agreed.
    pub fn use_method(&mut self, method: SendMethod) -> Result<()> {
        self.options.method = method;
        check(&self.options)?;
        self.pump.method = method;
        Ok(())
    }

    /// Asks a receiver that measures to delete the last file received over this connection, and to
    /// receive the next one by `method`. Returns the maximum size of that file in bytes.
    ///
    /// # Errors
    /// [`Error::Unready`] if the receiver does not measure or cannot use the method; another error
    /// if the connection fails.
    pub fn prepare(&mut self, method: ReceiveMethod) -> Result<u64> {
        self.replies.ask();
        self.outlet.frame(&Frame::Prepare { method })?;
        match self.answer()? {
            Frame::Ready { room, failure } if failure.is_empty() => Ok(room),
            Frame::Ready { failure, .. } => Err(Error::Unready(failure)),
            _ => Err(Malformed::Order.into()),
        }
    }

    /// Sends a file, or the first part of one. [`Session::outcome`] returns its outcome.
    pub fn send(&mut self, item: &Part, contents: Contents<'_>) -> Result<()> {
        self.send_part(item, 0, None, contents)
    }

    /// Like [`Session::send`], for the part with this index of a file that must still be in the state `before`, or
    /// in that of now.
    pub(super) fn send_part(
        &mut self,
        item: &Part,
        part: u16,
        before: Option<State>,
        mut contents: Contents<'_>,
    ) -> Result<()> {
        let before = before.map_or_else(|| state(&contents), |before| Ok(Some(before)));
        self.replies.ask();
        let mut range = self.announce(item, part)?;
        if item.resume {
            self.replies.ask();
            range.start = self.resume(&contents, range.end)?;
            self.outlet.frame(&Frame::Start {
                offset: range.start,
            })?;
        }
        let progress = Arc::clone(&self.options.progress);
        let mut flow = Flow {
            outlet: &mut self.outlet,
            expected: range.start,
            is_wanted: &|| !self.replies.has_failed(item.id),
            progress: &progress,
        };
        let outcome = self
            .pump
            .run(&mut flow, &mut contents, range.clone())
            .and_then(|()| still(&contents, before?, item.size));
        let expected = flow.expected;
        if let Some(open) = self.open.back_mut() {
            let can_be_kept = part == 0
                && self.options.cover != Cover::Bare
                && matches!(contents, Contents::File(_));
            open.sent = can_be_kept.then_some(expected);
        }
        match outcome {
            // A stop request may have cut off the last bytes as well.
            Ok(()) if self.outlet.line.patience.shall_stop() => Err(Error::Interrupted),
            Ok(()) => {
                let size = item.size.unwrap_or(expected);
                if let Some(open) = self.open.back_mut()
                    && item.size.is_none()
                {
                    open.size = size;
                }
                self.outlet.frame(&Frame::End { size })
            }
            Err(Stopped::Source(text)) => {
                let reason = reason(text);
                self.outlet.frame(&Frame::Abort { reason })
            }
            Err(Stopped::Refused) => {
                let reason = String::new();
                self.outlet.frame(&Frame::Abort { reason })
            }
            Err(Stopped::Lost(error)) => Err(error),
        }
    }

    /// Sends what has no contents: a directory or a link. [`Session::outcome`] returns its outcome.
    pub(super) fn send_empty(&mut self, item: &Part) -> Result<()> {
        if self.outlet.line.patience.shall_stop() {
            return Err(Error::Interrupted);
        }
        self.replies.ask();
        self.announce(item, 0)?;
        self.outlet.frame(&Frame::End { size: 0 })
    }

    /// Announces a file, and expects its outcome; returns the range of its part with this index.
    fn announce(&mut self, item: &Part, part: u16) -> Result<Range<u64>> {
        self.replies.forget_failure();
        self.outlet.frame(&Frame::File(item.clone()))?;
        let range = range(item.size, item.parts, part);
        self.open.push_back(Open {
            id: item.id,
            parts: item.parts,
            name: item.name.bytes().to_vec(),
            size: range.end - range.start,
            sent: None,
        });
        Ok(range)
    }

    /// The offset to resume from: the end of the bytes that both sides have in common. Of a complete
    /// file at the receiver, either all is the same, or nothing is used.
    fn resume(&mut self, contents: &Contents<'_>, end: u64) -> Result<u64> {
        let Frame::Partial(there) = self.answer()? else {
            return Err(Malformed::Order.into());
        };
        let Contents::File(file) = contents else {
            return Ok(0);
        };
        match Hashing::new(file, self.options.limits.stop)?.in_common(&there) {
            Ok(common) if there.is_complete && (common, common) != (there.len, end) => Ok(0),
            Ok(common) if common <= end => Ok(common),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // If comparing fails, the whole file is sent, and that reports the reason.
            _ => Ok(0),
        }
    }

    /// The receiver's answer to a question. Outcomes of earlier files come first.
    fn answer(&mut self) -> Result<Frame> {
        self.outlet.flush()?;
        loop {
            let reply = self.replies.next(&self.outlet)?;
            if !matches!(reply, Frame::Receipt { .. }) {
                return Ok(reply);
            }
            self.settle(reply)?;
        }
    }

    /// The outcome of the oldest file that is not reported yet, in sending order; `None` if there
    /// is none.
    pub fn outcome(&mut self) -> Result<Option<(u64, Outcome)>> {
        let settled = self.settled()?;
        Ok(settled.map(|(id, _, outcome)| (id, outcome)))
    }

    /// [`Session::outcome`], with the number of the file's parts.
    pub(super) fn settled(&mut self) -> Result<Option<Settled>> {
        if self.settled.is_empty() && !self.open.is_empty() {
            self.outlet.flush()?;
            let reply = self.replies.next(&self.outlet)?;
            self.settle(reply)?;
        }
        Ok(self.settled.pop_front())
    }

    /// Like [`Session::settled`], but does not wait: `None` if the outcome is not known yet.
    pub(super) fn known(&mut self) -> Result<Option<Settled>> {
        if let Some(reply) = self.replies.known()? {
            self.settle(reply)?;
        }
        Ok(self.settled.pop_front())
    }

    /// Takes a receipt, the only reply that is due.
    fn settle(&mut self, reply: Frame) -> Result<()> {
        let Frame::Receipt {
            id,
            received_ns,
            stored_ns,
            needs_room,
            failure,
        } = reply
        else {
            return Err(Malformed::Order.into());
        };
        let open = self.open.pop_front().filter(|open| open.id == id);
        let open = open.ok_or(Malformed::Number("receipt"))?;
        let outcome = Outcome {
            name: open.name,
            size: open.size,
            timing: Timing {
                received: Duration::from_nanos(received_ns),
                stored: Duration::from_nanos(stored_ns),
            },
            failure: Some(failure).filter(|failure| !failure.is_empty()),
            is_kept: false,
            needs_room,
        };
        self.settled.push_back((id, open.parts, outcome));
        Ok(())
    }

    /// The files without an outcome, after the connection was lost for this reason.
    pub(super) fn lost(&mut self, reason: &str) -> impl Iterator<Item = Settled> {
        let left = on_their_way(&self.outlet.line.socket).map_or(u64::MAX, |left| left as u64);
        self.open.drain(..).map(move |open| {
            let is_kept = |sent: u64| sent.saturating_sub(left) >= SURELY_KEPT;
            let outcome = Outcome {
                name: open.name,
                size: open.size,
                failure: Some(reason.to_owned()),
                is_kept: open.sent.is_some_and(is_kept),
                ..Outcome::default()
            };
            (open.id, open.parts, outcome)
        })
    }

    /// Ends the session; returns the number of bytes that the receiver got and the CPU time it
    /// spent.
    ///
    /// # Errors
    /// If the connection fails. Outcomes that were not fetched are lost.
    pub fn finish(mut self) -> Result<(u64, Duration)> {
        while self.outcome()?.is_some() {}
        self.replies.ask();
        self.outlet.fall_silent();
        self.outlet.frame(&Frame::Bye)?;
        self.outlet.flush()?;
        self.outlet.close();
        match self.replies.next(&self.outlet)? {
            Frame::Done { bytes, cpu_ns } => Ok((bytes, Duration::from_nanos(cpu_ns))),
            _ => Err(Malformed::Order.into()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Stops the reader of replies, wherever it blocks. Shutting down a lost connection fails,
        // and that does no harm.
        let _ = self.outlet.line.socket.shutdown(Shutdown::Both);
    }
}

/// The byte range of one part of a file.
fn range(size: Option<u64>, parts: u16, part: u16) -> Range<u64> {
    let Some(size) = size else { return 0..0 };
    let (parts, part) = (u64::from(parts.max(1)), u64::from(part));
    let each = size.div_ceil(parts).next_multiple_of(PART_UNIT);
    (part * each).min(size)..((part + 1) * each).min(size)
}

/// The state that reveals a change of a file: its size and its modification time.
pub(super) type State = (u64, Option<SystemTime>);

fn state(contents: &Contents<'_>) -> io::Result<Option<State>> {
    let Contents::File(file) = contents else {
        return Ok(None);
    };
    file.metadata().map(|metadata| Some(state_of(&metadata)))
}

pub(super) fn state_of(metadata: &Metadata) -> State {
    (metadata.len(), metadata.modified().ok())
}

/// Checks that a file is unchanged since it was opened and announced.
fn still(
    contents: &Contents<'_>,
    before: Option<State>,
    announced: Option<u64>,
) -> std::result::Result<(), Stopped> {
    let after = state(contents)?;
    let has_size = |(size, _)| announced.is_none_or(|announced| announced == size);
    if after.is_none_or(has_size) && (after == before || after.is_none()) {
        return Ok(());
    }
    Err(Stopped::Source("it changed while it was sent".into()))
}
