//! The receiving direction of a connection.

use super::patience::{Life, Patience};
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
use std::sync::Arc;

/// Bytes to read ahead of frames: enough for some dozens of small files in one call.
const READ_AHEAD: usize = 64 << 10;

/// The receiving direction of a connection.
pub(crate) struct Inlet {
    socket: TcpStream,
    pub(crate) patience: Patience,
    guard: Guard,
    /// Received bytes. Those before `start` are consumed.
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// True if another frame of data immediately follows the current one.
    more: bool,
    /// Number of available bytes at which the kernel wakes this thread (`SO_RCVLOWAT`).
    wakes_at: usize,
}

impl Inlet {
    pub(super) fn new(socket: TcpStream, limits: Limits, life: Arc<Life>) -> Self {
        const { assert!(READ_AHEAD >= HEAD_BYTES + LONGEST_BODY + CHECK_BYTES) }
        Self {
            socket,
            patience: Patience::of_listener(limits, life),
            guard: Guard::new(None, &[0; GREETING_BYTES], Cover::Summed),
            buffer: vec![0; READ_AHEAD].into(),
            start: 0,
            end: 0,
            more: false,
            wakes_at: 1,
        }
    }

    /// Protects all further frames in this way. The frames are bound to this greeting.
    pub(crate) fn guard(
        &mut self,
        keys: Option<Keys>,
        greeting: &[u8; GREETING_BYTES],
        contents: Cover,
    ) {
        self.guard = Guard::new(keys, greeting, contents);
    }

    /// Protection of file contents.
    pub(crate) fn contents(&self) -> Cover {
        self.guard.contents
    }

    /// The next `N` bytes of the peer's first words. Fails at once if they do not begin with the
    /// protocol's magic.
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

    /// The next `N` bytes, unchecked.
    pub(crate) fn words<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.ensure(N)?;
        let taken = self.buffer[self.start..].first_chunk();
        self.start += N;
        Ok(*taken.expect("just ensured"))
    }

    /// The peer's bytes available now, as text for a log.
    pub(crate) fn glimpse(&self) -> String {
        let seen = &self.buffer[self.start..self.end.min(self.start + 32)];
        seen.escape_ascii().to_string()
    }

    /// True if every received byte is consumed, so that [`Inlet::frame`] would block.
    pub(crate) fn would_wait(&self) -> bool {
        // A closed connection reports no pending bytes; the next read detects it.
        self.start == self.end && socket::pending_bytes(&self.socket).unwrap_or(0) == 0
    }

    /// The next frame. A frame of data returns only its header: [`Inlet::data`] and similar read its
    /// body.
    pub(crate) fn frame(&mut self) -> Result<Frame> {
        let header = self.header()?;
        if header.is_data {
            if self.contents() != Cover::Bare && header.len > LONGEST_DATA {
                return Err(Malformed::Length(header.len).into());
            }
            self.more = header.more;
            return Ok(Frame::parse(&header, &[])?);
        }
        let len = header.len as usize;
        self.ensure(len + CHECK_BYTES)?;
        let start = self.start;
        self.start += len + CHECK_BYTES;
        let (body, check) = self.buffer[start..self.start].split_at_mut(len);
        let check: &Check = (&*check).try_into().expect("a body ends with a check");
        self.guard.open(body, check)?;
        let frame = Frame::parse(&header, body)?;
        if frame == Frame::Working {
            self.patience.hear();
        }
        Ok(frame)
    }

    /// The next header, verified.
    fn header(&mut self) -> Result<Header> {
        self.ensure(HEAD_BYTES)?;
        let (header, check) = self.buffer[self.start..][..HEAD_BYTES].split_at(HEADER_BYTES);
        let header: &[u8; HEADER_BYTES] = header.try_into().expect("the header was split off");
        let check = check.try_into().expect("the rest of a head is a check");
        // The check comes before any use of the header, above all of its length.
        self.guard.meet(header, check)?;
        self.start += HEAD_BYTES;
        Ok(Header::parse(header)?)
    }

    /// Blocks until the buffer holds at least `len` bytes.
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

    /// Sets the number of bytes that wakes this thread. A wake-up per packet costs the sender more
    /// than the packets do.
    fn wake_at(&mut self, bytes: usize) -> Result<()> {
        if bytes != self.wakes_at {
            socket::wake_at(&self.socket, bytes).map_err(Error::network)?;
            self.wakes_at = bytes;
        }
        Ok(())
    }

    /// Sets the wake-up size before a call that receives data. Waiting for [`FOLLOWING`] bytes is
    /// safe only if the sender announced that more data follows.
    pub(crate) fn expect_data(&mut self, len: usize) -> Result<()> {
        self.wake_at(if self.more && len >= FOLLOWING {
            FOLLOWING
        } else {
            1
        })
    }

    /// Up to `most` bytes of data that were read ahead; empty if there are none.
    pub(crate) fn ahead(&mut self, most: usize) -> &[u8] {
        let count = most.min(self.end - self.start);
        self.start += count;
        &self.buffer[self.start - count..self.start]
    }

    /// Copies data that was read ahead to the start of `out`; returns the number of bytes.
    pub(crate) fn ahead_into(&mut self, out: &mut [u8]) -> usize {
        let ahead = self.ahead(out.len());
        out[..ahead.len()].copy_from_slice(ahead);
        ahead.len()
    }

    /// Fills `out` with the data of the frame, decrypted. The same call reads their check and, if
    /// another frame immediately follows, its header. Returns true if the checksum is right; a
    /// wrong seal is an error.
    pub(crate) fn data(&mut self, out: &mut [u8]) -> Result<bool> {
        let behind = match self.contents() {
            Cover::Bare => 0,
            Cover::Summed | Cover::Sealed if self.more => CHECK_BYTES + HEAD_BYTES,
            Cover::Summed | Cover::Sealed => CHECK_BYTES,
        };
        self.fill(out, behind)?;
        self.check_data(out)
    }

    /// Fills `out` with data, unchecked, and reads up to `behind` bytes that follow.
    fn fill(&mut self, out: &mut [u8], behind: usize) -> Result<()> {
        let mut filled = self.ahead_into(out);
        if filled < out.len() {
            self.expect_data(out.len() - filled)?;
            (self.start, self.end) = (0, 0);
        }
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
        Ok(())
    }

    /// Verifies the data of the frame, all of which has arrived, and decrypts it if it is sealed.
    /// Returns true if the checksum is right; a wrong seal is an error.
    pub(crate) fn check_data(&mut self, data: &mut [u8]) -> Result<bool> {
        if self.contents() == Cover::Bare {
            return Ok(true);
        }
        let check = self.words()?;
        match self.guard.open_data(data, &check) {
            Ok(()) => Ok(true),
            // Without an attacker in the model, a wrong checksum spoils this file but not the
            // connection.
            Err(Malformed::Check) if self.contents() == Cover::Summed => Ok(false),
            Err(wrong) => Err(wrong.into()),
        }
    }

    /// Reads the remaining `len` bytes of the frame's data through `buffer` and discards them.
    pub(crate) fn skip_data(&mut self, mut len: usize, buffer: &mut [u8]) -> Result<()> {
        while len > 0 {
            let step = len.min(buffer.len());
            self.fill(&mut buffer[..step], 0)?;
            len -= step;
        }
        if self.contents() != Cover::Bare {
            self.words::<CHECK_BYTES>()?;
        }
        Ok(())
    }

    /// Receives data directly with `call`, bypassing the buffer, which must be empty; returns the
    /// number of bytes.
    pub(crate) fn receive(
        &mut self,
        call: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Result<usize> {
        let count = self.patiently(call)?;
        self.received(count)
    }

    /// Repeats a call until it succeeds or must be given up.
    pub(crate) fn patiently<T>(
        &mut self,
        mut call: impl FnMut(&TcpStream) -> io::Result<T>,
    ) -> Result<T> {
        self.patience.until_done(|| call(&self.socket))
    }

    /// Accounts for the bytes that a call received.
    pub(crate) fn received(&mut self, count: usize) -> Result<usize> {
        if count == 0 {
            return Err(Error::PeerGone);
        }
        self.patience.came(count);
        Ok(count)
    }
}
