//! The receiver that files are sent to: in a thread of this process, or on another machine.

use super::levels::{PLAIN, Pair};
use super::link::Link;
use crate::other_core::cpu_of_another_core;
use ::transfer::method::ReceiveMethod;
use ::transfer::protocol::FileName;
use ::transfer::receiver::{self, Receiver};
use ::transfer::sender::{self, Contents, Item, Session};
use ::transfer::{Cover, Error, Limits, Suite, Timing, Token, USUAL_PATIENCE};
use instrument::experiment::MeasureError;
use instrument::quantity::{BytesPerSecond, Nanoseconds};
use instrument::sampler::Sampler;
use platform::placement::{current_cpu, pin_to};
use platform::signal::ignore_sigpipe;
use platform::socket::reports_owners;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The file's name on its way; the receiver stores it under a name of its own.
const NAME: &str = "measured";
/// A receiver on another machine is given up after this silence, well before the run would give
/// up the waiting process.
const PATIENCE: Duration = Duration::from_secs(5);

/// A receiver that measures with this process.
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
                sampler.remark(told(&link));
                Self::elsewhere(&link.address, link.token_file.as_deref(), stop).map_err(failed)
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
fn told(link: &Link) -> String {
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
    /// Has the receiver delete the previous file, so that the next target is a new file. It is sent and
    /// received by the methods of `pair`. Returns the room for it, in bytes.
    pub(super) fn prepare(&mut self, pair: Pair) -> Result<u64, Error> {
        self.0.use_method(pair.sender)?;
        self.0.prepare(pair.receiver)
    }

    /// Sends a file and waits until it is there; tells the receiver's account of it.
    pub(super) fn transfer(
        &mut self,
        size: u64,
        contents: Contents<'_>,
    ) -> Result<Timing, MeasureError> {
        let item = Item {
            id: 0,
            name: FileName::new(NAME.as_bytes()).expect("it is a plain word"),
            size: Some(size),
            part: (1, 0),
            resume: false,
            mode: None,
            modified: None,
        };
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
        // All samples are handed on already.
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
