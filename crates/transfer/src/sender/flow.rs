//! A file on its way to the receiver.

use crate::connection::Outlet;
use crate::error::Error;
use crate::protocol::{FOLLOWING, Header};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Zeros that take the place of bytes that were promised and are gone.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Why a file was not sent to its end.
pub(super) enum Stopped {
    /// It could not be read, or changed.
    Source(String),
    /// The receiver does not want the rest.
    Refused,
    /// The connection is of no more use.
    Lost(Error),
}

impl Stopped {
    /// The file ended where more of it was to come.
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

/// A file on its way.
pub(super) struct Flow<'f> {
    pub(super) outlet: &'f mut Outlet,
    /// Where the next byte goes if nothing is left out.
    pub(super) expected: u64,
    /// Whether the receiver still wants it.
    pub(super) is_wanted: &'f dyn Fn() -> bool,
    pub(super) progress: &'f AtomicU64,
}

impl Flow<'_> {
    /// Takes note that `len` bytes for `offset` follow, and behind them at once `rest` more; the header
    /// that says so.
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

    /// Sends bytes, behind which `rest` more follow at once. They may be sealed where they are.
    pub(super) fn send(&mut self, offset: u64, bytes: &mut [u8], rest: u64) -> Outcome {
        let header = self.begin(offset, bytes.len(), rest)?;
        Ok(self.outlet.data(header, bytes)?)
    }

    /// As [`Flow::send`], for bytes that are not changed.
    pub(super) fn send_of(&mut self, offset: u64, bytes: &[u8], rest: u64) -> Outcome {
        let header = self.begin(offset, bytes.len(), rest)?;
        Ok(self.outlet.data_of(header, bytes)?)
    }

    /// Makes up for bytes that were promised and are gone.
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
