use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::event::{EventfdFlags, eventfd};

use crate::error::{Error, Result};

/// Two connected Unix stream sockets.
///
/// # Errors
/// If the system has too few resources, or does not support such sockets.
pub fn unix_socket_pair() -> Result<(File, File)> {
    let (one, other) = UnixStream::pair().map_err(Error::os("make a pair of sockets"))?;
    Ok((OwnedFd::from(one).into(), OwnedFd::from(other).into()))
}

/// A counter. A write adds the 8 bytes written to it. A read waits until the counter is not zero,
/// returns its 8 bytes and sets it to zero
/// ([eventfd(2)](https://man7.org/linux/man-pages/man2/eventfd.2.html)).
///
/// # Errors
/// If the system has too few resources, or does not support such counters.
pub fn event_counter() -> Result<File> {
    let counter = eventfd(0, EventfdFlags::CLOEXEC).map_err(Error::os("make an eventfd"))?;
    Ok(counter.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn what_goes_in_at_one_end_comes_out_at_the_other() {
        let (mut one, mut other) = unix_socket_pair().unwrap();
        one.write_all(b"word").unwrap();
        let mut word = [0; 4];
        other.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"word");
        drop(other);
        assert_eq!(one.read(&mut word).unwrap(), 0);
    }

    #[test]
    fn a_counter_adds_up_and_starts_anew() {
        let mut counter = event_counter().unwrap();
        counter.write_all(&2_u64.to_ne_bytes()).unwrap();
        counter.write_all(&3_u64.to_ne_bytes()).unwrap();
        let mut sum = [0; 8];
        counter.read_exact(&mut sum).unwrap();
        assert_eq!(u64::from_ne_bytes(sum), 5);
        counter.write_all(&1_u64.to_ne_bytes()).unwrap();
        counter.read_exact(&mut sum).unwrap();
        assert_eq!(u64::from_ne_bytes(sum), 1);
    }
}
