//! What goes out over a connection.

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
/// Larger data are sent from where they are.
const LARGEST_GATHERED: usize = 32 << 10;

/// What goes out.
pub(crate) struct Outlet {
    socket: TcpStream,
    patience: Patience,
    guard: Guard,
    gathered: Vec<u8>,
    /// Where frames are made, and data are sealed that must not be changed where they are.
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

    /// From now on frames are protected so, after this greeting.
    pub(crate) fn guard(
        &mut self,
        keys: Option<Keys>,
        greeting: &[u8; GREETING_BYTES],
        contents: Cover,
    ) {
        self.guard = Guard::new(keys, greeting, contents);
    }

    /// From now on everything has to go before `deadline`, if there is one.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.patience.set_deadline(deadline);
    }

    /// What protects the contents of files.
    pub(crate) fn contents(&self) -> Cover {
        self.guard.contents()
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Whether someone asked to stop; a call that never waits does not ask by itself.
    pub(crate) fn shall_stop(&self) -> bool {
        self.patience.shall_stop()
    }

    /// Says the first words, before there are frames.
    pub(crate) fn words(&mut self, bytes: &[u8]) {
        self.gathered.extend(bytes);
    }

    /// Says a frame that is no data, soon: it is gathered with what follows.
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

    /// The head of the next frame of data.
    pub(crate) fn head(&mut self, header: Header) -> [u8; HEAD_BYTES] {
        let header = header.encode();
        let mut head = [0; HEAD_BYTES];
        head[..HEADER_BYTES].copy_from_slice(&header);
        head[HEADER_BYTES..].copy_from_slice(&self.guard.begin(&header));
        head
    }

    /// Seals the data of the frame that has just got its head where that is to be done; their check, if
    /// they have one.
    pub(crate) fn seal_data(&mut self, data: &mut [u8]) -> Option<Check> {
        self.guard.seal_data(data)
    }

    /// Says a frame of data, soon if they are few. Sealed, they are changed where they are.
    pub(crate) fn data(&mut self, header: Header, data: &mut [u8]) -> Result<()> {
        let head = self.head(header);
        self.gathered.extend(head);
        let check = self.guard.seal_data(data);
        self.send_data(data, check)
    }

    /// As [`Outlet::data`], for data that stay as they are.
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

    /// Begins a frame of data that others send past what was gathered, which is flushed.
    pub(crate) fn begin_data(&mut self, header: Header) -> Result<()> {
        let head = self.head(header);
        self.gathered.extend(head);
        self.flush_for_more()
    }

    /// Ends a frame of data that others sent: `data` is what they were.
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

    /// How many bytes are gathered and not sent.
    pub(crate) fn gathered(&self) -> usize {
        self.gathered.len()
    }

    /// Sends what was gathered, now.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.send_gathered(&[], &[], false)
    }

    /// Sends what was gathered together with what follows past it.
    pub(crate) fn flush_for_more(&mut self) -> Result<()> {
        self.send_gathered(&[], &[], true)
    }

    /// Sends what was gathered, then `data`, then `check`, in as few calls as there can be.
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
        self.patience.until_done(|| call(&self.socket))
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
        let (socket, patience) = (&self.socket, &mut self.patience);
        let count = patience.retrying(|retry| call(socket, retry))?;
        self.sent(count);
        Ok(count)
    }

    /// Tells the other side that nothing more comes.
    pub(crate) fn close(&self) {
        // A connection that is gone already is as closed as can be.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

/// One call. `data` may be of a mapped file that was cut short, which its owner will find out: touched,
/// what is gone becomes zeros, which can be sent.
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
