//! Moving bytes from a connection into a file, in each of the methods.

use super::method::{Arrival, mapped, splice, uring, write};
use super::place::Failure;
use crate::buffer;
use crate::connection::Inlet;
use crate::error::Result;
use crate::method::ReceiveMethod;
use platform::memory::Mapping;
use platform::socket::Conduit;

/// So few bytes alone are written sooner than a ring is told to.
const SMALL: usize = 32 << 10;

/// What a method needs to have at hand, kept from file to file.
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

    /// From now on bytes are moved by this method.
    pub(super) fn use_method(&mut self, method: ReceiveMethod) {
        self.method = method;
    }

    /// How bytes get into their file.
    pub(super) fn method(&self) -> ReceiveMethod {
        self.method
    }

    /// Takes what comes next and puts it into its target, or begins to: [`Store::settle`] waits for the
    /// end. Whether its sum is right.
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
                // It tells the target itself what was written.
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

    /// Takes `len` bytes of data that nobody wants.
    pub(super) fn drain(&mut self, inlet: &mut Inlet, len: usize) -> Result<()> {
        write::drain(self.buffer.as_mut_slice(), inlet, len).map(drop)
    }

    /// Waits until everything that was taken is in its file; why it is not, if it is not.
    pub(super) fn settle(&mut self) -> Result<Option<Failure>> {
        self.ring.as_mut().map_or(Ok(None), uring::Ring::settle)
    }
}
