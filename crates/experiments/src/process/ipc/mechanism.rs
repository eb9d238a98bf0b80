//! The means by which two processes talk.

use super::end::End;
use crate::prelude::*;
use platform::channel::{event_counter, unix_socket_pair};
use platform::shared::{self, Words};
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

/// A means by which two processes talk.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) enum Mechanism {
    Pipe,
    #[choice("Unix socket")]
    UnixSocket,
    #[choice("TCP")]
    Tcp,
    #[choice("eventfd")]
    EventCounter,
    Futex,
    SharedMemory,
}

/// Bytes that a ring in shared memory holds: as many as a pipe does by default.
pub(super) const RING_BYTES: usize = 64 << 10;

impl Mechanism {
    /// The size of the only message that it carries; `None` if it carries messages of any size.
    pub(in crate::process) fn fixed_message(self) -> Option<Bytes> {
        match self {
            Self::Pipe | Self::UnixSocket | Self::Tcp | Self::SharedMemory => None,
            Self::Futex => Some(Bytes(4)),
            Self::EventCounter => Some(Bytes(8)),
        }
    }

    /// True if messages queue up in it.
    pub(super) fn streams(self) -> bool {
        self.fixed_message().is_none()
    }

    /// True if the waiting side spins instead of sleeping.
    pub(super) fn spins(self) -> bool {
        self == Self::SharedMemory
    }

    /// A message of so many bytes. As a number it is not zero, since an eventfd ignores zero.
    pub(super) fn message(self, bytes: usize) -> Result<Vec<u8>, MeasureError> {
        if bytes == 0
            || self
                .fixed_message()
                .is_some_and(|only| only != Bytes(bytes as u64))
        {
            return Err(MeasureError::Unsupported(format!(
                "{self} carries no messages of {bytes} bytes"
            )));
        }
        let mut message = vec![0; bytes];
        message[0] = 1;
        Ok(message)
    }

    /// The two ends of a new connection.
    pub(super) fn connect(self) -> Result<(End, End), MeasureError> {
        match self {
            Self::Pipe => {
                let pipe = || io::pipe().map_err(MeasureError::system("make a pipe"));
                let ((to_one, from_other), (to_other, from_one)) = (pipe()?, pipe()?);
                Ok((
                    End::of_files(to_one, from_one),
                    End::of_files(to_other, from_other),
                ))
            }
            Self::UnixSocket => {
                let (one, other) = unix_socket_pair()?;
                let end = |file| End::of_file(file).map_err(MeasureError::system("share a socket"));
                Ok((end(one)?, end(other)?))
            }
            Self::Tcp => connect_tcp().map_err(MeasureError::system(
                "connect to this machine by TCP over loopback",
            )),
            Self::EventCounter => {
                let (there, back) = (event_counter()?, event_counter()?);
                let shared = |counter: &File| {
                    let shared = counter.try_clone();
                    shared.map_err(MeasureError::system("share an eventfd"))
                };
                let other = End::of_files(shared(&there)?, shared(&back)?);
                Ok((End::of_files(back, there), other))
            }
            Self::Futex => {
                let words = Arc::new(Words::new(2)?);
                let other = End::of_words(words.clone(), 0, 1);
                Ok((End::of_words(words, 1, 0), other))
            }
            Self::SharedMemory => {
                let ((to_other, from_one), (to_one, from_other)) =
                    (shared::ring(RING_BYTES)?, shared::ring(RING_BYTES)?);
                let end = |input, output| End::Rings { input, output };
                Ok((end(from_other, to_other), end(from_one, to_one)))
            }
        }
    }
}

fn connect_tcp() -> io::Result<(End, End)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let one = TcpStream::connect(listener.local_addr()?)?;
    let (other, _) = listener.accept()?;
    Ok((End::of_tcp(one)?, End::of_tcp(other)?))
}

#[cfg(test)]
mod tests {
    use super::Mechanism;
    use crate::prelude::*;

    #[test]
    fn both_ends_hear_each_other_by_every_means() {
        for mechanism in Mechanism::ALL.iter().copied() {
            let (mut one, mut other) = mechanism.connect().expect("it is there");
            let Bytes(bytes) = mechanism.fixed_message().unwrap_or(Bytes(5));
            let bytes = bytes as usize;
            let message = mechanism.message(bytes).expect("of that size");
            let mut heard = vec![0; bytes];
            for _ in 0..3 {
                one.send(&message).expect("it has room");
                other.receive(&mut heard).expect("it was sent");
                other.send(&message).expect("it has room");
                one.receive(&mut heard).expect("it was sent");
            }
            if mechanism != Mechanism::Futex {
                assert_eq!(heard, message, "{mechanism}");
            }
        }
    }

    #[test]
    fn what_no_means_carries_is_refused() {
        Mechanism::EventCounter.message(7).expect_err("only 8");
        Mechanism::Pipe.message(0).expect_err("that is none");
    }
}
