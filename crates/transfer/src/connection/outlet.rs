//! The sending direction of a connection.

use super::patience::{Life, Patience, Retry};
use crate::Limits;
use crate::cover::{Check, Cover, Guard, Keys};
use crate::error::Result;
use crate::protocol::{Frame, GREETING_BYTES, HEAD_BYTES, HEADER_BYTES, Header};
use platform::socket::{self, on_their_way};
use std::io::{self, IoSlice};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Frames and small data are gathered up to this size before they are sent.
const GATHERED: usize = 64 << 10;
/// Larger data is sent from its own memory, without a copy.
const LARGEST_GATHERED: usize = 32 << 10;

/// The sending direction of a connection.
pub(crate) struct Outlet {
    pub(crate) line: Line,
    queue: Arc<Mutex<Queue>>,
    life: Arc<Life>,
    pulse: Option<Pulse>,
}

/// The socket, and the patience with which it is written to.
pub(crate) struct Line {
    pub(crate) socket: Arc<TcpStream>,
    pub(crate) patience: Patience,
}

impl Outlet {
    pub(super) fn new(socket: TcpStream, limits: Limits, life: Arc<Life>) -> Self {
        let queue = Queue::with_capacity(GATHERED);
        Self {
            line: Line {
                socket: Arc::new(socket),
                patience: Patience::new(limits, Arc::clone(&life)),
            },
            queue: Arc::new(Mutex::new(queue)),
            life,
            pulse: None,
        }
    }

    /// Reports to the peer from now on that this side is at work, whenever it sends nothing else. Where no
    /// thread can be started for that, the peer's patience has to do.
    pub(crate) fn keep_alive(&mut self) {
        let (socket, queue) = (Arc::clone(&self.line.socket), Arc::clone(&self.queue));
        self.pulse = Pulse::start(socket, queue, Arc::clone(&self.life)).ok();
    }

    /// Ends what [`Outlet::keep_alive`] began.
    pub(crate) fn fall_silent(&mut self) {
        self.pulse = None;
    }

    /// Protects all further frames in this way. The frames are bound to this greeting.
    pub(crate) fn guard(
        &mut self,
        keys: Option<Keys>,
        greeting: &[u8; GREETING_BYTES],
        contents: Cover,
    ) {
        lock(&self.queue).guard = Guard::new(keys, greeting, contents);
    }

    /// Protection of file contents.
    pub(crate) fn contents(&self) -> Cover {
        lock(&self.queue).guard.contents
    }

    /// Queues the first words, which precede all frames.
    pub(crate) fn words(&mut self, bytes: &[u8]) {
        lock(&self.queue).gathered.extend(bytes);
    }

    /// Queues a frame other than data. It is sent together with what follows.
    pub(crate) fn frame(&mut self, frame: &Frame) -> Result<()> {
        let mut queue = lock(&self.queue);
        queue.frame(frame);
        self.line.send_full(&mut queue)
    }

    /// The header and check of the next frame of data, which the caller sends itself up to
    /// [`Outlet::end_data`].
    pub(crate) fn head(&mut self, header: Header) -> [u8; HEAD_BYTES] {
        let mut queue = lock(&self.queue);
        queue.is_within_data = true;
        queue.head(header)
    }

    /// Seals the data of the frame whose header [`Outlet::head`] has just made, if contents are
    /// sealed; returns their check, if they have one.
    pub(crate) fn seal_data(&mut self, data: &mut [u8]) -> Option<Check> {
        lock(&self.queue).guard.seal_data(data)
    }

    /// Sends a frame of data; a small one is only queued. Sealing encrypts `data` in place.
    pub(crate) fn data(&mut self, header: Header, data: &mut [u8]) -> Result<()> {
        let mut queue = lock(&self.queue);
        let head = queue.head(header);
        queue.gathered.extend(head);
        let check = queue.guard.seal_data(data);
        self.line.send_data(&mut queue, data, check)
    }

    /// Like [`Outlet::data`], but leaves the data unchanged.
    pub(crate) fn data_of(&mut self, header: Header, data: &[u8]) -> Result<()> {
        let mut queue = lock(&self.queue);
        let head = queue.head(header);
        queue.gathered.extend(head);
        if queue.guard.contents != Cover::Sealed {
            let check = queue.guard.sum_data(data);
            return self.line.send_data(&mut queue, data, check);
        }
        let mut scratch = std::mem::take(&mut queue.scratch);
        scratch.clear();
        scratch.extend(data);
        let check = queue.guard.seal_data(&mut scratch);
        let sent = self.line.send_data(&mut queue, &scratch, check);
        queue.scratch = scratch;
        sent
    }

    /// Flushes what is gathered and sends the header of a frame whose data the caller sends
    /// directly, up to [`Outlet::end_data`].
    pub(crate) fn begin_data(&mut self, header: Header) -> Result<()> {
        let head = self.head(header);
        lock(&self.queue).gathered.extend(head);
        self.flush_for_more()
    }

    /// The check of the data of the frame that has begun, if they have one. They are not sealed.
    pub(crate) fn sum_data(&self, data: &[u8]) -> Option<Check> {
        lock(&self.queue).guard.sum_data(data)
    }

    /// Ends a frame whose data the caller has sent directly, with the check that is still to be sent.
    pub(crate) fn end_data(&mut self, check: Option<Check>) {
        let mut queue = lock(&self.queue);
        queue.gathered.extend(check.into_iter().flatten());
        queue.is_within_data = false;
    }

    /// Number of bytes gathered but not yet sent.
    pub(crate) fn gathered(&self) -> usize {
        lock(&self.queue).gathered.len()
    }

    /// Sends everything gathered so far.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.line
            .send_gathered(&mut lock(&self.queue), &[], &[], false)
    }

    /// Sends everything gathered so far, marked so that it shares packets with the data that the
    /// caller sends next.
    pub(crate) fn flush_for_more(&mut self) -> Result<()> {
        self.line
            .send_gathered(&mut lock(&self.queue), &[], &[], true)
    }

    /// Sends directly with `call`; everything gathered must be flushed. Returns the number of bytes
    /// sent.
    pub(crate) fn send(
        &mut self,
        call: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Result<usize> {
        self.line.send(call)
    }

    /// Repeats a call until it succeeds or must be given up.
    pub(crate) fn patiently<T>(
        &mut self,
        mut call: impl FnMut(&TcpStream) -> io::Result<T>,
    ) -> Result<T> {
        let Line { socket, patience } = &mut self.line;
        patience.until_done(|| call(socket))
    }

    /// Like [`Outlet::send`], for calls that retry by themselves and ask whether they should.
    pub(crate) fn send_retrying(
        &mut self,
        call: impl FnOnce(&TcpStream, Retry<'_>) -> io::Result<usize>,
    ) -> Result<usize> {
        let Line { socket, patience } = &mut self.line;
        let count = patience.retrying(|retry| call(socket, retry))?;
        patience.moved(count);
        Ok(count)
    }

    /// Announces to the peer that nothing more follows.
    pub(crate) fn close(&self) {
        // Closing a lost connection fails, and that does no harm.
        let _ = self.line.socket.shutdown(Shutdown::Write);
    }
}

impl Line {
    /// Sends what is gathered once it is enough for a call.
    fn send_full(&mut self, queue: &mut Queue) -> Result<()> {
        if queue.gathered.len() >= GATHERED {
            self.send_gathered(queue, &[], &[], false)?;
        }
        Ok(())
    }

    fn send_data(&mut self, queue: &mut Queue, data: &[u8], check: Option<Check>) -> Result<()> {
        let check = check.as_ref().map_or(&[][..], |check| check);
        if data.len() <= LARGEST_GATHERED {
            queue.gathered.extend(data);
            queue.gathered.extend(check);
            return self.send_full(queue);
        }
        self.send_gathered(queue, data, check, false)
    }

    /// Sends what is gathered, then `data`, then `check`, in as few calls as possible.
    fn send_gathered(
        &mut self,
        queue: &mut Queue,
        data: &[u8],
        check: &[u8],
        more: bool,
    ) -> Result<()> {
        let mut parts = [&queue.gathered[..], data, check].map(IoSlice::new);
        let mut parts = &mut parts[..];
        IoSlice::advance_slices(&mut parts, 0);
        let mut sent = Ok(());
        while !parts.is_empty() {
            match self.send(|socket| send_parts(socket, parts, data, more)) {
                Ok(count) => IoSlice::advance_slices(&mut parts, count),
                Err(error) => {
                    sent = Err(error);
                    break;
                }
            }
        }
        queue.gathered.clear();
        sent
    }

    fn send(&mut self, mut call: impl FnMut(&TcpStream) -> io::Result<usize>) -> Result<usize> {
        let Self { socket, patience } = self;
        let count = patience.until_done(|| call(socket))?;
        patience.moved(count);
        Ok(count)
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `EFAULT`: memory that the system cannot read.
const LOST_PAGE: i32 = 14;

/// Frames that are not sent yet.
pub(super) struct Queue {
    pub(super) guard: Guard,
    pub(super) gathered: Vec<u8>,
    /// Buffer for encoding frames and for sealing data that must not be changed in place.
    pub(super) scratch: Vec<u8>,
    /// True if the data of the last frame is being sent past this queue.
    pub(super) is_within_data: bool,
}

impl Queue {
    /// An empty queue, whose frames are only summed until it gets a guard with keys.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            guard: Guard::new(None, &[0; GREETING_BYTES], Cover::Summed),
            gathered: Vec::with_capacity(bytes),
            scratch: Vec::new(),
            is_within_data: false,
        }
    }

    /// Adds a frame other than data.
    pub(super) fn frame(&mut self, frame: &Frame) {
        self.scratch.clear();
        frame.encode(&mut self.scratch);
        let (header, body) = self
            .scratch
            .split_first_chunk_mut::<HEADER_BYTES>()
            .expect("each frame has a header");
        self.gathered.extend(&*header);
        self.gathered.extend(self.guard.begin(header));
        let check = self.guard.seal(body);
        self.gathered.extend(&*body);
        self.gathered.extend(check);
    }

    /// The header and check of the next frame of data.
    pub(super) fn head(&mut self, header: Header) -> [u8; HEAD_BYTES] {
        let header = header.encode();
        let mut head = [0; HEAD_BYTES];
        head[..HEADER_BYTES].copy_from_slice(&header);
        head[HEADER_BYTES..].copy_from_slice(&self.guard.begin(&header));
        head
    }
}

/// One `sendmsg`. `data` may be part of a mapped file that has been truncated. Reading it
/// here, under the platform's protection, turns the lost pages into zeros, which can be sent; the
/// caller then notices the truncation.
pub(super) fn send_parts(
    socket: &TcpStream,
    parts: &[IoSlice<'_>],
    data: &[u8],
    more: bool,
) -> io::Result<usize> {
    match socket::send_parts(socket, parts, more) {
        Err(error) if error.raw_os_error() == Some(LOST_PAGE) => {
            std::hint::black_box(data.iter().fold(0, |sum, byte| sum ^ byte));
            Err(io::ErrorKind::Interrupted.into())
        }
        sent => sent,
    }
}

/// Time between two signs of life.
const INTERVAL: Duration = Duration::from_secs(1);

/// The thread that gives signs of life; it ends when this is dropped.
///
/// A side may be silent for long: its disk stalls, it stores to a slow device, it hashes a file to
/// resume, or it waits for another connection. The peer must not take that for a dead link, and
/// must still notice one. So this thread sends [`Frame::Working`] after each second of silence.
/// While this side itself waits for the peer, it does so only if bytes came: the peer may have
/// sent all of them long ago, and a slow line holds the rest.
pub(super) struct Pulse {
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Starts to give signs of life.
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
                let has_come = life.has_come.swap(false, Ordering::Relaxed);
                if has_come || !life.is_listening.load(Ordering::Relaxed) {
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
