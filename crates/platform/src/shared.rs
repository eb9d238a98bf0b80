//! Memory shared between a process and the partners that it starts later, and waiting for a change
//! of it.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::{Result, os};

/// Zeroed words of memory, shared between this process and its later copies
/// ([`crate::partner::Partner`]). Each word is on its own cache line.
#[derive(Debug)]
pub struct Words(os::shared::Words);

/// A ring buffer in shared memory, for one sender and one receiver. Neither makes system calls:
/// both wait by polling.
///
/// It holds `capacity` bytes, a power of two.
///
/// # Errors
/// If the memory cannot be allocated, or the number is not a power of two.
pub fn ring(capacity: usize) -> Result<(Sender, Receiver)> {
    let ring = Arc::new(Ring(os::shared::Ring::new(capacity)?));
    let sender = Sender { ring: ring.clone() };
    Ok((sender, Receiver { ring }))
}

/// Both ends of a ring.
#[derive(Debug)]
struct Ring(os::shared::Ring);

/// The sending end of a ring. A partner gets a copy with the rest of the process's memory; only one
/// copy may be used.
#[derive(Debug)]
pub struct Sender {
    ring: Arc<Ring>,
}

impl Sender {
    /// Copies a message into the ring, and waits for room.
    pub fn send(&mut self, message: &[u8]) {
        self.ring.0.send(message);
    }
}

/// The receiving end of a ring. As with [`Sender`], only one copy may be used.
#[derive(Debug)]
pub struct Receiver {
    ring: Arc<Ring>,
}

impl Receiver {
    /// Copies `message.len()` bytes out of the ring, and waits for them.
    pub fn receive(&mut self, message: &mut [u8]) {
        self.ring.0.receive(message);
    }
}

face! {
    os::shared;

    /// Sleeps while `word` has this value, or until it is woken
    /// ([futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html)). Spurious wake-ups occur: check
    /// the word again.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wait_while(word: &AtomicU32, value: u32) -> Result<()>
        = refuse("waiting for a word to change");

    /// Wakes one thread that sleeps on `word`, if there is one.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wake_one(word: &AtomicU32) -> Result<()> = refuse("waking who waits for a word");

    impl Words {
        /// Allocates `count` words (at least 1).
        ///
        /// # Errors
        /// If the memory cannot be allocated.
        pub fn new(count: usize) -> Result<Self> = refuse("memory shared with another process");

        /// The word at `index`.
        ///
        /// # Panics
        /// If there are fewer words.
        pub fn word(&self, index: usize) -> &AtomicU32;
    }

    impl Ring {
        fn new(capacity: usize) -> Result<Self> = refuse("memory shared with another process");
        fn send(&self, message: &[u8]);
        fn receive(&self, message: &mut [u8]);
    }
}
