//! The sending direction of a connection.

use super::patience::{Patience, Retry};
use crate::Limits;
use crate::cover::{Check, Cover, Guard, Keys};
use crate::error::Result;
use crate::protocol::{Frame, GREETING_BYTES, HEAD_BYTES, HEADER_BYTES, Header};
use platform::socket;
use std::io::{self, IoSlice};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// `EFAULT`: memory that the system cannot read.
const LOST_PAGE: i32 = 14;
/// Frames and small data are gathered up to this size before they are sent.
const GATHERED: usize = 64 << 10;
/// Larger data is sent from its own memory, without a copy.
const LARGEST_GATHERED: usize = 32 << 10;

/// The sending direction of a connection.
pub(crate) struct Outlet {
    socket: TcpStream,
    patience: Patience,
    guard: Guard,
    gathered: Vec<u8>,
    /// Buffer for encoding frames and for sealing data that must not be changed in place.
    scratch: Vec<u8>,
}

impl Outlet {
    pub(crate) fn new(socket: TcpStream, limits: Limits) -> Self {
        Self {
            socket,
            patience: Patience::new(limits),
            guard: Guard::new(None, &[0; GREETING_BYTES], Cover::Summed),
            gathered: Vec::with_capacity(GATHERED),
            scratch: Vec::new(),
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

    /// Sets the time by which everything must be sent, if any.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.patience.set_deadline(deadline);
    }

    /// Protection of file contents.
    pub(crate) fn contents(&self) -> Cover {
        self.guard.contents()
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// True if the program was asked to stop. A call that never waits does not check this itself.
    pub(crate) fn shall_stop(&self) -> bool {
        self.patience.shall_stop()
    }

    /// Queues the first words, which precede all frames.
    pub(crate) fn words(&mut self, bytes: &[u8]) {
        self.gathered.extend(bytes);
    }

    /// Queues a frame other than data. It is sent together with what follows.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        self.scratch.clear();
        frame.encode(&mut self.scratch);
        let (header, body) = self
            .scratch
            .split_first_chunk_mut::<HEADER_BYTES>()
            .expect("each frame has a header");
        self.gathered.extend(&*header);
        self.gathered.extend(self.guard.begin(header));
        if !body.is_empty() {
            let check = self.guard.seal(body);
            self.gathered.extend(&*body);
            self.gathered.extend(check);
        }
        if self.gathered.len() >= GATHERED {
            self.flush()?;
        }
        Ok(())
    }

    /// The header and check of the next frame of data.
    pub(crate) fn head(&mut self, header: Header) -> [u8; HEAD_BYTES] {
        let header = header.encode();
        let mut head = [0; HEAD_BYTES];
        head[..HEADER_BYTES].copy_from_slice(&header);
        head[HEADER_BYTES..].copy_from_slice(&self.guard.begin(&header));
        head
    }

    /// Seals the data of the frame whose header [`Outlet::head`] has just made, if contents are
    /// sealed; returns their check, if they have one.
    pub(crate) fn seal_data(&mut self, data: &mut [u8]) -> Option<Check> {
        self.guard.seal_data(data)
    }

    /// Sends a frame of data; a small one is only queued. Sealing encrypts `data` in place.
    pub(crate) fn data(&mut self, header: Header, data: &mut [u8]) -> Result<()> {
        let head = self.head(header);
        self.gathered.extend(head);
        let check = self.guard.seal_data(data);
        self.send_data(data, check)
    }

    /// Like [`Outlet::data`], but leaves the data unchanged.
    pub(crate) fn data_of(&mut self, header: Header, data: &[u8]) -> Result<()> {
        let head = self.head(header);
        self.gathered.extend(head);
        if self.contents() != Cover::Sealed {
            let check = self.guard.sum_data(data);
            return self.send_data(data, check);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(data);
        let check = self.guard.seal_data(&mut scratch);
        let sent = self.send_data(&scratch, check);
        self.scratch = scratch;
        sent
    }

    /// Flushes what is gathered and sends the header of a frame whose data the caller sends
    /// directly.
    pub(crate) fn begin_data(&mut self, header: Header) -> Result<()> {
        let head = self.head(header);
        self.gathered.extend(head);
        self.flush_for_more()
    }

    /// Ends a frame whose `data` the caller has sent directly.
    pub(crate) fn end_data(&mut self, data: &[u8]) {
        if let Some(check) = self.guard.sum_data(data) {
            self.gathered.extend(check);
        }
    }

    fn send_data(&mut self, data: &[u8], check: Option<Check>) -> Result<()> {
        let check = check.as_ref().map_or(&[][..], |check| check);
        if data.len() <= LARGEST_GATHERED {
            self.gathered.extend(data);
            self.gathered.extend(check);
            if self.gathered.len() >= GATHERED {
                self.flush()?;
            }
            return Ok(());
        }
        self.send_gathered(data, check, false)
    }

    /// Number of bytes gathered but not yet sent.
    pub(crate) fn gathered(&self) -> usize {
        self.gathered.len()
    }

    /// Sends everything gathered so far.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.send_gathered(&[], &[], false)
    }

    /// Sends everything gathered so far, marked so that it shares packets with the data that the
    /// caller sends next.
    pub(crate) fn flush_for_more(&mut self) -> Result<()> {
        self.send_gathered(&[], &[], true)
    }

    /// Sends what is gathered, then `data`, then `check`, in as few calls as possible.
    fn send_gathered(&mut self, data: &[u8], check: &[u8], more: bool) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        let mut parts = [&gathered[..], data, check].map(IoSlice::new);
        let mut parts = &mut parts[..];
        IoSlice::advance_slices(&mut parts, 0);
        let mut sent = Ok(());
        while !parts.is_empty() {
            match self.send(|socket| send_parts(socket, parts, data, more)) {
                Ok(count) => IoSlice::advance_slices(&mut parts, count),
                Err(error) => {
                    sent = Err(error);
                    break;
                }
            }
        }
        self.gathered = gathered;
        self.gathered.clear();
        sent
    }

    /// Sends directly with `call`; everything gathered must be flushed. Returns the number of bytes
    /// sent.
    pub(crate) fn send(
        &mut self,
        call: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Result<usize> {
        let count = self.patiently(call)?;
        self.sent(count);
        Ok(count)
    }

    /// Repeats a call until it succeeds or must be given up.
    pub(crate) fn patiently<T>(
        &mut self,
        mut call: impl FnMut(&TcpStream) -> io::Result<T>,
    ) -> Result<T> {
        self.patience.until_done(|| call(&self.socket))
    }

    /// Accounts for the bytes that a call sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.patience.moved(count);
    }

    /// Like [`Outlet::send`], for calls that retry by themselves and ask whether they should.
    pub(crate) fn send_retrying(
        &mut self,
        call: impl FnOnce(&TcpStream, Retry<'_>) -> io::Result<usize>,
    ) -> Result<usize> {
        let (socket, patience) = (&self.socket, &mut self.patience);
        let count = patience.retrying(|retry| call(socket, retry))?;
        self.sent(count);
        Ok(count)
    }

    /// Tells the peer that nothing more follows.
    pub(crate) fn close(&self) {
        // Closing a lost connection fails, and that does no harm.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

/// One `sendmsg`. `data` may be part of a mapped file that was truncated meanwhile. Reading it
/// here, under the platform's protection, turns the lost pages into zeros, which can be sent; the
/// caller then notices the truncation.
fn send_parts(
    socket: &TcpStream,
    parts: &[IoSlice<'_>],
    data: &[u8],
    more: bool,
) -> io::Result<usize> {
    match socket::send_parts(socket, parts, more) {
        Err(error) if error.raw_os_error() == Some(LOST_PAGE) => {
            std::hint::black_box(data.iter().fold(0, |sum, byte| sum ^ byte));
            Err(io::ErrorKind::Interrupted.into())
        }
        sent => sent,
    }
}
