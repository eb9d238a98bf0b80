use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::fs::File;
use std::marker::PhantomData;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::{io, ptr, slice};

use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, ERROR_IO_PENDING, WAIT_TIMEOUT};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, SetFileCompletionNotificationModes};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetOverlappedResult, GetQueuedCompletionStatusEx,
    OVERLAPPED, OVERLAPPED_ENTRY,
};
use windows_sys::Win32::System::Threading::INFINITE;
use windows_sys::Win32::System::WindowsProgramming::{
    FILE_SKIP_COMPLETION_PORT_ON_SUCCESS, FILE_SKIP_SET_EVENT_ON_HANDLE,
};

use super::block_io::{positioned, reopen};
use super::outcome::{check, code, owned};
use crate::error::{Error, Result};
use crate::memory::{Mapping, PageSize};
use crate::ring::{Completed, RingOptions};

/// Answers that are taken from the port at once.
const BATCH: usize = 64;

/// A separate handle for overlapped reads, and a completion port for their answers.
pub struct ReadRing<'file> {
    _file: PhantomData<&'file File>,
    file: File,
    port: OwnedHandle,
    /// The system writes into the buffers with reads in flight, so there is never a reference to all of them.
    _memory: Mapping,
    start: *mut u8,
    block_bytes: usize,
    slots: Box<[Slot]>,
    free: Vec<u16>,
    queued: Vec<u16>,
    /// Reads that the system has, and has not answered.
    pending: u32,
    done: VecDeque<(u16, io::Result<usize>)>,
}

/// A read, which has the buffer with the same number.
#[derive(Default)]
struct Slot {
    overlapped: UnsafeCell<OVERLAPPED>,
    offset: u64,
    len: u32,
}

impl<'file> ReadRing<'file> {
    pub fn new(file: &'file File, options: &RingOptions) -> Result<Self> {
        if options.registered_buffers {
            return Err(Error::NotSupported(
                "buffers that the system knows beforehand",
            ));
        }
        let depth = u16::try_from(options.depth.clamp(1, 4096)).expect("4096 is small enough");
        let file = reopen(file)?;
        let (handle, new, key) = (file.as_raw_handle(), ptr::null_mut(), 0);
        // SAFETY: the handle is open, and belongs to no port; that of the port is new.
        let port = unsafe {
            let port = CreateIoCompletionPort(handle, new, key, 1);
            owned(port, "make a completion port")?
        };
        let skipped = FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE;
        // SAFETY: the handle is open, and belongs to a port.
        let outcome = unsafe { SetFileCompletionNotificationModes(handle, skipped as u8) };
        check(outcome, "ask for answers at once")?;
        let mut memory =
            Mapping::anonymous(usize::from(depth) * options.block_bytes, PageSize::Base)?;
        memory.populate()?;
        Ok(Self {
            _file: PhantomData,
            file,
            port,
            start: memory.as_mut_slice().as_mut_ptr(),
            _memory: memory,
            block_bytes: options.block_bytes,
            slots: (0..depth).map(|_| Slot::default()).collect(),
            free: (0..depth).rev().collect(),
            queued: Vec::with_capacity(depth.into()),
            pending: 0,
            done: VecDeque::with_capacity(depth.into()),
        })
    }

    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    #[inline]
    pub fn in_flight(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    #[inline]
    pub fn queue(&mut self, offset: u64, len: usize) {
        let number = self.free.pop().expect("the caller asks for room");
        let slot = &mut self.slots[usize::from(number)];
        slot.offset = offset;
        slot.len = len.min(self.block_bytes) as u32;
        *slot.overlapped.get_mut() = positioned(offset);
        self.queued.push(number);
    }

    #[inline]
    pub fn submit(&mut self, wait_for: u32) -> Result<()> {
        for at in 0..self.queued.len() {
            self.begin(self.queued[at]);
        }
        self.queued.clear();
        let wait_for = wait_for.min(self.in_flight()) as usize;
        while self.pending > 0 {
            let enough = self.done.len() >= wait_for;
            if !self.collect(if enough { 0 } else { INFINITE })? || enough {
                break;
            }
        }
        Ok(())
    }

    fn begin(&mut self, number: u16) {
        let buffer = self.buffer(number);
        let slot = &self.slots[usize::from(number)];
        // SAFETY: the buffer has at least `len` bytes. It and the slot stay where they are until the answer is
        // there: dropping the ring waits for it.
        let outcome = unsafe {
            let (count, overlapped) = (ptr::null_mut(), slot.overlapped.get());
            ReadFile(
                self.file.as_raw_handle(),
                buffer,
                slot.len,
                count,
                overlapped,
            )
        };
        // Taken before any other call can replace it.
        let error = io::Error::last_os_error();
        let answer = match (outcome, code(&error)) {
            (0, Some(ERROR_IO_PENDING)) => {
                self.pending += 1;
                return;
            }
            // The kernel writes no answer where a read fails at once: the slot is still marked as in flight.
            (0, Some(ERROR_HANDLE_EOF)) => Ok(0),
            (0, _) => Err(error),
            _ => self.answer(number),
        };
        self.done.push_back((number, answer));
    }

    /// Takes answers from the port; `false` if there are none in time.
    fn collect(&mut self, timeout_ms: u32) -> Result<bool> {
        let mut entries = [OVERLAPPED_ENTRY::default(); BATCH];
        let mut count = 0;
        // SAFETY: there is room for this number of answers.
        let outcome = unsafe {
            let (start, count) = (entries.as_mut_ptr(), &raw mut count);
            let port = self.port.as_raw_handle();
            GetQueuedCompletionStatusEx(port, start, BATCH as u32, count, timeout_ms, 0)
        };
        if outcome == 0 {
            let error = io::Error::last_os_error();
            if code(&error) == Some(WAIT_TIMEOUT) {
                return Ok(false);
            }
            return Err(Error::os("wait for reads at a completion port")(error));
        }
        for entry in &entries[..count as usize] {
            // The address is that of a read of this ring, within its slot.
            let distance = entry.lpOverlapped.addr() - self.slots.as_ptr().addr();
            let number = (distance / size_of::<Slot>()) as u16;
            self.pending -= 1;
            self.done.push_back((number, self.answer(number)));
        }
        Ok(true)
    }

    /// The answer to a read that has ended.
    fn answer(&self, number: u16) -> io::Result<usize> {
        let mut count = 0;
        // SAFETY: the read has ended; the call only reads its state.
        let outcome = unsafe {
            let overlapped = self.slots[usize::from(number)].overlapped.get();
            GetOverlappedResult(self.file.as_raw_handle(), overlapped, &raw mut count, 0)
        };
        if outcome == 0 {
            let error = io::Error::last_os_error();
            if code(&error) != Some(ERROR_HANDLE_EOF) {
                return Err(error);
            }
        }
        Ok(count as usize)
    }

    #[inline]
    fn buffer(&self, number: u16) -> *mut u8 {
        // SAFETY: the memory has a buffer for each slot.
        unsafe { self.start.add(usize::from(number) * self.block_bytes) }
    }

    #[inline]
    pub fn take(&mut self) -> Option<Completed<'_>> {
        let (number, count) = self.done.pop_front()?;
        self.free.push(number);
        let buffer = self.buffer(number);
        Some(Completed {
            offset: self.slots[usize::from(number)].offset,
            // SAFETY: the system wrote `count` bytes into this buffer and no longer uses it. The buffer is not
            // reused while the caller holds the slice.
            bytes: count.map(|count| unsafe { slice::from_raw_parts(buffer, count) }),
        })
    }
}

impl Drop for ReadRing<'_> {
    fn drop(&mut self) {
        if self.pending > 0 {
            // SAFETY: the handle is open. What has just ended is no longer there to cancel.
            unsafe { CancelIoEx(self.file.as_raw_handle(), ptr::null()) };
        }
        while self.pending > 0 {
            // The system writes into the buffers until each read has its answer. A port that fails would leave
            // them in use for good.
            if self.collect(INFINITE).is_err() {
                std::process::abort();
            }
        }
    }
}
