//! Memory that a process shares with the partners it starts later, and waiting for a change of it.

use std::sync::Arc;
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

/// A ring of bytes in shared memory, for one who sends and one who receives. Neither calls the system:
/// who has to wait asks again and again.
///
/// It holds as many bytes as `capacity` says, a power of two.
///
/// # Errors
/// If the memory cannot be had, or the number is no power of two.
pub fn ring(capacity: usize) -> Result<(Sender, Receiver)> {
    let ring = Arc::new(os::shared::Ring::new(capacity)?);
    let sender = Sender { ring: ring.clone() };
    Ok((sender, Receiver { ring }))
}

/// The end of a ring into which bytes go. Of the copies that partners get with the rest of a process's
/// memory, only one may be used.
#[derive(Debug)]
pub struct Sender {
    ring: Arc<os::shared::Ring>,
}

impl Sender {
    /// Copies a message into the ring, waiting for room.
    pub fn send(&mut self, message: &[u8]) {
        self.ring.send(message);
    }
}

/// The end of a ring from which bytes come. As with [`Sender`], only one copy may be used.
#[derive(Debug)]
pub struct Receiver {
    ring: Arc<os::shared::Ring>,
}

impl Receiver {
    /// Copies so many bytes out of the ring, waiting for them.
    pub fn receive(&mut self, message: &mut [u8]) {
        self.ring.receive(message);
    }
}
