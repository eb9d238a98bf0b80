//! `process.ipc`: the cost of talking to another process.

pub(super) mod findings;

use super::{PLACEMENT, Placement, Sides};
use crate::prelude::*;
use platform::channel::{event_counter, unix_socket_pair};
use platform::partner::Partner;
use platform::shared::{self, Receiver, Sender, Words, wait_while, wake_one};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(super) const MECHANISM: AxisOf<Mechanism> = AxisOf::new("mechanism", "means");
pub(super) const MESSAGE: AxisOf<Bytes> = AxisOf::new("message_size", "message");

pub(super) const ROUND_TRIP: Metric =
    Metric::time("round_trip", "round trip").bounded(LEAST_ROUND_TRIP_NS);
pub(super) const BANDWIDTH: Metric =
    Metric::bandwidth("bandwidth", "bandwidth").bounded(MOST_BYTES_PER_SECOND);

/// A message and its answer cross at least two caches.
const LEAST_ROUND_TRIP_NS: f64 = 5.0;
/// Two loads of 64 bytes a cycle at 8 GHz. No core is that fast, so no copy is.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

pub(super) const DESIGN: Design = Design {
    id: "process.ipc",
    title: "Communication between processes",
    question: "Which means of communication between two processes is fastest, and what does it cost?",
    method: formatcp!(
        "Two processes run on one core or on a core each. Round trip: one process sends a message; \
         the other waits for it and sends a message of the same size back. Single round trips are \
         timed and the clock's cost is subtracted; the value is the median. Bandwidth: one process \
         sends messages back-to-back. The other receives n of them in each leg, each whole before \
         the next. The fixed cost that shorter legs show is subtracted, so that messages queued \
         before the start cancel. An eventfd and a futex cannot queue data, so they have no \
         bandwidth. Each message is one write and at least one read. Pipe: one pipe each way. Unix \
         socket: a connected pair of stream sockets. TCP: a connection over loopback with \
         TCP_NODELAY. Eventfd: one counter each way. Futex: one word of shared memory each way, on \
         which the receiver sleeps. Shared memory: a ring of {} KiB each way; data is copied in \
         and out without a system call, and the receiver spins. On one core, spinning wastes the \
         rest of the receiver's time slice each time, so shared memory has only the round trip \
         there.",
        RING_BYTES >> 10,
    ),
    source: "common practice, after lmbench",
    axes: &[MECHANISM.axis(), MESSAGE.axis(), PLACEMENT.axis()],
    metrics: &[ROUND_TRIP, BANDWIDTH],
};

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanism {
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
const RING_BYTES: usize = 64 << 10;

impl Mechanism {
    /// The size of the only message that it carries; `None` if it carries messages of any size.
    pub(super) fn fixed_message(self) -> Option<Bytes> {
        match self {
            Self::Pipe | Self::UnixSocket | Self::Tcp | Self::SharedMemory => None,
            Self::Futex => Some(Bytes(4)),
            Self::EventCounter => Some(Bytes(8)),
        }
    }

    /// A message of `bytes` bytes. As a number it is not zero, since an eventfd ignores zero.
    fn message(self, bytes: usize) -> Result<Vec<u8>, MeasureError> {
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

    fn connect(self) -> Result<(End, End), MeasureError> {
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
                let share = |counter: &File| counter.try_clone();
                let shared = share(&there).and_then(|there| Ok((there, share(&back)?)));
                let (input, output) = shared.map_err(MeasureError::system("share an eventfd"))?;
                Ok((End::of_files(back, there), End::of_files(input, output)))
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

pub(crate) struct Ipc;

/// Round trips before the first that is timed, where none takes a time slice.
const WARMING_ROUNDS: u32 = 200;

impl Experiment for Ipc {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// Messages of several sizes for the means that carry them, of the only size for the others.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let kib: &[u64] = match setting.profile {
            Profile::Quick => &[4, 64],
            Profile::Standard => &[4, 64, 256],
            Profile::Thorough => &[1, 4, 16, 64, 256, 1024],
        };
        let bytes: &[u64] = match setting.profile {
            Profile::Quick | Profile::Standard => &[1],
            Profile::Thorough => &[1, 64, 256],
        };
        let sizes = || bytes.iter().copied().chain(kib.iter().map(|kib| kib << 10));
        let mut points = Vec::new();
        for &means in Mechanism::ALL {
            for &placement in Placement::ALL {
                let exchange = |message: u64| {
                    Point::new()
                        .at(MECHANISM, means)
                        .at(MESSAGE, Bytes(message))
                        .at(PLACEMENT, placement)
                };
                match means.fixed_message() {
                    Some(Bytes(only)) => points.push(exchange(only)),
                    None if waits_for_slices(means, placement) => points.push(exchange(bytes[0])),
                    None => points.extend(sizes().map(exchange)),
                }
            }
        }
        points
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (mechanism, placement) = (point.level(MECHANISM)?, point.level(PLACEMENT)?);
        let message = point.level(MESSAGE)?.0 as usize;
        let sides = placement.take(sampler)?;
        let waits_for_slices = waits_for_slices(mechanism, placement);
        let warming_rounds = if waits_for_slices { 1 } else { WARMING_ROUNDS };
        time_round_trips(mechanism, message, sides, warming_rounds, sampler)?;
        // Those that carry messages of one size cannot queue them.
        if mechanism.fixed_message().is_none() && !waits_for_slices {
            time_stream(mechanism, message, sides, sampler)?;
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// True if each side spins until the scheduler takes the processor away from it.
fn waits_for_slices(mechanism: Mechanism, placement: Placement) -> bool {
    mechanism == Mechanism::SharedMemory && placement == Placement::OneCore
}

/// Times single round trips to a partner and back.
fn time_round_trips(
    mechanism: Mechanism,
    message: usize,
    sides: Sides,
    warming_rounds: u32,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let (mut own, mut others) = mechanism.connect()?;
    let mut buffer = mechanism.message(message)?;
    let mut answer = buffer.clone();
    let _partner = Partner::start(sides.there, move || {
        while others.receive(&mut answer).is_ok() && others.send(&answer).is_ok() {}
    })?;
    let mut round = || {
        own.send(&buffer)?;
        own.receive(&mut buffer)
    };
    (0..warming_rounds).try_for_each(|_| round())?;
    sampler.latencies(ROUND_TRIP, round)
}

/// Times the receiving of messages that a partner sends back-to-back.
fn time_stream(
    mechanism: Mechanism,
    message: usize,
    sides: Sides,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let (mut own, mut others) = mechanism.connect()?;
    let outgoing = mechanism.message(message)?;
    let mut incoming = outgoing.clone();
    let _partner = Partner::start(sides.there, move || {
        while others.send(black_box(&outgoing)).is_ok() {}
    })?;
    sampler.repeat(BANDWIDTH, message as f64, |messages| {
        (0..messages).try_for_each(|_| own.receive(black_box(&mut incoming)))
    })
}

/// One end of a connection in both directions.
enum End {
    /// Files, pipes, sockets and other descriptors with read and write.
    Files {
        input: Box<dyn Read>,
        output: Box<dyn Write>,
    },
    Rings {
        input: Receiver,
        output: Sender,
    },
    /// Two words of shared memory. Each counts the messages in one direction.
    Words {
        words: Arc<Words>,
        input: usize,
        output: usize,
        received: u32,
        sent: u32,
    },
}

impl End {
    fn of_files(input: impl Read + 'static, output: impl Write + 'static) -> Self {
        Self::Files {
            input: Box::new(input),
            output: Box::new(output),
        }
    }

    /// An end that is read from and written to by the same file.
    fn of_file(file: File) -> io::Result<Self> {
        Ok(Self::of_files(file.try_clone()?, file))
    }

    fn of_tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self::of_files(stream.try_clone()?, stream))
    }

    /// The end that receives the messages that the word `input` counts.
    fn of_words(words: Arc<Words>, input: usize, output: usize) -> Self {
        Self::Words {
            words,
            input,
            output,
            received: 0,
            sent: 0,
        }
    }

    /// Sends a message. Words carry no content, only the fact that there is a message.
    fn send(&mut self, message: &[u8]) -> Result<(), MeasureError> {
        match self {
            Self::Files { output, .. } => output
                .write_all(message)
                .map_err(MeasureError::system("send a message")),
            Self::Rings { output, .. } => {
                output.send(message);
                Ok(())
            }
            Self::Words {
                words,
                output,
                sent,
                ..
            } => {
                let word = words.word(*output);
                *sent = sent.wrapping_add(1);
                word.store(*sent, Ordering::Release);
                Ok(wake_one(word)?)
            }
        }
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<(), MeasureError> {
        match self {
            Self::Files { input, .. } => input
                .read_exact(message)
                .map_err(MeasureError::system("receive a message")),
            Self::Rings { input, .. } => {
                input.receive(message);
                Ok(())
            }
            Self::Words {
                words,
                input,
                received,
                ..
            } => {
                let word = words.word(*input);
                while word.load(Ordering::Acquire) == *received {
                    wait_while(word, *received)?;
                }
                *received = received.wrapping_add(1);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let eight_only = Mechanism::EventCounter.message(7);
        eight_only.expect_err("it carries 8 bytes");
    }
}
