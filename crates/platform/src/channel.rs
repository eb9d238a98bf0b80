//! Channels between threads and processes that the standard library lacks, as files to read from
//! and write to.

use std::fs::File;

use crate::Result;

face! {
    os::channel;

    /// Two connected Unix stream sockets.
    ///
    /// # Errors
    /// If the system has too few resources, or does not support such sockets.
    pub fn unix_socket_pair() -> Result<(File, File)> = refuse("a pair of sockets");

    /// A counter. A write adds the 8 bytes written to it. A read waits until the counter is not zero,
    /// returns its 8 bytes and sets it to zero
    /// ([eventfd(2)](https://man7.org/linux/man-pages/man2/eventfd.2.html)).
    ///
    /// # Errors
    /// If the system has too few resources, or does not support such counters.
    pub fn event_counter() -> Result<File> = refuse("a counter to wait for");
}
