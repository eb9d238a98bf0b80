//! The receiver that files are sent to, in a thread of this process.

use ::transfer::method::{ReceiveMethod, SendMethod};
use ::transfer::protocol::FileName;
use ::transfer::receiver::{self, Receiver};
use ::transfer::sender::{self, Item, Session};
use ::transfer::{Checksum, Error, Limits, Timing, USUAL_PATIENCE};
use instrument::experiment::MeasureError;
use instrument::sampler::Sampler;
use platform::placement::{cpu_of_another_core, current_cpu, pin_to};
use platform::signal::ignore_sigpipe;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The name of what is received.
const NAME: &str = "received";

/// A receiver, until it is dropped.
pub(super) struct Endpoint {
    address: SocketAddr,
    directory: PathBuf,
    stop: &'static AtomicBool,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// A receiver on another core than this thread's, if there is one.
    pub(super) fn start(
        sampler: &mut Sampler<'_>,
        method: ReceiveMethod,
    ) -> Result<Self, MeasureError> {
        // A receiver that fails is the sender's error, not its end.
        ignore_sigpipe();
        let here = current_cpu().unwrap_or(0);
        pin_to(&[here])?;
        let there = cpu_of_another_core()?;
        sampler.remark(match there {
            Some(there) => format!("from processor {here} to {there}"),
            None => "sender and receiver share the only core that may be used here".into(),
        })?;
        let directory = sampler
            .scratch()
            .join(format!("{NAME} {}", std::process::id()));
        fs::create_dir(&directory).map_err(MeasureError::system("make a directory"))?;
        // Outlives every thread that looks at it, and the process is over soon.
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let options = receiver::Options {
            directory: Some(directory.clone()),
            method,
            token: None,
            max_size: u64::MAX,
            max_files: u64::MAX,
            max_connections: 1,
            fsync: false,
            force: false,
            limits: Limits {
                patience: USUAL_PATIENCE,
                stop,
            },
            progress: Arc::default(),
        };
        let receiver = Receiver::bind("127.0.0.1:0", options).map_err(failed)?;
        let address = receiver.address().map_err(failed)?;
        let thread = std::thread::spawn(move || {
            // Where it may not be pinned, it runs where it can; the remark then says too much, the
            // numbers do not.
            let _ = pin_to(&[there.unwrap_or(here)]);
            // A receiver that fails is noticed by the sender.
            let _ = receiver.serve(false, &|_| {});
        });
        Ok(Self {
            address,
            directory,
            stop,
            thread: Some(thread),
        })
    }

    /// A connection to it.
    pub(super) fn connect(&self, method: SendMethod) -> Result<Session, MeasureError> {
        let options = sender::Options {
            method,
            checksum: Checksum::Xxh3,
            token: None,
            limits: Limits {
                patience: USUAL_PATIENCE,
                stop: self.stop,
            },
            progress: Arc::default(),
        };
        Session::connect(&self.address.to_string(), &options, [0; 16], (0, 1)).map_err(failed)
    }

    /// Removes what was received, so that the next target is a new file.
    pub(super) fn clear(&self) -> Result<(), MeasureError> {
        match fs::remove_file(self.directory.join(NAME)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(MeasureError::system("remove what was received")(error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell.
            let _ = thread.join();
        }
        // The run's scratch directory is removed as a whole in the end.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// What is said of a file of this size.
pub(super) fn item(size: u64) -> Item<'static> {
    Item {
        id: 0,
        name: FileName::new(NAME.as_bytes()).expect("it is a plain word"),
        size: Some(size),
        part: (1, 0),
        resume: false,
        mode: None,
        modified: None,
    }
}

/// Waits until the file that was sent is there, and tells the receiver's account of it.
pub(super) fn transferred(session: &mut Session) -> Result<Timing, MeasureError> {
    let outcome = session.outcome().map_err(failed)?;
    let (_, outcome) = outcome.ok_or_else(|| failed(Error::PeerGone))?;
    match outcome.failure {
        None => Ok(outcome.timing),
        Some(reason) => Err(MeasureError::System {
            action: "receive a file".into(),
            source: io::Error::other(reason),
        }),
    }
}

pub(super) fn failed(error: Error) -> MeasureError {
    MeasureError::System {
        action: "transfer a file".into(),
        source: io::Error::other(error),
    }
}
