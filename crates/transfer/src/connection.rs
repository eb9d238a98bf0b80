//! The two directions of a connection: frames in and out, with patience for a slow peer that ends.

use crate::Limits;
use crate::error::{Error, Result};
use crate::protocol::{
    Frame, GREETING_BYTES, HEADER_BYTES, Header, LONGEST_BODY, Malformed, PROOF_BYTES, SEAL_BYTES,
};
use crate::token::Seal;
use platform::socket;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a call waits at most, so that a wish to stop is soon seen.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// A peer that gives or takes fewer bytes a second counts as silent.
const SLOWEST: u64 = 256;
/// What is read ahead of frames. Larger, it would copy more of the data that follows; smaller, it
/// would take more calls for many small files.
const READ_AHEAD: usize = 16 << 10;
/// `EFAULT`: memory that the system cannot read.
const LOST_PAGE: i32 = 14;
/// Frames and small data are gathered up to this size before they are sent.
const GATHERED: usize = 64 << 10;

/// Prepares a connection for both directions.
pub(crate) fn prepare(socket: &TcpStream) -> Result<()> {
    // It goes without, only not as fast.
    let _ = socket::unpace_if_local(socket);
    socket
        .set_nodelay(true)
        .and_then(|()| socket.set_read_timeout(Some(TICK)))
        .and_then(|()| socket.set_write_timeout(Some(TICK)))
        .map_err(Error::network)
}

/// Waits for a peer, but not forever.
struct Patience {
    limits: Limits,
    waited: Duration,
    bytes: u64,
}

impl Patience {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Bytes went through: enough of them, and the waiting begins anew.
    fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes >= SLOWEST.saturating_mul(self.limits.patience.as_secs().max(1)) {
            self.waited = Duration::ZERO;
            self.bytes = 0;
        }
    }

    fn shall_stop(&self) -> bool {
        self.limits.stop.load(Ordering::Acquire)
    }

    /// A call failed: whether to try again.
    fn bear(&mut self, error: io::Error) -> Result<()> {
        if self.shall_stop() {
            return Err(Error::Interrupted);
        }
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                self.waited += TICK;
                if self.waited >= self.limits.patience {
                    return Err(Error::Silent(self.limits.patience));
                }
                Ok(())
            }
            _ => Err(Error::network(error)),
        }
    }
}

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
        self.patience.limits.patience = patience;
        self.patience.waited = Duration::ZERO;
    }

    /// The other side's greeting, all of it before `deadline`. Bytes that do not begin like one are
    /// not waited for.
    pub(crate) fn greeting(&mut self, deadline: Instant) -> Result<[u8; GREETING_BYTES]> {
        let magic = crate::protocol::MAGIC;
        while self.end - self.start < GREETING_BYTES {
            let seen = &self.buffer[self.start..self.end];
            let common = seen.len().min(magic.len());
            if seen[..common] != magic[..common] {
                return Err(Malformed::Magic.into());
            }
            self.fill(deadline)?;
        }
        Ok(self.take())
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
            return Err(Error::Silent(self.patience.limits.patience));
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
    pub(crate) fn is_drained(&self) -> bool {
        self.start == self.end
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
        loop {
            match io::Read::read(&mut &self.socket, &mut self.buffer[self.end..]) {
                Ok(0) => return Err(Error::PeerGone),
                Ok(count) => {
                    self.patience.moved(count);
                    self.end += count;
                    return Ok(());
                }
                Err(error) => self.patience.bear(error)?,
            }
        }
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

    /// Fills `out` with the data that come next.
    pub(crate) fn fill_data(&mut self, out: &mut [u8]) -> Result<()> {
        let ahead = self.ahead(out.len());
        let mut filled = ahead.len();
        out[..filled].copy_from_slice(ahead);
        while filled < out.len() {
            let rest = &mut out[filled..];
            filled += self.receive(|socket| socket::receive_full(socket, rest))?;
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
        loop {
            match call(&self.socket) {
                Ok(done) => return Ok(done),
                Err(error) => self.patience.bear(error)?,
            }
        }
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

/// Asked after a failed call whether to try again.
pub(crate) type Retry<'r> = &'r mut dyn FnMut(io::Error) -> io::Result<()>;

/// What goes out.
pub(crate) struct Outlet {
    socket: TcpStream,
    patience: Patience,
    seal: Option<Seal>,
    gathered: Vec<u8>,
}

impl Outlet {
    pub(crate) fn new(socket: TcpStream, limits: Limits) -> Self {
        Self {
            socket,
            patience: Patience::new(limits),
            seal: None,
            gathered: Vec::with_capacity(GATHERED),
        }
    }

    /// From now on every frame bears a seal.
    pub(crate) fn seal(&mut self, seal: Option<Seal>) {
        self.seal = seal;
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Whether someone asked to stop; a call that never waits does not ask by itself.
    pub(crate) fn shall_stop(&self) -> bool {
        self.patience.shall_stop()
    }

    /// Says a frame, soon: it is gathered with what follows.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        let start = self.gathered.len();
        frame.encode(&mut self.gathered);
        if let Some(seal) = &mut self.seal
            && !matches!(frame, Frame::Data { .. })
        {
            let seal = seal.make(&self.gathered[start..]);
            self.gathered.extend(seal);
        }
        if self.gathered.len() >= GATHERED {
            self.flush()?;
        }
        Ok(())
    }

    /// Sends bytes, soon if they are few.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.gathered.len() + bytes.len() < GATHERED {
            self.gathered.extend(bytes);
            return Ok(());
        }
        self.flush_for_more()?;
        self.write(bytes, |mut socket, bytes| match socket.write(bytes) {
            Err(error) if error.raw_os_error() == Some(LOST_PAGE) => {
                // Of a mapped file that was cut short; its owner will find out. Touched, it becomes
                // zeros, which can be sent.
                std::hint::black_box(bytes.iter().fold(0, |sum, byte| sum ^ byte));
                Err(io::ErrorKind::Interrupted.into())
            }
            written => written,
        })
    }

    /// Sends what was gathered, now.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.write_gathered(|mut socket, bytes| socket.write(bytes))
    }

    /// Sends what was gathered together with what follows past it.
    pub(crate) fn flush_for_more(&mut self) -> Result<()> {
        self.write_gathered(socket::send_more)
    }

    fn write_gathered(
        &mut self,
        call: impl FnMut(&TcpStream, &[u8]) -> io::Result<usize>,
    ) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        let written = self.write(&gathered, call);
        self.gathered = gathered;
        self.gathered.clear();
        written
    }

    fn write(
        &mut self,
        mut bytes: &[u8],
        mut call: impl FnMut(&TcpStream, &[u8]) -> io::Result<usize>,
    ) -> Result<()> {
        while !bytes.is_empty() {
            let count = self.send(|socket| call(socket, bytes))?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Sends past what was gathered, which must be flushed, by `call`; tells how many bytes went.
    pub(crate) fn send(
        &mut self,
        call: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Result<usize> {
        let count = self.patiently(call)?;
        self.sent(count);
        Ok(count)
    }

    /// Makes a call until it succeeds or there is no more reason to try.
    pub(crate) fn patiently<T>(
        &mut self,
        mut call: impl FnMut(&TcpStream) -> io::Result<T>,
    ) -> Result<T> {
        loop {
            match call(&self.socket) {
                Ok(done) => return Ok(done),
                Err(error) => self.patience.bear(error)?,
            }
        }
    }

    /// Takes note of what a call sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.patience.moved(count);
    }

    /// As [`Outlet::send`], for calls that try again by themselves when they are told to.
    pub(crate) fn send_retrying(
        &mut self,
        call: impl FnOnce(&TcpStream, Retry<'_>) -> io::Result<usize>,
    ) -> Result<usize> {
        let Self {
            socket, patience, ..
        } = self;
        let mut given_up = None;
        let mut retry = |error| {
            patience.bear(error).map_err(|error| {
                given_up = Some(error);
                io::ErrorKind::Other.into()
            })
        };
        match call(socket, &mut retry) {
            Ok(count) => {
                self.patience.moved(count);
                Ok(count)
            }
            Err(error) => Err(given_up.unwrap_or_else(|| Error::network(error))),
        }
    }

    /// Tells the other side that nothing more comes.
    pub(crate) fn close(&self) {
        // A connection that is gone already is as closed as can be.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}
