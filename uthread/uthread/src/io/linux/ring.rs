//! Transfers through `io_uring(7)`.

use core::sync::atomic::{Ordering, fence};
use core::time::Duration;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::cqueue::sock_nonempty;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::receive::EmptySockets;
use super::request::Request;
use crate::io::in_flight::Operation;
use crate::thread::Control;
use crate::worker::{Event, Shared};

const ENTRIES: u32 = 256;

/// Submits the waiting requests together: at this many requests, ...
const BATCH: usize = 32;
/// ... after this many thread switches since the first, or when no other thread is ready.
const PATIENCE: u32 = 64;

/// User data of the poll on the bell, and of all cancellations. No operation has these addresses.
const BELL: u64 = 0;
const CANCELLATION: u64 = 1;

/// The kernel waits before it looks for bytes, where a look was for nothing: `IORING_RECVSEND_POLL_FIRST`, which is older
/// than rings that defer.
const POLL_FIRST: u16 = 1;

/// The kernel knows a request by its address.
pub(crate) struct InFlight;

impl InFlight {
    pub(crate) const fn new() -> Self {
        Self
    }
}

/// The ring of one worker.
pub(crate) struct RingDriver {
    ring: IoUring,
    receipt_flags: u16,
    queued: usize,
    waited: u32,
    bell_watched: bool,
    in_flight: usize,
    /// The kernel sets it at completions while it is enabled.
    done: Option<Event>,
    watched: bool,
    pub(super) empty_sockets: EmptySockets,
}

/// The number under which the kernel reports the end of a request: its address.
fn user_data(operation: &Operation) -> u64 {
    core::ptr::from_ref(operation).expose_provenance() as u64
}

/// A ring that posts its completions only when its worker asks for them. They do not interrupt the
/// worker one by one (`IORING_SETUP_DEFER_TASKRUN`, Linux 6.1).
fn deferring() -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .dontfork()
        .build(ENTRIES)
}

impl RingDriver {
    pub(crate) fn new(_: &Arc<Shared>, _worker: usize) -> io::Result<Self> {
        let deferring = deferring();
        Ok(Self {
            receipt_flags: if deferring.is_ok() { POLL_FIRST } else { 0 },
            ring: deferring.or_else(|_| IoUring::builder().dontfork().build(ENTRIES))?,
            queued: 0,
            waited: 0,
            bell_watched: false,
            in_flight: 0,
            done: None,
            watched: false,
            empty_sockets: EmptySockets::new(),
        })
    }

    /// Leaves the ring to the parent, in the child of a fork, which does not have its memory. Nothing may use or drop this
    /// afterwards.
    pub(crate) fn leave_to_parent(&self) {
        // SAFETY: the descriptors belong to this driver, and nothing closes them again.
        unsafe {
            libc::close(self.ring.as_raw_fd());
            if let Some(done) = &self.done {
                libc::close(done.fd());
            }
        }
    }

    /// Makes an event of finished requests, if `watch` then waits for it.
    pub(crate) fn watch(&mut self, watch: impl FnOnce(&Event) -> io::Result<()>) -> io::Result<()> {
        let event = Event::new()?;
        self.ring.completion().disable_eventfd();
        self.ring.submitter().register_eventfd(event.fd())?;
        watch(&event)?;
        self.done = Some(event);
        Ok(())
    }

    /// Enables the event if there is nothing to do by now; `true` if there is nothing.
    pub(crate) fn is_watched(&mut self) -> bool {
        if self.in_flight == 0 {
            return true;
        }
        if self.done.is_none() || self.queued > 0 {
            return false;
        }
        if !self.watched {
            self.watched = true;
            self.ring.completion().enable_eventfd();
        }
        // Either the kernel sees the event enabled, or this sees what it has done.
        fence(Ordering::SeqCst);
        !self.ring.submission().taskrun() && self.ring.completion().is_empty()
    }

    pub(crate) fn submit_waiting(&mut self) {
        if self.queued > 0 {
            self.submit();
        }
    }

    /// # Safety
    /// Same as [`Driver::push`](crate::io::Driver::push).
    pub(crate) unsafe fn push(&mut self, operation: &Operation) {
        let entry = match operation.request {
            Request::Read {
                file,
                buffer,
                bytes,
                offset,
            } => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                opcode::Read::new(Fd(file), buffer, bytes)
                    .offset(offset)
                    .build()
            }
            Request::Write {
                file,
                buffer,
                bytes,
                offset,
            } => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                opcode::Write::new(Fd(file), buffer, bytes)
                    .offset(offset)
                    .build()
            }
            Request::Receive {
                socket,
                buffer,
                bytes,
            } => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                let receipt = opcode::Recv::new(Fd(socket), buffer, bytes);
                receipt.ioprio(self.receipt_flags).build()
            }
            Request::Sync { file } => opcode::Fsync::new(Fd(file)).build(),
            Request::Poll { file, events, .. } => {
                opcode::PollAdd::new(Fd(file), events as u32).build()
            }
        };
        // SAFETY: the caller's contract.
        unsafe { self.enqueue(&entry.user_data(user_data(operation))) };
        self.in_flight += 1;
    }

    /// Asks the kernel to end a request early. Its completion then arrives soon, unless it is a
    /// transfer that the device has begun; so it is in flight as before.
    pub(crate) fn cancel(&mut self, operation: &Operation) -> bool {
        let entry = opcode::AsyncCancel::new(user_data(operation)).build();
        // SAFETY: the entry holds no pointers, only a number.
        unsafe { self.enqueue(&entry.user_data(CANCELLATION)) };
        self.submit();
        false
    }

    /// # Safety
    /// The memory that `entry` points to must stay valid until the answer arrives.
    unsafe fn enqueue(&mut self, entry: &squeue::Entry) {
        // SAFETY: the caller's contract.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.submit();
        }
        self.queued += 1;
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn submit(&mut self) {
        // An error here (EINTR, EAGAIN, EBUSY) leaves the entries in the queue. The next call
        // submits them.
        if let Ok(submitted) = self.ring.submit() {
            self.queued = self.queued.saturating_sub(submitted);
        }
        self.waited = 0;
    }

    /// Stops the event: the worker looks for finished requests by itself.
    fn unwatch(&mut self) {
        if self.watched {
            self.watched = false;
            self.ring.completion().disable_eventfd();
        }
    }

    pub(crate) fn attend(&mut self, ticks: bool, mut wake: impl FnMut(*const Control)) {
        if ticks {
            self.unwatch();
        }
        if self.ring.submission().taskrun() {
            self.submit();
        }
        for entry in self.ring.completion() {
            match entry.user_data() {
                BELL => {
                    self.bell_watched = false;
                    continue;
                }
                CANCELLATION => continue,
                _ => self.in_flight -= 1,
            }
            let operation =
                core::ptr::with_exposed_provenance::<Operation>(entry.user_data() as usize);
            // SAFETY: the address of an operation in flight, which stays in place until its thread
            // is woken.
            let operation = unsafe { &*operation };
            operation.result.set(entry.result());
            if let Request::Receive { socket, .. } = operation.request {
                // Before Linux 5.19, it seems to be empty each time.
                let is_empty = !sock_nonempty(entry.flags());
                self.empty_sockets.set(socket, is_empty);
            }
            wake(operation.thread);
        }
        if self.queued > 0 {
            self.waited += 1;
            if self.queued >= BATCH || self.waited >= PATIENCE {
                self.submit();
            }
        }
    }

    pub(crate) fn wait(&mut self, timeout: Option<Duration>, bell: &Event, exposed: bool) {
        self.unwatch();
        // The bell of a worker that nobody else knows rings only for helper threads, of which it has none.
        if exposed && !self.bell_watched {
            let entry = opcode::PollAdd::new(Fd(bell.fd()), libc::POLLIN as u32).build();
            // SAFETY: the entry holds no pointers.
            unsafe { self.enqueue(&entry.user_data(BELL)) };
            self.bell_watched = true;
        }
        // An error (EINTR, ETIME) counts as a wake-up: the caller checks everything.
        let submitted = match timeout {
            None => self.ring.submit_and_wait(1),
            Some(timeout) => {
                let timeout = Timespec::from(timeout);
                let args = SubmitArgs::new().timespec(&timeout);
                self.ring.submitter().submit_with_args(1, &args)
            }
        };
        let left = self.ring.submission().len();
        debug_assert!(submitted.is_err() || left <= self.queued);
        self.queued = left;
        self.waited = 0;
    }
}
