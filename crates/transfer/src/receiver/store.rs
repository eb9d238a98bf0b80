//! Moves bytes from a connection into a file by the chosen method.

use super::failure::Failure;
use super::method::{Arrival, mapped, splice, uring, write};
use crate::buffer;
use crate::connection::Inlet;
use crate::error::Result;
use crate::method::ReceiveMethod;
use platform::memory::Mapping;
use platform::socket::Conduit;

/// Writing so few bytes directly is faster than through a ring.
const SMALL: usize = 32 << 10;

/// Resources of the methods, reused for all files.
pub(super) struct Store {
    method: ReceiveMethod,
    buffer: Mapping,
    conduit: Option<Conduit>,
    ring: Option<uring::Ring>,
}

impl Store {
    pub(super) fn new(method: ReceiveMethod) -> Result<Self> {
        Ok(Self {
            method,
            buffer: buffer::block()?,
            conduit: None,
            ring: None,
        })
    }

    /// Sets the method for further data.
    pub(super) fn use_method(&mut self, method: ReceiveMethod) {
        self.method = method;
    }

    pub(super) fn method(&self) -> ReceiveMethod {
        self.method
    }

    /// Receives the next data and stores it in its target, or starts to: [`Store::settle`] waits
    /// for the end. Returns true if the checksum is right.
    pub(super) fn take(&mut self, mut arrival: Arrival<'_>) -> Result<bool> {
        let (target, offset, len) = (arrival.target, arrival.offset, arrival.len);
        let buffer = self.buffer.as_mut_slice();
        let is_settled = self.ring.as_ref().is_none_or(uring::Ring::is_settled);
        let is_right = match (self.method, target.file()) {
            (ReceiveMethod::Uring, Some(_)) if len >= SMALL || !is_settled => {
                let ring = match &mut self.ring {
                    Some(ring) => ring,
                    none => none.insert(uring::Ring::new()?),
                };
                // The ring itself reports completed writes to the target.
                return ring.take(buffer, &mut arrival);
            }
            (ReceiveMethod::Mmap, Some(file)) if len > 0 => {
                mapped::take(buffer, &mut arrival, file)?
            }
            (ReceiveMethod::Splice, Some(file)) => {
                splice::take(&mut self.conduit, buffer, &mut arrival, file)?
            }
            _ => write::take(buffer, &mut arrival)?,
        };
        if is_right && target.failure().is_none() {
            target.wrote(offset, len as u64);
        }
        Ok(is_right)
    }

    /// Receives `len` bytes of data and discards them.
    pub(super) fn drain(&mut self, inlet: &mut Inlet, len: usize) -> Result<()> {
        write::drain(self.buffer.as_mut_slice(), inlet, len).map(drop)
    }

    /// Waits until all received data is in its file; returns the reason if that failed.
    pub(super) fn settle(&mut self) -> Result<Option<Failure>> {
        self.ring.as_mut().map_or(Ok(None), uring::Ring::settle)
    }
}
