//! What comes in over a connection.

use super::patience::Patience;
use crate::Limits;
use crate::error::{Error, Result};
use crate::protocol::{
    Frame, GREETING_BYTES, HEADER_BYTES, Header, LONGEST_BODY, MAGIC, Malformed, PROOF_BYTES,
    SEAL_BYTES,
};
use crate::token::Seal;
use platform::socket;
use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What is read ahead of frames. Larger, it would copy more of the data that follows; smaller, it
/// would take more calls for many small files.
const READ_AHEAD: usize = 16 << 10;

/// What comes in.
pub(crate) struct Inlet {
    socket: TcpStream,
    patience: Patience,
    seal: Option<Seal>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Inlet {
    pub(crate) fn new(socket: TcpStream, limits: Limits) -> Self {
        const { assert!(READ_AHEAD >= HEADER_BYTES + LONGEST_BODY + SEAL_BYTES) }
        Self {
            socket,
            patience: Patience::new(limits),
            seal: None,
            buffer: vec![0; READ_AHEAD].into(),
            start: 0,
            end: 0,
        }
    }

    /// From now on every frame bears a seal.
    pub(crate) fn seal(&mut self, seal: Option<Seal>) {
        self.seal = seal;
    }

    /// From now on silence is borne for so long.
    pub(crate) fn be_patient(&mut self, patience: Duration) {
        self.patience.set_limit(patience);
    }

    /// The other side's greeting, all of it before `deadline`. Bytes that do not begin like one are
    /// not waited for.
    pub(crate) fn greeting(&mut self, deadline: Instant) -> Result<[u8; GREETING_BYTES]> {
        loop {
            let seen = &self.buffer[self.start..self.end];
            let common = seen.len().min(MAGIC.len());
            if seen[..common] != MAGIC[..common] {
                return Err(Malformed::Magic.into());
            }
            if seen.len() >= GREETING_BYTES {
                return Ok(self.take());
            }
            self.fill(deadline)?;
        }
    }

    /// The other side's proof, all of it before `deadline`.
    pub(crate) fn proof(&mut self, deadline: Instant) -> Result<[u8; PROOF_BYTES]> {
        while self.end - self.start < PROOF_BYTES {
            self.fill(deadline)?;
        }
        Ok(self.take())
    }

    fn fill(&mut self, deadline: Instant) -> Result<()> {
        if Instant::now() >= deadline {
            return Err(Error::Silent(self.patience.limit()));
        }
        self.read_ahead()
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.buffer[self.start..][..N].try_into();
        self.start += N;
        taken.expect("a slice of N bytes is an array of N")
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

    /// The next frame. Of data only the header: its bytes follow through [`Inlet::fill_data`] and
    /// its like.
    pub(crate) fn frame(&mut self) -> Result<Frame<'_>> {
        self.ensure(HEADER_BYTES)?;
        let header = self.buffer[self.start..]
            .first_chunk()
            .expect("just ensured");
        let header = Header::parse(header)?;
        if header.is_data() {
            self.start += HEADER_BYTES;
            return Ok(Frame::parse(&header, &[])?);
        }
        let len = HEADER_BYTES + header.len as usize;
        let sealed = len + if self.seal.is_some() { SEAL_BYTES } else { 0 };
        self.ensure(sealed)?;
        let bytes = &self.buffer[self.start..][..sealed];
        self.start += sealed;
        let (frame, found) = bytes.split_at(len);
        if let Some(seal) = &mut self.seal
            && !seal.is_right(frame, found)
        {
            return Err(Malformed::Seal.into());
        }
        Ok(Frame::parse(&header, &frame[HEADER_BYTES..])?)
    }

    /// Makes sure that so many bytes are in the buffer.
    fn ensure(&mut self, len: usize) -> Result<()> {
        while self.end - self.start < len {
            self.read_ahead()?;
        }
        Ok(())
    }

    fn read_ahead(&mut self) -> Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let (mut socket, space) = (&self.socket, &mut self.buffer[self.end..]);
        let count = self.patience.until_done(|| socket.read(space))?;
        self.end += self.received(count)?;
        Ok(())
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

    /// Fills `out` with the data that come next.
    pub(crate) fn fill_data(&mut self, out: &mut [u8]) -> Result<()> {
        let mut filled = self.ahead_into(out);
        while filled < out.len() {
            let rest = &mut out[filled..];
            filled += self.receive(|socket| socket::receive_full(socket, rest))?;
        }
        Ok(())
    }

    /// Puts the data that come next at the start of `out`, whole pages of it as soon as they are worth
    /// a call; tells how many bytes.
    pub(crate) fn next_data(&mut self, out: &mut [u8]) -> Result<usize> {
        let filled = self.ahead_into(out);
        if filled == out.len() {
            return Ok(filled);
        }
        let count = self.receive(|socket| socket::receive_pages(socket, out, filled))?;
        Ok(filled + count)
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
