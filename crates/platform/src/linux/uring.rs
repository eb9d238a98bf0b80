//! A ring of operations (`io_uring(7)`) with the memory that the kernel uses for them: what all rings
//! of this crate have in common.

use std::io;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, opcode, squeue};

use crate::error::{Error, Result};

/// The largest number of operations in flight.
const DEEPEST: u32 = 4096;
/// The number of the request that cancels all operations.
const CANCEL: u64 = u64::MAX;

/// A ring with a fixed number of slots, each for one operation in flight. Dropping it cancels its
/// operations.
pub(super) struct Uring<M> {
    ring: IoUring,
    /// The kernel uses it while operations are in flight.
    memory: ManuallyDrop<M>,
    /// The slots without an operation.
    free: Vec<u16>,
    in_flight: u32,
    patience: Option<Duration>,
}

impl<M> Uring<M> {
    /// A ring of `depth` slots, from 1 to 4096, and the memory for this number of slots. When the
    /// ring is dropped, cancelled operations have `patience` to end, or as long as they take.
    pub(super) fn new(
        depth: u32,
        memory: impl FnOnce(u16) -> Result<M>,
        patience: Option<Duration>,
    ) -> Result<Self> {
        let depth = depth.clamp(1, DEEPEST);
        let ring = set_up(depth)?;
        let depth = depth as u16;
        Ok(Self {
            ring,
            memory: ManuallyDrop::new(memory(depth)?),
            free: (0..depth).collect(),
            in_flight: 0,
            patience,
        })
    }

    pub(super) fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    #[inline]
    pub(super) fn memory(&self) -> &M {
        &self.memory
    }

    #[inline]
    pub(super) fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Operations that are queued and not yet taken back.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Queues the operation that `entry` describes for a free slot.
    ///
    /// # Safety
    /// Everything that the entry points to belongs to the ring's memory, at an address that does not
    /// change, and nothing accesses it until [`Uring::take`] returns the slot.
    #[inline]
    pub(super) unsafe fn queue(&mut self, entry: impl FnOnce(u16, &mut M) -> squeue::Entry) {
        let slot = self.free.pop();
        let slot = slot.expect("no more operations at a time than the ring is for");
        let entry = entry(slot, &mut self.memory).user_data(slot.into());
        // SAFETY: the caller's contract; `drop` keeps the memory for as long as the kernel uses it.
        unsafe { self.ring.submission().push(&entry) }
            .expect("the queue has as many entries as there are slots");
        self.in_flight += 1;
    }

    /// Submits what is queued, and waits until `wait_for` operations are complete.
    #[inline]
    pub(super) fn submit(&self, wait_for: u32) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(wait_for as usize) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome.map(drop),
            }
        }
    }

    /// Submits what is queued, and waits until an operation is complete: with
    /// [`io::ErrorKind::WouldBlock`] not longer than `timeout`, and with
    /// [`io::ErrorKind::Interrupted`] not longer than to the next signal.
    pub(super) fn submit_within(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec::from(timeout);
        let arguments = SubmitArgs::new().timespec(&timeout);
        match self.submitter().submit_with_args(1, &arguments) {
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            outcome => outcome.map(drop),
        }
    }

    /// The slot of a complete operation, which is free again, and the number of bytes that it moved
    /// or its error; `None` if no operation is complete.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(u16, io::Result<usize>)> {
        let mut complete = self.ring.completion();
        let entry = complete.find(|entry| entry.user_data() != CANCEL)?;
        let slot = entry.user_data() as u16;
        self.free.push(slot);
        self.in_flight -= 1;
        let moved = usize::try_from(entry.result())
            .map_err(|_| io::Error::from_raw_os_error(-entry.result()));
        Some((slot, moved))
    }

    /// Cancels all operations; true if all have ended.
    fn cancel(&mut self) -> bool {
        let deadline = self.patience.map(|patience| Instant::now() + patience);
        // The queue may be full, so its entries go to the kernel first.
        if self.in_flight > 0 && self.submit(0).is_ok() {
            let entry = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
            // If the queue is full all the same, the operations end by themselves.
            // SAFETY: a cancel request has no pointers.
            let _ = unsafe { self.ring.submission().push(&entry.user_data(CANCEL)) };
        }
        while self.in_flight > 0 {
            let waited = match deadline.map(|end| end.saturating_duration_since(Instant::now())) {
                None => self.submit(1),
                Some(Duration::ZERO) => break,
                Some(left) => self.submit_within(left),
            };
            match waited {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
                _ => while self.take().is_some() {},
            }
        }
        self.in_flight == 0
    }
}

impl<M> Drop for Uring<M> {
    fn drop(&mut self) {
        // Otherwise the kernel may still use the memory, so it is leaked.
        if self.cancel() {
            // SAFETY: no operation is in flight, and the memory is not used again.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

/// A ring for one thread, which processes completions only when that thread asks for them (Linux
/// 6.1). Older kernels get a ring without these options.
fn set_up(depth: u32) -> Result<IoUring> {
    let refined = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth);
    let ring = match refined {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => IoUring::new(depth),
        outcome => outcome,
    };
    ring.map_err(|error| match error.raw_os_error() {
        Some(libc::ENOSYS) => Error::NotSupported("io_uring"),
        Some(libc::EPERM | libc::EACCES) => Error::NotPermitted {
            what: "io_uring",
            needs: "kernel.io_uring_disabled to be 0, and no sandbox that forbids it",
        },
        _ => Error::os("set up io_uring")(error),
    })
}
