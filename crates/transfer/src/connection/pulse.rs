//! Tells the peer that this side is at work, while it says nothing else.
//!
//! A side may be silent for long: its disk stalls, it stores to a slow device, it hashes a file to
//! resume, or it waits for another connection. The peer must not take that for a dead link, and
//! must still notice one. So a thread says [`Frame::Working`] whenever a second has passed in
//! silence. While this side itself waits for the peer, it says so only if bytes came: the peer may have
//! sent all of them long ago, and a slow line holds the rest.

use super::life::Life;
use super::queue::{Queue, send_parts};
use crate::protocol::Frame;
use platform::socket::on_their_way;
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two signs of life.
const INTERVAL: Duration = Duration::from_secs(1);

/// The thread that gives signs of life; it ends when this is dropped.
pub(super) struct Pulse {
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Starts to give signs of life.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn start(
        socket: Arc<TcpStream>,
        queue: Arc<Mutex<Queue>>,
        life: Arc<Life>,
    ) -> io::Result<Self> {
        let (end, ends) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("pulse".into());
        let thread = thread.spawn(move || {
            while ends.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // Asked in any case: each call looks back to the last one.
                if life.has_come() || !life.is_listening() {
                    beat(&socket, &queue);
                }
            }
        })?;
        Ok(Self {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported when it happened.
            let _ = thread.join();
        }
    }
}

/// One sign of life, unless something else is on its way.
fn beat(socket: &TcpStream, queue: &Mutex<Queue>) {
    let mut queue = match queue.try_lock() {
        Ok(queue) => queue,
        Err(TryLockError::Poisoned(queue)) => PoisonError::into_inner(queue),
        // Something is being sent right now.
        Err(TryLockError::WouldBlock) => return,
    };
    let is_busy = on_their_way(socket).map_or(true, |bytes| bytes > 0);
    if is_busy || queue.is_within_data {
        return;
    }
    queue.frame(&Frame::Working);
    // The socket has room for this, since nothing else is on its way. If the connection has failed,
    // its next user meets the failure, too.
    if let Ok(sent) = send_parts(socket, &[IoSlice::new(&queue.gathered)], &[], false) {
        queue.gathered.drain(..sent);
    }
}
