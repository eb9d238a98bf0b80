//! Memory shared between a process and the partners that it starts later, and waiting for a change
//! of it.

use std::hint::spin_loop;
use std::io::ErrorKind;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::os::shared::Memory;

pub use crate::os::shared::{wait_while, wake_one};

/// A ring buffer in shared memory, for one sender and one receiver. Neither makes system calls:
/// both wait by polling.
///
/// It holds `capacity` bytes, a power of two.
pub fn ring(capacity: usize) -> Result<(Sender, Receiver)> {
    if !capacity.is_power_of_two() {
        return Err(Error::os("make a ring")(ErrorKind::InvalidInput));
    }
    let memory = Memory::new(Ring::BYTES_AT + capacity)?;
    let ring = Arc::new(Ring { memory, capacity });
    Ok((Sender(ring.clone()), Receiver(ring)))
}

/// The sending end of a ring. A partner gets a copy with the rest of the process's memory; only one
/// copy may be used.
#[derive(Debug)]
pub struct Sender(Arc<Ring>);

impl Sender {
    /// Copies a message into the ring, and waits for room.
    pub fn send(&mut self, mut message: &[u8]) {
        let ring = &self.0;
        let mut sent = ring.sent().load(Ordering::Relaxed);
        while !message.is_empty() {
            let received = ring.received().load(Ordering::Acquire);
            let room = ring.capacity - sent.wrapping_sub(received) as usize;
            let (place, before_end) = ring.place(sent);
            let len = room.min(before_end).min(message.len());
            if len == 0 {
                spin_loop();
                continue;
            }
            // SAFETY: both sides have `len` bytes, and the receiver does not read them before the
            // counter of sent bytes includes them.
            unsafe { ptr::copy_nonoverlapping(message.as_ptr(), place, len) };
            sent = sent.wrapping_add(len as u64);
            ring.sent().store(sent, Ordering::Release);
            message = &message[len..];
        }
    }
}

/// The receiving end of a ring. As with [`Sender`], only one copy may be used.
#[derive(Debug)]
pub struct Receiver(Arc<Ring>);

impl Receiver {
    /// Copies `message.len()` bytes out of the ring, and waits for them.
    pub fn receive(&mut self, mut message: &mut [u8]) {
        let ring = &self.0;
        let mut received = ring.received().load(Ordering::Relaxed);
        while !message.is_empty() {
            let sent = ring.sent().load(Ordering::Acquire);
            let there = sent.wrapping_sub(received) as usize;
            let (place, before_end) = ring.place(received);
            let len = there.min(before_end).min(message.len());
            if len == 0 {
                spin_loop();
                continue;
            }
            // SAFETY: both sides have `len` bytes, and the sender does not overwrite them before
            // the counter of received bytes includes them.
            unsafe { ptr::copy_nonoverlapping(place, message.as_mut_ptr(), len) };
            received = received.wrapping_add(len as u64);
            ring.received().store(received, Ordering::Release);
            message = &mut message[len..];
        }
    }
}

/// Size of a pair of cache lines, which some processors fetch together.
const LINE_BYTES: usize = 128;

/// Zeroed words of memory, shared between this process and its later copies
/// ([`crate::partner::Partner`]). Each word is on its own cache line.
#[derive(Debug)]
pub struct Words {
    memory: Memory,
}

// SAFETY: it owns its memory and only gives out atomics.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    /// Allocates `count` words (at least 1).
    pub fn new(count: usize) -> Result<Self> {
        let memory = Memory::new(count * LINE_BYTES)?;
        Ok(Self { memory })
    }

    /// The word at `index`.
    ///
    /// # Panics
    /// If there are fewer words.
    pub fn word(&self, index: usize) -> &AtomicU32 {
        assert!((index + 1) * LINE_BYTES <= self.memory.len);
        // SAFETY: the offset is within the mapping and aligned for any atomic, and all processes
        // use the memory only as this atomic.
        unsafe { self.memory.start.add(index * LINE_BYTES).cast().as_ref() }
    }
}

/// The memory holds the number of bytes sent, the number received, and the bytes.
#[derive(Debug)]
struct Ring {
    memory: Memory,
    capacity: usize,
}

// SAFETY: it owns its memory.
unsafe impl Send for Ring {}
// SAFETY: sender and receiver never access the same bytes at once, as the counters ensure.
unsafe impl Sync for Ring {}

impl Ring {
    const BYTES_AT: usize = 2 * LINE_BYTES;

    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both offsets are within the mapping, aligned, and used only as this atomic.
        unsafe { self.memory.start.add(offset).cast().as_ref() }
    }

    fn sent(&self) -> &AtomicU64 {
        self.counter(0)
    }

    fn received(&self) -> &AtomicU64 {
        self.counter(LINE_BYTES)
    }

    /// The address of byte `number`, and the number of bytes from it to the end of the buffer.
    fn place(&self, number: u64) -> (*mut u8, usize) {
        let offset = number as usize & (self.capacity - 1);
        // SAFETY: the offset is less than the capacity, so it is within the mapping.
        let place = unsafe { self.memory.start.add(Self::BYTES_AT + offset) };
        (place.as_ptr(), self.capacity - offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_and_keep_apart() {
        let words = Words::new(3).unwrap();
        words.word(1).store(7, Ordering::Relaxed);
        let seen = [0, 1, 2].map(|index| words.word(index).load(Ordering::Relaxed));
        assert_eq!(seen, [0, 7, 0]);
    }

    #[test]
    fn who_waits_for_a_word_is_woken() {
        let words = Words::new(1).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                words.word(0).store(1, Ordering::Release);
                wake_one(words.word(0)).unwrap();
            });
            while words.word(0).load(Ordering::Acquire) == 0 {
                wait_while(words.word(0), 0).unwrap();
            }
        });
    }

    #[test]
    fn a_ring_gives_out_what_was_put_in_across_its_end() {
        let (mut sender, mut receiver) = ring(8).unwrap();
        for round in 0..100_u8 {
            let message = [round, round.wrapping_add(1), round.wrapping_add(2)];
            sender.send(&message);
            sender.send(&message);
            let mut seen = [0; 6];
            receiver.receive(&mut seen);
            assert_eq!(seen[..3], message);
            assert_eq!(seen[3..], message);
        }
        ring(9).unwrap_err();
    }
}
