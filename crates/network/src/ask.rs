//! The machine that asks and measures.

use crate::measured::{
    Latency, Measured, Throughput, datagram_latency, receive_stream, send_stream, stream_latency,
};
use crate::protocol::{Invitation, Question, TOKEN_BYTES, written_hello};
use crate::{Error, Result};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A connection is made within this time, or not at all.
const CONNECTING: Duration = Duration::from_secs(3);
/// A connection that is silent for this long is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Sizes of messages by TCP, in bytes.
const TCP_BYTES: [usize; 3] = [1, 1 << 10, 64 << 10];
/// Sizes of datagrams, in bytes. The largest fits into a frame of Ethernet.
const UDP_BYTES: [usize; 2] = [64, 1400];
/// Messages while a stream goes over the connection, in bytes.
const LOADED_BYTES: usize = 1;
/// The parts of a measurement share its time: each size of message has one; each direction of the throughput, and the
/// loaded round trips, have one to warm up and some that count.
const PARTS: u32 = (TCP_BYTES.len() + UDP_BYTES.len()) as u32 + 3 * (1 + COUNTED_PARTS);
const COUNTED_PARTS: u32 = 2;

/// Another machine that answers.
#[derive(Clone, Debug)]
pub struct Peer {
    address: SocketAddr,
    udp: SocketAddr,
    token: [u8; TOKEN_BYTES],
}

impl Peer {
    /// The machine of `invitation`, at the first of its addresses that answers.
    ///
    /// # Errors
    /// If none does.
    pub fn find(invitation: &Invitation) -> Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for (address, port) in invitation.addresses.iter().zip(&invitation.udp_ports) {
            let peer = Self {
                address: *address,
                udp: SocketAddr::new(address.ip(), *port),
                token: invitation.token,
            };
            match peer.greet() {
                Ok(()) => return Ok(peer),
                Err(error) => last = error,
            }
        }
        let addresses = invitation.addresses.iter().map(ToString::to_string);
        let addresses = addresses.collect::<Vec<_>>().join(" or ");
        Err(Error(format!("no answer from {addresses}: {last}")))
    }

    /// One message there and back: another machine may have the same address in its own network.
    fn greet(&self) -> io::Result<()> {
        let mut stream = self.open(Question::Echo { message_bytes: 1 })?;
        let mut answer = [0];
        stream.write_all(&[7])?;
        stream.read_exact(&mut answer)
    }

    /// Measures the connection for about `time`. A part that fails is listed in [`Measured::failures`].
    pub fn measure(&self, time: Duration) -> Measured {
        let part = time / PARTS;
        let mut measured = Measured::default();
        for message_bytes in TCP_BYTES {
            let found = self.tcp_latency(message_bytes, part);
            measured.keep_latency("round trips by TCP", found);
        }
        for message_bytes in UDP_BYTES {
            let found = self.udp_latency(message_bytes, part);
            measured.keep_latency("round trips by UDP", found);
        }
        let both = self
            .throughput_there(part)
            .and_then(|there| Ok((there, self.throughput_back(part)?)));
        match both {
            Ok((there, back)) => measured.throughput = Some(Throughput { there, back }),
            Err(error) => measured.note_failure("throughput", &error),
        }
        measured.keep_latency("round trips next to a stream", self.loaded_latency(part));
        measured
    }

    fn open(&self, question: Question) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, CONNECTING)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&written_hello(self.token, question))?;
        Ok(stream)
    }

    fn connected(&self, question: Question) -> Result<TcpStream> {
        self.open(question).map_err(Error::system("connect"))
    }

    fn tcp_latency(&self, message_bytes: usize, time: Duration) -> Result<Latency> {
        let mut stream = self.connected(Question::Echo { message_bytes })?;
        stream_latency(&mut stream, message_bytes, time, false)
    }

    fn udp_latency(&self, message_bytes: usize, time: Duration) -> Result<Latency> {
        let any: IpAddr = match self.udp {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0)).and_then(|socket| {
            socket.connect(self.udp)?;
            Ok(socket)
        });
        let socket = socket.map_err(Error::system("open a socket for UDP"))?;
        datagram_latency(&socket, self.token, message_bytes, time)
    }

    /// Bytes per second to the other machine, as it counts them.
    fn throughput_there(&self, part: Duration) -> Result<f64> {
        let failed = Error::system("send a stream");
        let mut stream = self.connected(Question::Receive {
            warming: part,
            counted: part * COUNTED_PARTS,
        })?;
        // The receiver's time begins with the first byte that arrives.
        send_stream(&mut stream, limit(part), &AtomicBool::new(false)).map_err(&failed)?;
        let mut found = [0; 8];
        stream.read_exact(&mut found).map_err(&failed)?;
        checked(f64::from_le_bytes(found))
    }

    /// Bytes per second from the other machine, as this one counts them.
    fn throughput_back(&self, part: Duration) -> Result<f64> {
        let mut stream = self.connected(Question::Send { limit: limit(part) })?;
        let found = receive_stream(&mut stream, part, part * COUNTED_PARTS);
        let found = found.map_err(Error::system("receive a stream"))?;
        checked(found.unwrap_or(f64::NAN))
    }

    /// Round trips while a stream goes to the other machine.
    fn loaded_latency(&self, part: Duration) -> Result<Latency> {
        let mut stream = self.connected(Question::Receive {
            warming: Duration::ZERO,
            counted: limit(part),
        })?;
        let mut echo = self.connected(Question::Echo {
            message_bytes: LOADED_BYTES,
        })?;
        let enough = AtomicBool::new(false);
        thread::scope(|scope| {
            let sender = scope.spawn(|| send_stream(&mut stream, 2 * limit(part), &enough));
            thread::sleep(part);
            let found = stream_latency(&mut echo, LOADED_BYTES, part * COUNTED_PARTS, true);
            enough.store(true, Ordering::Relaxed);
            match sender.join() {
                Ok(Ok(())) => found,
                Ok(Err(error)) => Err(Error::system("send a stream")(error)),
                Err(_) => Err(Error("the sending thread ended early".into())),
            }
        })
    }
}

/// A stream lasts at most this long: one part more than what is measured.
fn limit(part: Duration) -> Duration {
    part * (COUNTED_PARTS + 2)
}

/// A speed; it is no number if nothing arrived.
fn checked(bytes_per_second: f64) -> Result<f64> {
    if bytes_per_second.is_finite() && bytes_per_second > 0.0 {
        Ok(bytes_per_second)
    } else {
        Err(Error("nothing arrived in time".into()))
    }
}

impl Measured {
    fn keep_latency(&mut self, what: &str, found: Result<Latency>) {
        match found {
            Ok(latency) => self.latencies.push(latency),
            Err(error) => self.note_failure(what, &error),
        }
    }

    fn note_failure(&mut self, what: &str, error: &Error) {
        let sentence = format!("{what}: {error}");
        if !self.failures.contains(&sentence) {
            self.failures.push(sentence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn a_stream_that_brings_nothing_is_called_so() {
        assert!(checked(1.0).is_ok());
        for nothing in [f64::NAN, 0.0] {
            let error = checked(nothing).expect_err("no speed");
            assert_eq!(error.to_string(), "nothing arrived in time");
        }
    }
}
