//! The receiver's replies, read by a separate thread while files are sent.

use crate::connection::{Inlet, Outlet, TICK};
use crate::error::{Error, Result};
use crate::protocol::{Frame, Malformed};
use platform::socket::on_their_way;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// A reply of the receiver, or the error that ended the connection.
type Reply = Result<Frame>;

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
        inlet.patience.listen_during_work();
        let (asked, failed) = (Arc::default(), Arc::default());
        let (sender, heard) = mpsc::channel();
        let thread = thread::Builder::new().name("replies".into());
        let reader = thread.spawn({
            let (asked, failed) = (Arc::clone(&asked), Arc::clone(&failed));
            move || read(inlet, &sender, &asked, &failed)
        });
        Ok(Self {
            heard,
            asked,
            failed,
            reader: Some(reader.map_err(Error::Thread)?),
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
    pub(super) fn next(&mut self, outlet: &Outlet) -> Reply {
        let mut patience = outlet.line.patience.another();
        // This side may hold much of the sent data. The receiver does not count as silent while that
        // amount shrinks, nor while it reports that data from a slow line comes.
        let mut left = None;
        loop {
            let began = Instant::now();
            match self.heard.recv_timeout(TICK) {
                Ok(reply) => return reply,
                Err(RecvTimeoutError::Disconnected) => return Err(Error::PeerGone),
                Err(RecvTimeoutError::Timeout) => {
                    let before = left;
                    left = on_their_way(&outlet.line.socket).ok();
                    if let (Some(before), Some(left)) = (before, left) {
                        patience.moved(before.saturating_sub(left));
                    }
                    patience.after_failure(io::ErrorKind::WouldBlock.into(), began.elapsed())?;
                }
            }
        }
    }

    /// The next reply, if it has already arrived.
    pub(super) fn known(&mut self) -> Result<Option<Frame>> {
        self.heard.try_recv().ok().transpose()
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
fn read(mut inlet: Inlet, heard: &mpsc::Sender<Reply>, asked: &AtomicU64, failed: &AtomicU64) {
    let mut replies = 0;
    loop {
        let mut reply = match inlet.frame() {
            Ok(Frame::Working) => continue,
            reply => reply,
        };
        if let Ok(Frame::Receipt { id, failure, .. }) = &reply
            && !failure.is_empty()
        {
            failed.store(id + 1, Ordering::Relaxed);
        }
        replies += 1;
        // Unrequested replies would only fill memory.
        if reply.is_ok() && replies > asked.load(Ordering::Relaxed) {
            reply = Err(Malformed::Number("reply").into());
        }
        let is_last = matches!(reply, Err(_) | Ok(Frame::Done { .. }));
        if heard.send(reply).is_err() || is_last {
            return;
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Replies;
    use crate::Limits;
    use crate::connection::both;
    use crate::protocol::Frame;
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
                assert!(sender.send(Ok(Frame::Bye)).is_ok());
            });
            assert!(matches!(replies.next(&outlet), Ok(Frame::Bye)));
        });
    }
}
