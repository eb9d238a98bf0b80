//! The methods of storing a frame's data in a file.
//!
//! Every method consumes all data of the frame, even on failure. A file that cannot store it is
//! marked as spoiled, with the reason ([`Target::spoil`](super::target::Target::spoil)).

pub(super) mod uring;

use super::Failure;
use super::target::Target;
use crate::connection::Inlet;
use crate::cover::Cover;
use crate::error::Result;
use crate::method::{ReceiveMethod, block_memory};
use platform::block_io::read_exact_at;
use platform::file::{Access, LockedFile};
use platform::memory::{FileMapping, Mapping};
use platform::socket::Conduit;
use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

/// The data that arrives next over a connection, and its target.
pub(super) struct Arrival<'a> {
    pub(super) inlet: &'a mut Inlet,
    pub(super) target: &'a Arc<Target>,
    /// Offset of the first byte in the file.
    pub(super) offset: u64,
    /// Number of bytes.
    pub(super) len: usize,
}

impl Arrival<'_> {
    /// Marks the file as spoiled and discards the data behind the first `taken` bytes.
    fn give_up(
        &mut self,
        taken: usize,
        buffer: &mut [u8],
        reason: impl Into<Failure>,
    ) -> crate::Result<bool> {
        self.target.spoil(reason);
        self.inlet.skip_data(self.len - taken, buffer)?;
        Ok(true)
    }
}

/// Stores data through `buffer`; returns true if the checksum is right.
pub(super) fn take_written(buffer: &mut [u8], arrival: &mut Arrival<'_>) -> Result<bool> {
    let mut taken = 0;
    while taken < arrival.len {
        let len = (arrival.len - taken).min(buffer.len());
        let block = &mut buffer[..len];
        if !arrival.inlet.data(block)? {
            return Ok(false);
        }
        let written = arrival.target.write(block, arrival.offset + taken as u64);
        taken += len;
        if let Err(error) = written {
            arrival.target.spoil(error);
            // Data without a check may be longer than the buffer.
            return drain_written(buffer, arrival.inlet, arrival.len - taken);
        }
    }
    Ok(true)
}

/// Receives `len` bytes through `buffer` and discards them; returns true if the checksum is right.
pub(super) fn drain_written(buffer: &mut [u8], inlet: &mut Inlet, len: usize) -> Result<bool> {
    let mut is_right = true;
    let mut left = len;
    while left > 0 {
        let step = left.min(buffer.len());
        is_right &= inlet.data(&mut buffer[..step])?;
        left -= step;
    }
    Ok(is_right)
}

/// Mappings begin at multiples of this, a multiple of every page size.
const MAP_UNIT: u64 = 1 << 16;

/// Receives data directly into the mapped file; returns true if the checksum is right.
pub(super) fn take_mapped(
    buffer: &mut [u8],
    arrival: &mut Arrival<'_>,
    file: &File,
) -> Result<bool> {
    let (offset, len) = (arrival.offset, arrival.len);
    let start = offset / MAP_UNIT * MAP_UNIT;
    let before = (offset - start) as usize;
    let mut locked = match lock_grown(arrival, file, offset, offset + len as u64) {
        Ok(locked) => locked,
        Err(reason) => return arrival.give_up(0, buffer, reason),
    };
    let mut mapping = match FileMapping::new(&mut locked, start, before + len) {
        Ok(mapping) => mapping,
        Err(error) => return arrival.give_up(0, buffer, error),
    };
    let Some(memory) = mapping.as_mut_slice() else {
        return arrival.give_up(0, buffer, "it may not be written to");
    };
    let is_right = arrival.inlet.data(&mut memory[before..])?;
    if let Err(error) = mapping.ensure_whole() {
        arrival.target.spoil(error);
    }
    Ok(is_right)
}

/// Grows the file as needed, and locks it for the mapping.
fn lock_grown(
    arrival: &Arrival<'_>,
    file: &File,
    offset: u64,
    end: u64,
) -> std::result::Result<LockedFile, Failure> {
    arrival.target.grow(offset, end)?;
    let file = file.try_clone().map_err(Failure::from)?;
    LockedFile::lock_again(file, Access::Write).map_err(Failure::from)
}

/// Capacity of the pipe in bytes: the default limit for an unprivileged user.
const PIPE: usize = 1 << 20;

/// Moves data without copying it into this process; returns true if the checksum is right. To
/// compute that, the data is read back into `buffer`. The pipe is kept for the next data.
pub(super) fn take_spliced(
    kept: &mut Option<Conduit>,
    buffer: &mut [u8],
    arrival: &mut Arrival<'_>,
    file: &File,
) -> Result<bool> {
    let conduit = match kept.take() {
        Some(conduit) => Ok(conduit),
        None => Conduit::new(PIPE),
    };
    let mut conduit = match conduit {
        Ok(conduit) => conduit,
        Err(error) => return arrival.give_up(0, buffer, error),
    };
    let (offset, len) = (arrival.offset, arrival.len);
    let ahead = arrival.inlet.ahead(len);
    let mut taken = ahead.len();
    if let Err(error) = arrival.target.write(ahead, offset) {
        return arrival.give_up(taken, buffer, error);
    }
    arrival.inlet.expect_data(len - taken)?;
    while taken < len {
        let count = arrival
            .inlet
            .receive(|socket| conduit.take(socket, len - taken))?;
        let put = conduit.put(file, offset + taken as u64, count);
        taken += count;
        if let Err(error) = put {
            return arrival.give_up(taken, buffer, error);
        }
    }
    *kept = Some(conduit);
    if arrival.inlet.contents() == Cover::Bare {
        return Ok(true);
    }
    // Checked data fits into the buffer.
    let block = &mut buffer[..len];
    if let Err(error) = read_exact_at(file, block, offset) {
        return arrival.give_up(taken, buffer, error);
    }
    arrival.inlet.check_data(block)
}

/// Fewer bytes than this are written faster directly than through a ring.
const SMALL: usize = 32 << 10;

/// Resources of the methods, reused for all files.
pub(super) struct Store {
    pub(super) method: ReceiveMethod,
    /// Finds the method, unless it is given.
    trial: Option<Trial>,
    buffer: Mapping,
    conduit: Option<Conduit>,
    ring: Option<uring::Ring>,
}

impl Store {
    /// Without a method, that is the usual one for contents with this protection, or the ring, if the first
    /// blocks show that it is faster.
    pub(super) fn new(method: Option<ReceiveMethod>, cover: Cover) -> Result<Self> {
        let usual = ReceiveMethod::usual(cover);
        Ok(Self {
            method: method.unwrap_or(usual),
            trial: method
                .is_none()
                .then(|| Trial::new([usual, ReceiveMethod::Uring])),
            buffer: block_memory()?,
            conduit: None,
            ring: None,
        })
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
                take_mapped(buffer, &mut arrival, file)?
            }
            (ReceiveMethod::Splice, Some(file)) => {
                take_spliced(&mut self.conduit, buffer, &mut arrival, file)?
            }
            _ => take_written(buffer, &mut arrival)?,
        };
        if is_right && target.failure().is_none() {
            target.wrote(offset, len as u64);
        }
        Ok(is_right)
    }

    /// Receives `len` bytes of data and discards them.
    pub(super) fn drain(&mut self, inlet: &mut Inlet, len: usize) -> Result<()> {
        drain_written(self.buffer.as_mut_slice(), inlet, len).map(drop)
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

/// Bytes that one method receives before the other has its turn.
const TURN: u64 = 8 << 20;
/// Number of turns of each method.
const TURNS: usize = 2;
/// The second method must take less than this share of the first one's time: it costs a ring, and the
/// time of a turn varies.
const CLEARLY_FASTER: f64 = 0.95;

/// A trial of two methods, which receive turns of [`TURN`] bytes of a file alternately.
pub(super) struct Trial {
    /// The usual method, and the one that may be faster.
    methods: [ReceiveMethod; 2],
    /// Seconds per byte of each turn so far.
    turns: Vec<f64>,
    /// Start of the turn, and bytes received in it.
    turn: Option<(Instant, u64)>,
}

impl Trial {
    fn new(methods: [ReceiveMethod; 2]) -> Self {
        Self {
            methods,
            turns: Vec::new(),
            turn: None,
        }
    }

    /// The method whose turn it is. Starts the turn.
    pub(super) fn method(&mut self) -> ReceiveMethod {
        self.turn.get_or_insert_with(|| (Instant::now(), 0));
        self.methods[self.turns.len() % 2]
    }

    /// Counts received bytes. True at the end of a turn: pending writes must end
    /// before [`Trial::end_turn`].
    pub(super) fn took(&mut self, bytes: u64) -> bool {
        self.turn.as_mut().is_some_and(|(_, taken)| {
            *taken += bytes;
            *taken >= TURN
        })
    }

    /// Ends a turn. The last one decides.
    pub(super) fn end_turn(&mut self) -> Option<ReceiveMethod> {
        let (began, bytes) = self.turn.take()?;
        self.turns
            .push(began.elapsed().as_secs_f64() / bytes as f64);
        (self.turns.len() == 2 * TURNS).then(|| faster(self.methods, &self.turns))
    }

    /// A turn that a file was too short for means nothing: the time until the next file is not its own.
    pub(super) fn drop_turn(&mut self) {
        self.turn = None;
    }
}

/// The faster of two methods, by the times of alternate turns from the first method on. The best turn
/// counts: other programs and a slow sender only lengthen one.
fn faster(methods: [ReceiveMethod; 2], turns: &[f64]) -> ReceiveMethod {
    let best = |first: usize| {
        let of_method = turns.iter().skip(first).step_by(2);
        of_method.copied().fold(f64::INFINITY, f64::min)
    };
    methods[usize::from(best(1) < best(0) * CLEARLY_FASTER)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::ReceiveMethod::{File, Uring};

    #[test]
    fn the_faster_method_by_its_best_turn_is_chosen() {
        for (turns, chosen) in [
            // A host on which the ring writes while the next block arrives.
            ([0.44, 0.37, 0.45, 0.38], Uring),
            // A host on which the ring only adds work.
            ([0.615, 0.677, 0.62, 0.68], File),
            // The network is slower than both.
            ([1.0, 0.99, 1.0, 0.98], File),
            // One turn of each was disturbed.
            ([9.0, 0.37, 0.44, 8.0], Uring),
            ([0.61, 9.0, 8.0, 0.67], File),
        ] {
            assert_eq!(faster([File, Uring], &turns), chosen, "{turns:?}");
        }
    }

    #[test]
    fn methods_take_turns_until_both_had_all_of_theirs() {
        let mut trial = Trial::new([File, Uring]);
        let mut methods = Vec::new();
        let chosen = loop {
            methods.push(trial.method());
            assert!(!trial.took(TURN - 1));
            assert!(trial.took(1));
            if let Some(chosen) = trial.end_turn() {
                break chosen;
            }
        };
        assert_eq!(methods, [File, Uring].repeat(TURNS));
        assert!([File, Uring].contains(&chosen));
    }

    #[test]
    fn a_turn_within_a_short_file_does_not_count() {
        let mut trial = Trial::new([File, Uring]);
        for _ in 0..10 {
            assert_eq!(trial.method(), File);
            assert!(!trial.took(TURN - 1));
            trial.drop_turn();
        }
    }
}
