//! Memory that a process shares with the partners it starts later, and waiting for a change of it.

use std::sync::atomic::AtomicU32;

use crate::{Result, os};

/// Words of memory, zero at first, that are the same for this process and its later copies
/// ([`crate::partner::Partner`]). Each is on a cache line of its own.
#[derive(Debug)]
pub struct Words {
    words: os::shared::Words,
}

impl Words {
    /// Makes `count` words (at least 1).
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn new(count: usize) -> Result<Self> {
        os::shared::Words::new(count).map(|words| Self { words })
    }

    /// The word of this number.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn word(&self, index: usize) -> &AtomicU32 {
        self.words.word(index)
    }
}

/// Sleeps while `word` has this value, or until it is woken
/// ([futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html)). It may also end for no reason:
/// look at the word again.
///
/// # Errors
/// If the system cannot.
pub fn wait_while(word: &AtomicU32, value: u32) -> Result<()> {
    os::shared::wait_while(word, value)
}

/// Wakes one who sleeps on `word`, if anybody does.
///
/// # Errors
/// If the system cannot.
pub fn wake_one(word: &AtomicU32) -> Result<()> {
    os::shared::wake_one(word)
}

/// A ring of bytes in shared memory between one who sends and one who receives. Neither calls the
/// system: who has to wait asks again and again.
#[derive(Debug)]
pub struct Ring {
    ring: os::shared::Ring,
}

impl Ring {
    /// A ring that holds as many bytes, a power of two.
    ///
    /// # Errors
    /// If the memory cannot be had, or the number is no power of two.
    pub fn new(capacity: usize) -> Result<Self> {
        os::shared::Ring::new(capacity).map(|ring| Self { ring })
    }

    /// Copies a message into the ring, waiting for room. Only one may send at a time: a second one
    /// would write over what the first wrote.
    pub fn send(&mut self, message: &[u8]) {
        self.ring.send(message);
    }

    /// Copies so many bytes out of the ring, waiting for them. Only one may receive at a time.
    pub fn receive(&mut self, message: &mut [u8]) {
        self.ring.receive(message);
    }
}
