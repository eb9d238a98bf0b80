//! Ways to talk between threads and processes that the standard library lacks, as files to be read
//! from and written to.

use std::fs::File;

use crate::{Result, os};

/// Two connected stream sockets of the Unix domain.
///
/// # Errors
/// If the system has no room for them, or no such sockets.
pub fn unix_socket_pair() -> Result<(File, File)> {
    os::channel::unix_socket_pair()
}

/// A counter: 8 bytes written are added to it; a read waits until it is not zero, returns its 8 bytes
/// and sets it to zero ([eventfd(2)](https://man7.org/linux/man-pages/man2/eventfd.2.html)).
///
/// # Errors
/// If the system has no room for it, or no such thing.
pub fn event_counter() -> Result<File> {
    os::channel::event_counter()
}
