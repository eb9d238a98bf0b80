//! The measurement of a connection.

use crate::protocol::{MOST_BYTES, Protocol, TOKEN_BYTES};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// One measurement of the connection between two machines, by the one that asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The round trips.
    pub latencies: Vec<Latency>,
    /// The throughput in both directions; `None` if it could not be measured.
    pub throughput: Option<Throughput>,
    /// Reasons why parts could not be measured.
    pub failures: Vec<String>,
}

/// Throughput by TCP, in bytes per second, counted where the bytes arrived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// From the machine that asked to the one that answered.
    pub there: f64,
    /// Back to the machine that asked.
    pub back: f64,
}

/// Round trips before those that count: both machines wake up, and their caches hold what they need.
const WARMING: u32 = 20;
/// A datagram that takes longer is lost.
const LOST_AFTER: Duration = Duration::from_millis(200);
/// A datagram begins with the token and its number.
pub(crate) const DATAGRAM_HEAD: usize = TOKEN_BYTES + 8;

/// The round trips of messages of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The protocol.
    pub protocol: Protocol,
    /// Size of a message, in bytes.
    pub message_bytes: u64,
    /// True if a stream went over the connection in the same direction at the same time.
    pub loaded: bool,
    /// Number of round trips.
    pub count: u64,
    /// Datagrams that did not come back within 200 ms.
    pub lost: u64,
    /// Half of the round trips took at most this long, in ns.
    pub p50_ns: f64,
}

/// Round trips of messages over `stream`, whose other end sends each back, for `time`.
pub(crate) fn stream_latency(
    stream: &mut TcpStream,
    message_bytes: usize,
    time: Duration,
    loaded: bool,
) -> Result<Latency> {
    let mut message = vec![0x5a; message_bytes.min(MOST_BYTES)];
    let mut trip = || -> io::Result<u64> {
        let begin = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut message)?;
        Ok(begin.elapsed().as_nanos() as u64)
    };
    let failed = Error::system("send a message there and back");
    for _ in 0..WARMING {
        trip().map_err(&failed)?;
    }
    let mut trips = Trips::default();
    let start = Instant::now();
    while trips.times_ns.is_empty() || start.elapsed() < time {
        trips.times_ns.push(trip().map_err(&failed)?);
    }
    Ok(trips.latency(Protocol::Tcp, message_bytes, loaded))
}

/// Round trips of datagrams by `socket`, which is connected to an answering machine, for `time`.
pub(crate) fn datagram_latency(
    socket: &UdpSocket,
    token: [u8; TOKEN_BYTES],
    message_bytes: usize,
    time: Duration,
) -> Result<Latency> {
    let failed = Error::system("send a datagram there and back");
    socket.set_read_timeout(Some(LOST_AFTER)).map_err(&failed)?;
    let mut message = vec![0x5a; message_bytes.max(DATAGRAM_HEAD)];
    message[..TOKEN_BYTES].copy_from_slice(&token);
    let mut answer = message.clone();
    let mut trips = Trips::default();
    let mut start = Instant::now();
    let mut sent = 0_u64;
    while sent <= u64::from(WARMING) || start.elapsed() < time {
        if sent == u64::from(WARMING) {
            trips = Trips::default();
            start = Instant::now();
        }
        message[TOKEN_BYTES..DATAGRAM_HEAD].copy_from_slice(&sent.to_le_bytes());
        sent += 1;
        let begin = Instant::now();
        match socket.send(&message) {
            Ok(_) => {}
            // An earlier datagram met a closed port or a full queue.
            Err(error) if is_loss(&error) => {
                trips.lost += 1;
                continue;
            }
            Err(error) => return Err(failed(error)),
        }
        match answered(socket, &message, &mut answer, begin) {
            Ok(true) => trips.times_ns.push(begin.elapsed().as_nanos() as u64),
            Ok(false) => trips.lost += 1,
            Err(error) => return Err(failed(error)),
        }
        if trips.times_ns.is_empty() && start.elapsed() > time.max(2 * LOST_AFTER) {
            break;
        }
    }
    if trips.times_ns.is_empty() {
        let reason = format!("none of {sent} datagrams came back: a firewall may drop UDP");
        return Err(Error(reason));
    }
    Ok(trips.latency(Protocol::Udp, message.len(), false))
}

/// True if the answer to `message` came in time. Late answers to earlier datagrams are passed over.
fn answered(
    socket: &UdpSocket,
    message: &[u8],
    answer: &mut [u8],
    begin: Instant,
) -> io::Result<bool> {
    while begin.elapsed() < LOST_AFTER {
        match socket.recv(answer) {
            Ok(length) if length == message.len() && answer == message => return Ok(true),
            Ok(_) => {}
            Err(error) if is_loss(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, TimedOut, WouldBlock};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | TimedOut | WouldBlock
    )
}

/// Times of round trips.
#[derive(Default)]
struct Trips {
    times_ns: Vec<u64>,
    lost: u64,
}

impl Trips {
    /// The latency of at least one trip.
    fn latency(mut self, protocol: Protocol, message_bytes: usize, loaded: bool) -> Latency {
        let count = self.times_ns.len();
        let (_, median_ns, _) = self.times_ns.select_nth_unstable((count - 1) / 2);
        Latency {
            protocol,
            message_bytes: message_bytes as u64,
            loaded,
            count: count as u64,
            lost: self.lost,
            p50_ns: *median_ns as f64,
        }
    }
}

/// Bytes in a call.
const CALL_BYTES: usize = 256 << 10;

/// Receives until `warming` and `counted` have passed or the stream ends, and returns the bytes per second within
/// `counted`. `None` if nothing came then.
pub(crate) fn receive_stream(
    stream: &mut TcpStream,
    warming: Duration,
    counted: Duration,
) -> io::Result<Option<f64>> {
    let mut buffer = vec![0; CALL_BYTES];
    // The time runs from the first byte: the sender may start late.
    stream.read_exact(&mut buffer[..1])?;
    let start = Instant::now();
    let (mut bytes, mut begin) = (0_u64, None);
    loop {
        let length = stream.read(&mut buffer)?;
        let now = start.elapsed();
        match begin {
            None if now >= warming => begin = Some(now),
            Some(_) => bytes += length as u64,
            None => {}
        }
        if let Some(begin) = begin
            && (length == 0 || now >= warming + counted)
        {
            let seconds = now.saturating_sub(begin).as_secs_f64();
            return Ok((bytes > 0 && seconds > 0.0).then(|| bytes as f64 / seconds));
        }
        if length == 0 {
            return Ok(None);
        }
    }
}

/// Sends until `limit` has passed, the receiver closes the connection or `stop` is set, and ends the stream.
pub(crate) fn send_stream(
    stream: &mut TcpStream,
    limit: Duration,
    stop: &AtomicBool,
) -> io::Result<()> {
    let buffer = vec![0x5a; CALL_BYTES];
    let start = Instant::now();
    while start.elapsed() < limit && !stop.load(Ordering::Relaxed) {
        match stream.write(&buffer) {
            Ok(_) => {}
            Err(error) if is_end(error.kind()) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    match stream.shutdown(Shutdown::Write) {
        Err(error) if error.kind() != ErrorKind::NotConnected => Err(error),
        _ => Ok(()),
    }
}

/// True for the ends of a stream whose receiver has seen enough.
fn is_end(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
    )
}
