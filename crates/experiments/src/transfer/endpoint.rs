//! The receiver that files are sent to: in a thread of this process, or on another machine.

use super::levels::{PLAIN, Pair};
use crate::other_core::cpu_of_another_core;
use ::transfer::method::ReceiveMethod;
use ::transfer::protocol::{FileName, Part};
use ::transfer::receiver::{self, Receiver};
use ::transfer::sender::{self, Contents, Session};
use ::transfer::{Cover, Error, Limits, Suite, Timing, Token, USUAL_PATIENCE};
use instrument::experiment::MeasureError;
use instrument::given::{Given, Taken};
use instrument::quantity::{BytesPerSecond, Nanoseconds};
use instrument::sampler::Sampler;
use platform::placement::{current_cpu, pin_to};
use platform::signal::ignore_sigpipe;
use platform::socket::reports_owners;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

/// The file's name on its way; the receiver stores it under a name of its own.
const NAME: &str = "measured";
/// A receiver on another machine is given up after this silence, well before the run would give
/// up the waiting process.
const PATIENCE: Duration = Duration::from_secs(5);

/// A receiver of files that are sent to measure their transfer.
pub(super) struct Endpoint {
    address: String,
    token: Option<Token>,
    cover: Cover,
    limits: Limits,
    /// Held while the receiver runs here.
    _here: Option<Here>,
}

impl Endpoint {
    /// A receiver on another machine if the run has one, else in this process.
    pub(super) fn start(sampler: &mut Sampler<'_>) -> Result<Self, MeasureError> {
        // If the receiver fails, the sender gets an error instead of a signal.
        ignore_sigpipe();
        // Leaked: it must outlive every thread that reads it, and the process ends soon.
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        match sampler.given::<Link>()? {
            Some(link) => {
                sampler.remark(description(&link));
                Self::elsewhere(&link.address, link.token_file.as_ref().map(Path::new), stop)
                    .map_err(failed)
            }
            None => Self::here(sampler, stop),
        }
    }

    /// The receiver that listens at `address`.
    pub(super) fn elsewhere(
        address: &str,
        token_file: Option<&Path>,
        stop: &'static AtomicBool,
    ) -> Result<Self, Error> {
        let token = token_file.map(Token::read).transpose()?;
        Ok(Self {
            address: address.to_owned(),
            cover: match token {
                Some(_) => Cover::Sealed,
                None => Cover::Summed,
            },
            token,
            limits: Limits {
                patience: PATIENCE,
                stop,
            },
            _here: None,
        })
    }

    /// A receiver on another core than this thread's, if there is one.
    fn here(sampler: &mut Sampler<'_>, stop: &'static AtomicBool) -> Result<Self, MeasureError> {
        let here = current_cpu().unwrap_or(0);
        pin_to(&[here])?;
        let there = cpu_of_another_core()?;
        sampler.remark(match there {
            Some(there) => format!(
                "from processor {here} to {there}; {}",
                protection(Cover::Summed)
            ),
            None => format!(
                "sender and receiver share the only core that may be used here; {}",
                protection(Cover::Summed)
            ),
        });
        let directory = sampler
            .scratch()
            .join(format!("received {}", std::process::id()));
        fs::create_dir(&directory).map_err(MeasureError::system("make a directory"))?;
        let mut receiving = Here {
            directory: directory.clone(),
            stop,
            thread: None,
        };
        let limits = Limits {
            patience: USUAL_PATIENCE,
            stop,
        };
        let token = token_within_process().map_err(failed)?;
        let options = receiver::Options {
            directory: Some(directory),
            measures: true,
            method: Some(ReceiveMethod::File),
            token: token.clone(),
            insecure: false,
            unsealed: true,
            allow_hidden: false,
            max_size: u64::MAX,
            max_files: u64::MAX,
            max_partial: 0,
            max_connections: 1,
            fsync: false,
            force: false,
            limits,
            progress: Arc::default(),
        };
        let receiver = Receiver::bind("127.0.0.1:0", options).map_err(failed)?;
        let address = receiver.address().map_err(failed)?;
        let thread = std::thread::Builder::new().name("receiver".into());
        let thread = thread.spawn(move || {
            // Pinning is best effort: an unpinned receiver makes the remark wrong, not the numbers.
            let _ = pin_to(&[there.unwrap_or(here)]);
            // The sender notices if the receiver fails.
            let _ = receiver.serve(true, &|_| {});
        });
        let thread = thread.map_err(MeasureError::system("start a thread"))?;
        receiving.thread = Some(thread);
        Ok(Self {
            address: address.to_string(),
            token,
            cover: Cover::Summed,
            limits,
            _here: Some(receiving),
        })
    }

    /// A connection to it.
    pub(super) fn connect(&self) -> Result<Connection, Error> {
        let options = sender::Options {
            method: PLAIN.sender,
            cover: self.cover,
            token: self.token.clone(),
            insecure: false,
            limits: self.limits,
            progress: Arc::default(),
        };
        Session::connect(&self.address, &options, [0; 16], (0, 1)).map(Connection)
    }
}

/// A token for both ends in this process, where the system does not report that they have the same
/// owner.
fn token_within_process() -> Result<Option<Token>, Error> {
    if reports_owners() {
        return Ok(None);
    }
    let text = Token::random_text()?;
    let token = Token::new(text.as_bytes()).expect("a new token is long enough");
    Ok(Some(token))
}

/// The remark on the link to another machine.
fn description(link: &Link) -> String {
    format!(
        "to {}: a round trip took {:.3} and a file went at {:.3} before the run; {}",
        link.address,
        Nanoseconds::from(link.round_trip),
        BytesPerSecond(link.bytes_per_second),
        protection(link.cover()),
    )
}

/// The protection of contents, for a reader of the numbers.
fn protection(cover: Cover) -> &'static str {
    match (cover, Suite::usual()) {
        (Cover::Sealed, Suite::Aes) => "sealed by AES-256-GCM",
        (Cover::Sealed, Suite::ChaCha) => "sealed by ChaCha20-Poly1305",
        (Cover::Summed, _) => "summed by XXH3",
        (Cover::Bare, _) => "neither sealed nor summed",
    }
}

/// The receiver in this process, until this is dropped.
struct Here {
    directory: PathBuf,
    stop: &'static AtomicBool,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Here {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // The thread returns nothing.
            let _ = thread.join();
        }
        // The sweep of the scratch directory removes the rest.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A connection over which one file after the other is measured.
pub(super) struct Connection(Session);

impl Connection {
    /// Has the receiver delete the previous file, so that the next one is new. That one is sent and received by
    /// the methods of `pair`. Returns the room for it, in bytes.
    pub(super) fn prepare(&mut self, pair: Pair) -> Result<u64, Error> {
        self.0.use_method(pair.sender)?;
        self.0.prepare(pair.receiver)
    }

    /// Sends a file and waits until it is there; returns the receiver's account of it.
    pub(super) fn transfer(
        &mut self,
        size: u64,
        contents: Contents<'_>,
    ) -> Result<Timing, MeasureError> {
        let name = FileName::new(NAME.as_bytes()).expect("it is a plain word");
        let item = Part::file(0, name, Some(size));
        self.0.send(&item, contents).map_err(failed)?;
        let outcome = self.0.outcome().map_err(failed)?;
        let (_, outcome) = outcome.ok_or_else(|| failed(Error::PeerGone))?;
        match outcome.failure {
            None => Ok(outcome.timing),
            Some(reason) => Err(MeasureError::System {
                action: "receive a file".into(),
                source: io::Error::other(reason),
            }),
        }
    }

    /// Says goodbye, so that the receiver does not take the connection for lost.
    pub(super) fn close(self) {
        // All samples are recorded already.
        let _ = self.0.finish();
    }
}

pub(super) fn failed(error: Error) -> MeasureError {
    match error {
        Error::Unready(_) | Error::Unsealable(_) => MeasureError::Unsupported(error.to_string()),
        _ => MeasureError::System {
            action: "transfer a file".into(),
            source: io::Error::other(error),
        },
    }
}

/// A receiver on another machine, and the speed of the connection measured before the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Address of the receiver: `HOST:PORT`.
    pub address: String,
    /// File with the shared token.
    pub token_file: Option<OsString>,
    /// Time from a request to its answer.
    pub round_trip: Duration,
    /// Throughput of a file transfer.
    pub bytes_per_second: f64,
    /// The largest file that fits on the receiver, in bytes.
    pub room_bytes: u64,
}

impl Given for Link {
    const TAKEN: Taken = Taken {
        option: "--to",
        purpose: "names where `transfer.file` sends its files",
        example: "oscope run transfer --to HOST:PORT",
        without: None,
    };
}

impl Link {
    /// Approximate transfer time of a file of `size` bytes.
    pub(super) fn time_of(&self, size: u64) -> Duration {
        // An upper bound keeps the duration finite if the throughput is close to zero.
        let longest = Duration::from_hours(24);
        let seconds = size as f64 / self.bytes_per_second;
        let data = Duration::try_from_secs_f64(seconds).unwrap_or(longest);
        self.round_trip + data.min(longest)
    }

    /// The protection of contents on their way: a seal where there is a token.
    pub(super) fn cover(&self) -> Cover {
        if self.token_file.is_some() {
            Cover::Sealed
        } else {
            Cover::Summed
        }
    }
}

/// Requests for the round trip; the fastest counts.
const QUESTIONS: u32 = 5;
/// Transfers of each size. The fastest counts, since the others waited for other work.
const FILES: u32 = 3;
/// File sizes grow by fours, from one that suits a slow link, until a transfer takes this long.
const LONG_ENOUGH: Duration = Duration::from_millis(100);
const SMALLEST: u64 = 4 << 10;
const LARGEST: u64 = 64 << 20;

/// Measures the link to the receiver at `address`: round trip, speed of a file, and room for
/// files. Raising `stop` ends that.
///
/// # Errors
/// The reason why nothing can be measured there, as a sentence.
pub fn link(
    address: &str,
    token_file: Option<&Path>,
    stop: &'static AtomicBool,
) -> Result<Link, String> {
    let of_receiver = |error: &dyn fmt::Display| format!("the receiver at {address}: {error}");
    let reason = |error: Error| match error {
        Error::Connect { .. } => error.to_string(),
        other => of_receiver(&other),
    };
    let endpoint = Endpoint::elsewhere(address, token_file, stop).map_err(reason)?;
    let mut connection = endpoint.connect().map_err(reason)?;
    let mut round_trip = Duration::MAX;
    let mut room_bytes = 0;
    for _ in 0..QUESTIONS {
        let asked = Instant::now();
        room_bytes = connection.prepare(PLAIN).map_err(reason)?;
        round_trip = round_trip.min(asked.elapsed());
    }
    let mut send = |size| -> Result<Duration, MeasureError> {
        let mut fastest = Duration::MAX;
        for _ in 0..FILES {
            connection.prepare(PLAIN).map_err(failed)?;
            let began = Instant::now();
            connection.transfer(size, Contents::Zeros)?;
            fastest = fastest.min(began.elapsed());
        }
        Ok(fastest)
    };
    let mut size = SMALLEST;
    let time = loop {
        let time = send(size).map_err(|error| of_receiver(&error))?;
        if time >= LONG_ENOUGH || size * 4 > LARGEST.min(room_bytes) {
            break time;
        }
        size *= 4;
    };
    connection.close();
    let data = time.saturating_sub(round_trip).max(Duration::from_nanos(1));
    Ok(Link {
        address: address.to_owned(),
        token_file: token_file.map(|file| file.as_os_str().to_owned()),
        round_trip,
        bytes_per_second: size as f64 / data.as_secs_f64(),
        room_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_file_takes_a_round_trip_and_the_time_of_its_bytes() {
        let link = |bytes_per_second| Link {
            address: "there:5735".into(),
            token_file: None,
            round_trip: Duration::from_millis(2),
            bytes_per_second,
            room_bytes: 0,
        };
        assert_eq!(link(1000.0).time_of(500), Duration::from_millis(502));
        assert!(link(0.0).time_of(1) >= Duration::from_hours(1));
    }

    #[test]
    fn an_address_without_a_receiver_is_reported_with_the_reason() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it listens").to_string();
        // No path leads through a file.
        let nowhere = Some(Path::new("/dev/null/nowhere"));
        let reason = link(&address, nowhere, &STOP).expect_err("no token");
        assert!(reason.contains("/nowhere"), "{reason}");
        let stranger = std::thread::spawn(move || drop(listener.accept()));
        let reason = link(&address, None, &STOP).expect_err("it hangs up");
        assert!(reason.contains(&address), "{reason}");
        testing::joined("the stranger", stranger);
        let reason = link(&address, None, &STOP).expect_err("nobody listens");
        assert!(reason.contains("cannot connect"), "{reason}");
    }
}
