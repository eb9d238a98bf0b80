//! What comes in over a connection.

use super::patience::Patience;
use crate::Limits;
use crate::cover::{Check, Cover, Guard, Keys};
use crate::error::{Error, Result};
use crate::protocol::{
    CHECK_BYTES, FOLLOWING, Frame, GREETING_BYTES, HEAD_BYTES, HEADER_BYTES, Header, LONGEST_BODY,
    LONGEST_DATA, MAGIC, Malformed,
};
use platform::socket;
use std::io::{self, IoSliceMut};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What is read ahead of frames: enough for some dozens of small files in one call.
const READ_AHEAD: usize = 64 << 10;

/// What comes in.
pub(crate) struct Inlet {
    socket: TcpStream,
    patience: Patience,
    guard: Guard,
    /// Frames that came, of which those before `start` are done with.
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Whether the frame of data that is taken in is followed by another at once.
    more: bool,
    /// How many bytes wake this thread.
    wakes_at: usize,
}

impl Inlet {
    pub(crate) fn new(socket: TcpStream, limits: Limits) -> Self {
        const { assert!(READ_AHEAD >= HEAD_BYTES + LONGEST_BODY + CHECK_BYTES) }
        Self {
            socket,
            patience: Patience::new(limits),
            guard: Guard::new(None, &[0; GREETING_BYTES], Cover::Summed),
            buffer: vec![0; READ_AHEAD].into(),
            start: 0,
            end: 0,
            more: false,
            wakes_at: 1,
        }
    }

    /// From now on frames come that are protected so, after this greeting.
    pub(crate) fn guard(
        &mut self,
        keys: Option<Keys>,
        greeting: &[u8; GREETING_BYTES],
        contents: Cover,
    ) {
        self.guard = Guard::new(keys, greeting, contents);
    }

    /// What protects the contents of files.
    pub(crate) fn contents(&self) -> Cover {
        self.guard.contents()
    }

    /// From now on silence is borne for so long.
    pub(crate) fn be_patient(&mut self, patience: Duration) {
        self.patience.set_limit(patience);
    }

    /// From now on everything has to come before `deadline`, if there is one.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.patience.set_deadline(deadline);
    }

    /// The next `N` bytes of the other side's first words. Bytes that do not begin as those do are not
    /// waited for.
    pub(crate) fn first_words<const N: usize>(&mut self) -> Result<[u8; N]> {
        loop {
            let seen = &self.buffer[self.start..self.end];
            let common = seen.len().min(MAGIC.len());
            if seen[..common] != MAGIC[..common] {
                return Err(Malformed::Magic.into());
            }
            if seen.len() >= N {
                return self.words();
            }
            self.read_ahead()?;
        }
    }

    /// The next `N` bytes, whatever they are.
    pub(crate) fn words<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.ensure(N)?;
        let taken = self.buffer[self.start..].first_chunk();
        self.start += N;
        Ok(*taken.expect("just ensured"))
    }

    /// What there is of the other side's bytes now, as text for a log.
    pub(crate) fn glimpse(&self) -> String {
        let seen = &self.buffer[self.start..self.end.min(self.start + 32)];
        seen.escape_ascii().to_string()
    }

    /// Whether all that came was heard, so that [`Inlet::frame`] would wait.
    pub(crate) fn would_wait(&self) -> bool {
        // A connection that is gone is found out by waiting for it.
        self.start == self.end && socket::pending_bytes(&self.socket).unwrap_or(0) == 0
    }

    /// The next frame. Of data only the header: all of them follow through [`Inlet::data`], or by
    /// [`Inlet::bare_data`] and its like.
    pub(crate) fn frame(&mut self) -> Result<Frame<'_>> {
        self.ensure(HEAD_BYTES)?;
        let (header, check) = self.buffer[self.start..][..HEAD_BYTES].split_at(HEADER_BYTES);
        let header: &[u8; HEADER_BYTES] = header.try_into().expect("so many were split off");
        let check = check.try_into().expect("the rest of a head is a check");
        // Before anything is believed, its length least of all.
        self.guard.meet(header, check)?;
        let header = Header::parse(header)?;
        self.start += HEAD_BYTES;
        if header.is_data() {
            let frame = Frame::parse(&header, &[])?;
            let is_too_long = self.contents() != Cover::Bare && header.len > LONGEST_DATA;
            if is_too_long {
                let Header { kind, len, .. } = header;
                return Err(Malformed::Length { kind, len }.into());
            }
            self.more = matches!(frame, Frame::Data { more: true, .. });
            return Ok(frame);
        }
        let len = header.len as usize;
        if len == 0 {
            return Ok(Frame::parse(&header, &[])?);
        }
        self.ensure(len + CHECK_BYTES)?;
        let start = self.start;
        self.start += len + CHECK_BYTES;
        let (body, check) = self.buffer[start..self.start].split_at_mut(len);
        let check: &Check = (&*check).try_into().expect("so many are behind a body");
        self.guard.open(body, check)?;
        Ok(Frame::parse(&header, body)?)
    }

    /// Makes sure that so many bytes are in the buffer.
    fn ensure(&mut self, len: usize) -> Result<()> {
        while self.end - self.start < len {
            self.read_ahead()?;
        }
        Ok(())
    }

    fn read_ahead(&mut self) -> Result<()> {
        self.wake_at(1)?;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let (mut socket, space) = (&self.socket, &mut self.buffer[self.end..]);
        let count = self
            .patience
            .until_done(|| io::Read::read(&mut socket, space))?;
        self.end += self.received(count)?;
        Ok(())
    }

    /// Has this thread woken only when so many bytes are there: woken for each packet, it costs the
    /// sender more than the packets do.
    fn wake_at(&mut self, bytes: usize) -> Result<()> {
        if bytes != self.wakes_at {
            socket::wake_at(&self.socket, bytes).map_err(Error::network)?;
            self.wakes_at = bytes;
        }
        Ok(())
    }

    /// Before a call that takes in data: how many bytes wake it. Where others follow at once, the last
    /// of these need not be enough.
    pub(crate) fn expect_data(&mut self, len: usize) -> Result<()> {
        self.wake_at(if self.more && len >= FOLLOWING {
            FOLLOWING
        } else {
            1
        })
    }

    /// Whether someone asked to stop; a call that never waits does not ask by itself.
    pub(crate) fn shall_stop(&self) -> bool {
        self.patience.shall_stop()
    }

    /// What was read ahead of up to `most` bytes of data; empty if nothing was.
    pub(crate) fn ahead(&mut self, most: usize) -> &[u8] {
        let count = most.min(self.end - self.start);
        self.start += count;
        &self.buffer[self.start - count..self.start]
    }

    /// Puts what was read ahead of the data at the start of `out`; tells how many bytes.
    pub(crate) fn ahead_into(&mut self, out: &mut [u8]) -> usize {
        let ahead = self.ahead(out.len());
        out[..ahead.len()].copy_from_slice(ahead);
        ahead.len()
    }

    /// Fills `out` with the data of the frame, as they were sent: with their check and, where another
    /// frame follows at once, with the head of that in the same call. Whether their sum is right; a
    /// seal that is wrong is an error.
    pub(crate) fn data(&mut self, out: &mut [u8]) -> Result<bool> {
        if self.contents() == Cover::Bare {
            return self.bare_data(out).map(|()| true);
        }
        let mut filled = self.ahead_into(out);
        if filled < out.len() {
            self.expect_data(out.len() - filled)?;
            (self.start, self.end) = (0, 0);
        }
        let behind = CHECK_BYTES + if self.more { HEAD_BYTES } else { 0 };
        while filled < out.len() {
            let (socket, rest) = (&self.socket, &mut out[filled..]);
            let behind = &mut self.buffer[self.end..behind];
            let count = self.patience.until_done(|| {
                let mut parts = [IoSliceMut::new(rest), IoSliceMut::new(behind)];
                socket::receive_parts(socket, &mut parts)
            })?;
            let count = self.received(count)?;
            let of_data = count.min(out.len() - filled);
            filled += of_data;
            self.end += count - of_data;
        }
        self.check_data(out)
    }

    /// Fills `out` with data that have no check.
    pub(crate) fn bare_data(&mut self, out: &mut [u8]) -> Result<()> {
        let mut filled = self.ahead_into(out);
        if filled < out.len() {
            self.expect_data(out.len() - filled)?;
        }
        while filled < out.len() {
            let rest = &mut out[filled..];
            filled +=
                self.receive(|socket| socket::receive_parts(socket, &mut [IoSliceMut::new(rest)]))?;
        }
        Ok(())
    }

    /// Tests the data of the frame, all of which came, and opens them if they are sealed. Whether their
    /// sum is right; a seal that is wrong is an error.
    pub(crate) fn check_data(&mut self, data: &mut [u8]) -> Result<bool> {
        if self.contents() == Cover::Bare {
            return Ok(true);
        }
        let check = self.words()?;
        match self.guard.open_data(data, &check) {
            Ok(()) => Ok(true),
            // Where nobody is to be feared, the file is worthless and the connection is not.
            Err(Malformed::Check) if self.contents() == Cover::Summed => Ok(false),
            Err(wrong) => Err(wrong.into()),
        }
    }

    /// Takes `len` bytes, the rest of the data of the frame, and throws them away unseen, through
    /// `buffer`.
    pub(crate) fn skip_data(&mut self, mut len: usize, buffer: &mut [u8]) -> Result<()> {
        while len > 0 {
            let step = len.min(buffer.len());
            self.bare_data(&mut buffer[..step])?;
            len -= step;
        }
        if self.contents() != Cover::Bare {
            self.words::<CHECK_BYTES>()?;
        }
        Ok(())
    }

    /// Gets data past the buffer, which must be empty, by `call`; tells how many bytes came.
    pub(crate) fn receive(
        &mut self,
        call: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Result<usize> {
        let count = self.patiently(call)?;
        self.received(count)
    }

    /// Makes a call until it succeeds or there is no more reason to try.
    pub(crate) fn patiently<T>(
        &mut self,
        mut call: impl FnMut(&TcpStream) -> io::Result<T>,
    ) -> Result<T> {
        self.patience.until_done(|| call(&self.socket))
    }

    /// Takes note of what a call received.
    pub(crate) fn received(&mut self, count: usize) -> Result<usize> {
        if count == 0 {
            return Err(Error::PeerGone);
        }
        self.patience.moved(count);
        Ok(count)
    }
}
