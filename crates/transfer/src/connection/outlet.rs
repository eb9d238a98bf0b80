//! What goes out over a connection.

use super::patience::{Patience, Retry};
use crate::Limits;
use crate::error::Result;
use crate::protocol::Frame;
use crate::token::Seal;
use platform::socket;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

/// `EFAULT`: memory that the system cannot read.
const LOST_PAGE: i32 = 14;
/// Frames and small data are gathered up to this size before they are sent.
const GATHERED: usize = 64 << 10;

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

    /// How many bytes are gathered and not sent.
    pub(crate) fn gathered(&self) -> usize {
        self.gathered.len()
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
