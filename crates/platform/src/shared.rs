//! Memory shared between a process and the partners that it starts later, and waiting for a change
//! of it.

use std::sync::Arc;

use crate::Result;
use crate::os::shared::Ring;

pub use crate::os::shared::{Words, wait_while, wake_one};

/// A ring buffer in shared memory, for one sender and one receiver. Neither makes system calls:
/// both wait by polling.
///
/// It holds `capacity` bytes, a power of two.
///
/// # Errors
/// If the memory cannot be allocated, or the number is not a power of two.
pub fn ring(capacity: usize) -> Result<(Sender, Receiver)> {
    let ring = Arc::new(Ring::new(capacity)?);
    let sender = Sender { ring: ring.clone() };
    Ok((sender, Receiver { ring }))
}

/// The sending end of a ring. A partner gets a copy with the rest of the process's memory; only one
/// copy may be used.
#[derive(Debug)]
pub struct Sender {
    ring: Arc<Ring>,
}

impl Sender {
    /// Copies a message into the ring, and waits for room.
    pub fn send(&mut self, message: &[u8]) {
        self.ring.send(message);
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
        self.ring.receive(message);
    }
}
