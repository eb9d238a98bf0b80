//! Moving bytes from a connection into a file, in each of the methods.

use super::ring::Ring;
use super::target::Target;
use crate::buffer::{self, BLOCK};
use crate::connection::Inlet;
use crate::digest::Digest;
use crate::error::Result;
use crate::method::ReceiveMethod;
use platform::block_io::read_at;
use platform::file::{Access, LockedFile};
use platform::memory::{FileMapping, Mapping};
use platform::socket::{Conduit, receive_full};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// So few bytes alone are written sooner than a ring is told to.
const SMALL: usize = 32 << 10;
/// Mappings begin at multiples of this, which is one of every page size.
const MAP_UNIT: u64 = 1 << 16;

/// What became of bytes at their target; the connection is no part of it.
pub(super) type Stored = std::result::Result<(), String>;

/// Data that come next over a connection, and where they go.
pub(super) struct Arrival<'a> {
    pub(super) inlet: &'a mut Inlet,
    /// Of what came before.
    pub(super) digest: &'a mut Digest,
    pub(super) target: &'a Arc<Target>,
    /// Where the first byte goes in the file.
    pub(super) offset: u64,
    /// How many bytes they are.
    pub(super) len: usize,
}

/// What a method needs to have at hand, kept from file to file.
pub(super) struct Store {
    method: ReceiveMethod,
    buffer: Mapping,
    conduit: Option<Conduit>,
    ring: Option<Ring>,
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
    /// end. Whatever becomes of it there, it is taken.
    pub(super) fn take(&mut self, mut arrival: Arrival<'_>) -> Result<Stored> {
        let Arrival {
            target,
            offset,
            len,
            ..
        } = arrival;
        let (taken, stored) = match (self.method, target.file()) {
            (ReceiveMethod::Uring, Some(_)) if len >= SMALL || !self.is_settled() => {
                let ring = match &mut self.ring {
                    Some(ring) => ring,
                    none => none.insert(Ring::new()?),
                };
                let (taken, stored) = ring.take(&mut arrival)?;
                self.drain(arrival.inlet, len - taken)?;
                // It tells the target itself what was written.
                return Ok(stored);
            }
            (ReceiveMethod::Mmap, Some(file)) if len > 0 => mapped(&mut arrival, file)?,
            (ReceiveMethod::Splice, Some(file)) => self.splice(&mut arrival, file)?,
            _ => self.write(&mut arrival)?,
        };
        if stored.is_ok() {
            target.wrote(offset, len as u64);
        } else {
            self.drain(arrival.inlet, len - taken)?;
        }
        Ok(stored)
    }

    /// Whether everything that was taken is in its file.
    fn is_settled(&self) -> bool {
        self.ring.as_ref().is_none_or(Ring::is_settled)
    }

    /// Waits until everything that was taken is in its file.
    pub(super) fn settle(&mut self) -> Result<Stored> {
        self.ring.as_mut().map_or(Ok(Ok(())), Ring::settle)
    }

    /// Takes `len` bytes of data and throws them away.
    pub(super) fn drain(&mut self, inlet: &mut Inlet, mut len: usize) -> Result<()> {
        while len > 0 {
            let step = len.min(BLOCK);
            inlet.fill_data(&mut self.buffer.as_mut_slice()[..step])?;
            len -= step;
        }
        Ok(())
    }

    fn write(&mut self, arrival: &mut Arrival<'_>) -> Result<(usize, Stored)> {
        let mut taken = 0;
        while taken < arrival.len {
            let room = &mut self.buffer.as_mut_slice()[..(arrival.len - taken).min(BLOCK)];
            let count = arrival.inlet.next_data(room)?;
            let block = &room[..count];
            arrival.digest.update(block);
            let written = arrival.target.write(block, arrival.offset + taken as u64);
            taken += count;
            if let Err(error) = written {
                return Ok((taken, failed(&error)));
            }
        }
        Ok((taken, Ok(())))
    }

    fn splice(&mut self, arrival: &mut Arrival<'_>, file: &File) -> Result<(usize, Stored)> {
        let &mut Arrival {
            ref mut inlet,
            ref mut digest,
            target,
            offset,
            len,
        } = arrival;
        let conduit = match self.conduit.take() {
            Some(conduit) => Ok(conduit),
            None => Conduit::new(BLOCK),
        };
        let mut conduit = match conduit {
            Ok(conduit) => conduit,
            Err(error) => return Ok((0, failed(&error))),
        };
        let ahead = inlet.ahead(len);
        digest.update(ahead);
        let mut taken = ahead.len();
        if let Err(error) = target.write(ahead, offset) {
            return Ok((taken, failed(&error)));
        }
        while taken < len {
            let at = offset + taken as u64;
            let count = inlet.receive(|socket| conduit.take(socket, len - taken))?;
            taken += count;
            let mut stored = conduit.put(file, at, count);
            if stored.is_ok() && !matches!(digest, Digest::None) {
                stored = read_back(self.buffer.as_mut_slice(), digest, file, at, count);
            }
            if let Err(error) = stored {
                return Ok((taken, failed(&error)));
            }
        }
        self.conduit = Some(conduit);
        Ok((taken, Ok(())))
    }
}

/// Sums what was just put into a file.
fn read_back(
    buffer: &mut [u8],
    digest: &mut Digest,
    file: &File,
    offset: u64,
    len: usize,
) -> io::Result<()> {
    let mut read = 0;
    while read < len {
        let block = &mut buffer[..(len - read).min(BLOCK)];
        match read_at(file, block, offset + read as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                digest.update(&block[..count]);
                read += count;
            }
        }
    }
    Ok(())
}

/// Receives into the mapped file itself.
fn mapped(arrival: &mut Arrival<'_>, file: &File) -> Result<(usize, Stored)> {
    let &mut Arrival {
        ref mut inlet,
        ref mut digest,
        target,
        offset,
        len,
    } = arrival;
    let start = offset / MAP_UNIT * MAP_UNIT;
    let before = (offset - start) as usize;
    let map = || {
        target.grow(start, offset + len as u64)?;
        let file = file.try_clone().map_err(|error| error.to_string())?;
        LockedFile::lock(file, Access::Write).map_err(|error| error.to_string())
    };
    let mut locked = match map() {
        Ok(locked) => locked,
        Err(reason) => return Ok((0, Err(reason))),
    };
    let mut mapping = match FileMapping::new(&mut locked, start, before + len) {
        Ok(mapping) => mapping,
        Err(error) => return Ok((0, Err(error.to_string()))),
    };
    let Some(memory) = mapping.as_mut_slice() else {
        return Ok((0, Err("it may not be written to".into())));
    };
    let memory = &mut memory[before..];
    let mut taken = inlet.ahead_into(&mut memory[..len]);
    digest.update(&memory[..taken]);
    while taken < len {
        let end = len.min(taken + BLOCK);
        let block = &mut memory[taken..end];
        let count = inlet.receive(|socket| receive_full(socket, block))?;
        digest.update(&memory[taken..taken + count]);
        taken += count;
    }
    let whole = mapping.ensure_whole().map_err(|error| error.to_string());
    Ok((taken, whole))
}

fn failed(error: &io::Error) -> Stored {
    Err(error.to_string())
}
