//! Streams of bytes, counted where they arrive.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes in a call.
const CALL_BYTES: usize = 256 << 10;

/// Receives until `warming` and `counted` have passed or the stream ends, and returns the bytes per second within
/// `counted`. `None` if nothing came then.
pub(crate) fn receive(
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

/// Sends until `limit` has passed, the receiver closes the connection or `stop` is set, and says that it was all.
pub(crate) fn send(stream: &mut TcpStream, limit: Duration, stop: &AtomicBool) -> io::Result<()> {
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
