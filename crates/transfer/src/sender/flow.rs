//! A file while it is sent.

use crate::connection::Outlet;
use crate::error::Error;
use crate::protocol::{FOLLOWING, Header};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Zeros that replace bytes that were announced but no longer exist.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The reason why a file was not sent completely.
pub(super) enum Stopped {
    /// The file could not be read, or changed.
    Source(String),
    /// The receiver refused the rest.
    Refused,
    /// The connection failed.
    Lost(Error),
}

impl Stopped {
    /// The file ended before its announced size.
    pub(super) fn cut_short() -> Self {
        Self::Source("it became shorter while it was sent".into())
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Lost(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Source(error.to_string())
    }
}

impl From<platform::Error> for Stopped {
    fn from(error: platform::Error) -> Self {
        Self::Source(error.to_string())
    }
}

pub(super) type Outcome<T = ()> = Result<T, Stopped>;

/// A file while it is sent.
pub(super) struct Flow<'f> {
    pub(super) outlet: &'f mut Outlet,
    /// Offset of the next byte if none is skipped.
    pub(super) expected: u64,
    /// Returns true while the receiver still wants the file.
    pub(super) is_wanted: &'f dyn Fn() -> bool,
    pub(super) progress: &'f AtomicU64,
}

impl Flow<'_> {
    /// Accounts for `len` bytes at `offset`, immediately followed by `rest` more; returns their
    /// header.
    pub(super) fn begin(&mut self, offset: u64, len: usize, rest: u64) -> Outcome<Header> {
        if self.outlet.shall_stop() {
            return Err(Stopped::Lost(Error::Interrupted));
        }
        if !(self.is_wanted)() {
            return Err(Stopped::Refused);
        }
        self.expected = offset + len as u64;
        self.progress.fetch_add(len as u64, Ordering::Relaxed);
        Ok(Header::data(offset, len as u32, rest >= FOLLOWING as u64))
    }

    /// Sends bytes that `rest` more immediately follow. Sealing encrypts them in place.
    pub(super) fn send(&mut self, offset: u64, bytes: &mut [u8], rest: u64) -> Outcome {
        let header = self.begin(offset, bytes.len(), rest)?;
        Ok(self.outlet.data(header, bytes)?)
    }

    /// Like [`Flow::send`], but leaves the bytes unchanged.
    pub(super) fn send_of(&mut self, offset: u64, bytes: &[u8], rest: u64) -> Outcome {
        let header = self.begin(offset, bytes.len(), rest)?;
        Ok(self.outlet.data_of(header, bytes)?)
    }

    /// Sends zeros in place of bytes that were announced but no longer exist.
    pub(super) fn pad(&mut self, mut len: usize) -> Outcome {
        while len > 0 {
            let step = &ZEROS[..len.min(ZEROS.len())];
            len -= self
                .outlet
                .send(|mut socket| io::Write::write(&mut socket, step))?;
        }
        Ok(())
    }
}
