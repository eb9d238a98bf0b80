//! The receiver's replies, read by a separate thread while files are sent.

use crate::Timing;
use crate::connection::{Inlet, Outlet, TICK};
use crate::error::{Error, Result};
use crate::protocol::{Frame, Malformed, Partial};
use platform::socket::on_their_way;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The outcome of a file at the receiver.
pub(super) struct Receipt {
    pub(super) id: u64,
    pub(super) timing: Timing,
    pub(super) needs_room: bool,
    pub(super) failure: Option<String>,
}

/// A reply of the receiver.
pub(super) enum Reply {
    Partial(Partial),
    Receipt(Receipt),
    Done { bytes: u64, cpu: Duration },
    Ready { room: u64, failure: Option<String> },
    Lost(Error),
}

/// The receiver's replies. The connection must be shut down before this is dropped.
pub(super) struct Replies {
    heard: mpsc::Receiver<Reply>,
    /// Number of replies requested so far.
    asked: Arc<AtomicU64>,
    /// Number of the last file that failed, plus 1.
    failed: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

impl Replies {
    /// Starts to read replies.
    pub(super) fn hear(mut inlet: Inlet) -> Result<Self> {
        inlet.listen_during_work();
        let (asked, failed) = (Arc::default(), Arc::default());
        let (sender, heard) = mpsc::channel();
        let reader = Reader {
            inlet,
            replies: sender,
            asked: Arc::clone(&asked),
            failed: Arc::clone(&failed),
        };
        let thread = thread::Builder::new().name("replies".into());
        let reader = thread.spawn(|| reader.run()).map_err(Error::Thread)?;
        Ok(Self {
            heard,
            asked,
            failed,
            reader: Some(reader),
        })
    }

    /// Announces that the receiver owes one more reply.
    pub(super) fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Forgets which file failed last: a file that is announced now may be sent for the second time.
    pub(super) fn forget_failure(&self) {
        self.failed.store(0, Ordering::Relaxed);
    }

    /// True if a file that is still being sent is known to have failed at the receiver.
    pub(super) fn has_failed(&self, id: u64) -> bool {
        self.failed.load(Ordering::Relaxed) == id + 1
    }

    /// The next reply over the connection of `outlet`; waits for it.
    pub(super) fn next(&mut self, outlet: &Outlet) -> Result<Reply> {
        let mut patience = outlet.other_patience();
        // This side may hold much of the sent data. The receiver does not count as silent while that
        // amount shrinks, nor while it reports that data from a slow line comes.
        let mut left = None;
        loop {
            let began = Instant::now();
            match self.heard.recv_timeout(TICK) {
                Ok(Reply::Lost(error)) => return Err(error),
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::PeerGone),
                Err(RecvTimeoutError::Timeout) => {
                    let before = left;
                    left = on_their_way(outlet.socket()).ok();
                    if let (Some(before), Some(left)) = (before, left) {
                        patience.moved(before.saturating_sub(left));
                    }
                    patience.after_failure(io::ErrorKind::WouldBlock.into(), began.elapsed())?;
                }
            }
        }
    }

    /// The next reply, if it has already arrived.
    pub(super) fn known(&mut self) -> Result<Option<Reply>> {
        match self.heard.try_recv() {
            Ok(Reply::Lost(error)) => Err(error),
            known => Ok(known.ok()),
        }
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            // A panic of the reader was already reported when it happened.
            let _ = reader.join();
        }
    }
}

/// Reads replies until the connection ends.
struct Reader {
    inlet: Inlet,
    replies: mpsc::Sender<Reply>,
    asked: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
}

impl Reader {
    fn run(mut self) {
        let mut replies = 0;
        loop {
            let reply = match self.inlet.frame() {
                Ok(Frame::Working) => continue,
                Ok(Frame::Partial(partial)) => Reply::Partial(partial),
                Ok(Frame::Ready { room, failure }) => Reply::Ready {
                    room,
                    failure: text(failure),
                },
                Ok(Frame::Receipt {
                    id,
                    received_ns,
                    stored_ns,
                    needs_room,
                    failure,
                }) => {
                    if !failure.is_empty() {
                        self.failed.store(id + 1, Ordering::Relaxed);
                    }
                    Reply::Receipt(Receipt {
                        id,
                        timing: Timing {
                            received: Duration::from_nanos(received_ns),
                            stored: Duration::from_nanos(stored_ns),
                        },
                        needs_room,
                        failure: text(failure),
                    })
                }
                Ok(Frame::Done { bytes, cpu_ns }) => Reply::Done {
                    bytes,
                    cpu: Duration::from_nanos(cpu_ns),
                },
                Ok(_) => Reply::Lost(Malformed::Order.into()),
                Err(error) => Reply::Lost(error),
            };
            replies += 1;
            // Unrequested replies would only fill memory.
            let reply = if replies > self.asked.load(Ordering::Relaxed) {
                match reply {
                    Reply::Lost(error) => Reply::Lost(error),
                    _ => Reply::Lost(Malformed::Number("reply").into()),
                }
            } else {
                reply
            };
            let is_last = matches!(reply, Reply::Lost(_) | Reply::Done { .. });
            if self.replies.send(reply).is_err() || is_last {
                return;
            }
        }
    }
}

/// The receiver's reason; `None` if it is empty.
fn text(reason: &str) -> Option<String> {
    (!reason.is_empty()).then(|| reason.to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Replies, Reply};
    use crate::Limits;
    use crate::connection::both;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(2);

    #[test]
    fn a_receiver_that_says_nothing_is_waited_for_while_sent_data_leaves_this_side() {
        static STOP: AtomicBool = AtomicBool::new(false);
        /// In three times the patience; the last part stays.
        const PARTS: usize = 60;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let limits = Limits {
            patience: PATIENCE,
            stop: &STOP,
        };
        let (_, outlet) = both(&near, limits).unwrap();
        near.set_nonblocking(true).unwrap();
        let mut sent = 0;
        while let Ok(count) = near.write(&[0; 8 << 10]) {
            sent += count;
        }
        let (sender, heard) = mpsc::channel();
        let mut replies = Replies {
            heard,
            asked: Arc::default(),
            failed: Arc::default(),
            reader: None,
        };
        thread::scope(|scope| {
            let far = &mut far;
            scope.spawn(move || {
                let mut part = vec![0; sent / (PARTS + 1)];
                for _ in 0..PARTS {
                    far.read_exact(&mut part).unwrap();
                    thread::sleep(3 * PATIENCE / PARTS as u32);
                }
                let ready = Reply::Ready {
                    room: 0,
                    failure: None,
                };
                assert!(sender.send(ready).is_ok());
            });
            assert!(matches!(replies.next(&outlet), Ok(Reply::Ready { .. })));
        });
    }
}
