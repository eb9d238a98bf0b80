//! Overlapped transfers, whose ends the system reports by a completion routine on the worker itself.
//!
//! A completion port would do the same for one handle, but a handle belongs to one port for its whole life:
//! a library that takes any handle must leave that choice to the handle's owner. A completion routine
//! belongs to a single request.

use core::cell::{Cell, RefCell, UnsafeCell};
use core::ptr;
use core::time::Duration;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{ReadFileEx, WriteFileEx};
use windows_sys::Win32::System::IO::{CancelIoEx, OVERLAPPED};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, WaitForSingleObjectEx};

use super::request::{MOST_BYTES, RawFile, Request, is_overlapped, positioned};
use crate::io::in_flight::Operation;
use crate::io::pool::ThreadDriver;
use crate::thread::Control;
use crate::worker::{Event, Shared};

/// Completion routines run only where a worker lets them, which takes a system call: after this many thread
/// switches, or when no other thread is ready.
const PATIENCE: u32 = 16;

/// The requests that the system has finished.
type Finished = RefCell<Vec<*const Operation>>;

/// The system's part of a request.
pub(crate) struct InFlight {
    overlapped: UnsafeCell<OVERLAPPED>,
    /// The list that it joins at its end; null for a request that helper threads serve.
    finished: Cell<*const Finished>,
}

impl InFlight {
    pub(crate) fn new() -> Self {
        Self {
            overlapped: UnsafeCell::default(),
            finished: Cell::new(ptr::null()),
        }
    }
}

/// The overlapped transfers of one worker, and helper threads for what cannot be overlapped.
pub(crate) struct KernelDriver {
    /// Completion routines write to it while the driver is borrowed.
    finished: Rc<Finished>,
    overlapped: usize,
    waited: u32,
    threads: ThreadDriver,
    /// The files of requests that helper threads serve, each with the thread that waits for it. While such a request
    /// is under way, even a question about its file waits for it.
    at_helpers: Vec<(*const Control, RawFile)>,
}

impl KernelDriver {
    #[expect(clippy::unnecessary_wraps, reason = "other systems may refuse")]
    pub(crate) fn new(shared: &Arc<Shared>, worker: usize) -> io::Result<Self> {
        Ok(Self {
            finished: Rc::default(),
            overlapped: 0,
            waited: 0,
            threads: ThreadDriver::new(Arc::clone(shared), worker),
            at_helpers: Vec::new(),
        })
    }

    /// # Safety
    /// Same as [`Driver::push`](crate::io::Driver::push).
    pub(crate) unsafe fn push(&mut self, operation: &Operation) {
        let file = operation.request.file();
        let is_at_helpers = self.at_helpers.iter().any(|(_, busy)| *busy == file);
        // SAFETY: the caller's contract.
        unsafe {
            if !is_at_helpers && self.begin(operation) {
                self.overlapped += 1;
            } else {
                // If the request has an error, a helper thread finds it again.
                operation.kernel.finished.set(ptr::null());
                self.at_helpers.push((operation.thread, file));
                self.threads.push(operation);
            }
        }
    }

    /// Starts an overlapped transfer; `false` if the system has not accepted it.
    ///
    /// # Safety
    /// Same as [`Driver::push`](crate::io::Driver::push).
    unsafe fn begin(&self, operation: &Operation) -> bool {
        let begin = |file: HANDLE, offset: u64| {
            is_overlapped(file).then(|| {
                let mut overlapped = positioned(offset);
                // The system leaves this field of a request with a completion routine to the program.
                overlapped.hEvent = ptr::from_ref(operation).cast_mut().cast();
                let place = operation.kernel.overlapped.get();
                // SAFETY: the system does not use it yet.
                unsafe { place.write(overlapped) };
                operation.kernel.finished.set(Rc::as_ptr(&self.finished));
                place
            })
        };
        // SAFETY: the caller's contract; the request stays in place until its routine has run.
        let accepted = unsafe {
            match operation.request {
                Request::Read {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => begin(file, offset).map(|place| {
                    let bytes = bytes.min(MOST_BYTES) as u32;
                    ReadFileEx(file, buffer, bytes, place, Some(finish))
                }),
                Request::Write {
                    file,
                    buffer,
                    bytes,
                    offset,
                } => begin(file, offset).map(|place| {
                    let bytes = bytes.min(MOST_BYTES) as u32;
                    WriteFileEx(file, buffer, bytes, place, Some(finish))
                }),
                Request::Sync { .. } => None,
            }
        };
        accepted.is_some_and(|accepted| accepted != 0)
    }

    /// Asks the system to end a request early. Its routine then runs soon.
    pub(crate) fn cancel(&mut self, operation: &Operation) -> bool {
        if operation.kernel.finished.get().is_null() {
            let was_waiting = self.threads.cancel(operation);
            if was_waiting {
                self.at_helpers
                    .retain(|(thread, _)| *thread != operation.thread);
            }
            return was_waiting;
        }
        if let Request::Read { file, .. } | Request::Write { file, .. } = operation.request {
            // SAFETY: the handle is open while the request is in flight. If the request has just ended,
            // the call finds nothing.
            unsafe { CancelIoEx(file, operation.kernel.overlapped.get()) };
        }
        false
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.overlapped + self.threads.in_flight
    }

    /// Refuses: there are no ticks.
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn watch(&mut self, _: impl FnOnce(&Event) -> io::Result<()>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing: no request waits.
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn submit_waiting(&mut self) {}

    pub(crate) fn is_watched(&mut self) -> bool {
        self.in_flight() == 0
    }

    pub(crate) fn attend(&mut self, _ticks: bool, mut wake: impl FnMut(*const Control)) {
        self.threads.attend(|thread| {
            self.at_helpers.retain(|(waiting, _)| *waiting != thread);
            wake(thread);
        });
        if self.overlapped == 0 {
            return;
        }
        self.waited += 1;
        if self.waited >= PATIENCE {
            self.waited = 0;
            // SAFETY: the handle is that of this process, whose end nobody sees here: the call returns at
            // once, after the routines that are due.
            unsafe { WaitForSingleObjectEx(GetCurrentProcess(), 0, 1) };
        }
        for operation in self.finished.take() {
            self.overlapped -= 1;
            // SAFETY: a finished operation stays in place until its thread is woken.
            wake(unsafe { &*operation }.thread);
        }
    }

    pub(crate) fn wait(&mut self, timeout: Option<Duration>, bell: &Event, _exposed: bool) {
        self.waited = 0;
        if self.overlapped == 0 {
            bell.wait(timeout);
        } else if self.finished.borrow().is_empty() {
            bell.wait_for_routines_too(timeout);
        }
    }
}

/// Puts down the answer to a request. The system calls it on the worker that made the request, in a wait that
/// lets it.
unsafe extern "system" fn finish(error: u32, bytes: u32, overlapped: *mut OVERLAPPED) {
    // SAFETY: the field has the address of the request, which stays in place until its thread is woken. The
    // list belongs to the driver of this worker, which outlives its requests.
    unsafe {
        let operation = (*overlapped).hEvent.cast::<Operation>().cast_const();
        (*operation).result.set(match error {
            0 | ERROR_HANDLE_EOF => bytes.cast_signed(),
            error => -error.cast_signed(),
        });
        (*(*operation).kernel.finished.get())
            .borrow_mut()
            .push(operation);
    }
}
