//! Moves bytes from a connection into a file by the chosen method.

use super::failure::Failure;
use super::method::{Arrival, mapped, splice, uring, write};
use super::trial::Trial;
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
    /// Finds the method, unless it is given.
    trial: Option<Trial>,
    buffer: Mapping,
    conduit: Option<Conduit>,
    ring: Option<uring::Ring>,
}

impl Store {
    pub(super) fn new(method: ReceiveMethod) -> Result<Self> {
        Ok(Self {
            method,
            trial: None,
            buffer: buffer::block()?,
            conduit: None,
            ring: None,
        })
    }

    /// Tries the ring with the first blocks, and uses it if that is faster.
    pub(super) fn try_ring(&mut self) {
        self.trial = Some(Trial::new(self.method, ReceiveMethod::Uring));
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
    pub(super) fn take(&mut self, arrival: Arrival<'_>) -> Result<bool> {
        let len = arrival.len;
        let is_tried = len >= SMALL && arrival.target.file().is_some();
        let Some(trial) = self.trial.as_mut().filter(|_| is_tried) else {
            return self.take_by(self.method, arrival);
        };
        let method = trial.method();
        if method == ReceiveMethod::Uring && method.check().is_err() {
            self.trial = None;
            return self.take_by(self.method, arrival);
        }
        let is_right = self.take_by(method, arrival)?;
        if self
            .trial
            .as_mut()
            .is_some_and(|trial| trial.took(len as u64))
        {
            // A write that failed has spoiled its file, which reports it.
            let _ = self.settle_ring()?;
            if let Some(faster) = self.trial.as_mut().and_then(Trial::end_turn) {
                self.method = faster;
                self.trial = None;
            }
        }
        Ok(is_right)
    }

    fn take_by(&mut self, method: ReceiveMethod, mut arrival: Arrival<'_>) -> Result<bool> {
        let (target, offset, len) = (arrival.target, arrival.offset, arrival.len);
        let buffer = self.buffer.as_mut_slice();
        let is_settled = self.ring.as_ref().is_none_or(uring::Ring::is_settled);
        let is_right = match (method, target.file()) {
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
        if let Some(trial) = &mut self.trial {
            trial.drop_turn();
        }
        self.settle_ring()
    }

    fn settle_ring(&mut self) -> Result<Option<Failure>> {
        self.ring.as_mut().map_or(Ok(None), uring::Ring::settle)
    }
}
