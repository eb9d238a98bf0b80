//! A worker's path to the kernel: requests that it answers later, or a pool of kernel threads.

use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::backend::Backend;
use super::in_flight::Operation;
use super::pool::ThreadDriver;
use super::system::KernelDriver;
use crate::thread::Control;
use crate::worker::{Event, Shared};

/// The kernel's own mechanism or a thread pool, with its requests in flight.
pub(crate) enum Driver {
    Kernel(Box<KernelDriver>),
    Threads(ThreadDriver),
}

impl Driver {
    pub(crate) fn new(shared: &Arc<Shared>, worker: usize) -> io::Result<Self> {
        let threads = || Self::Threads(ThreadDriver::new(Arc::clone(shared), worker));
        let kernel = || Ok(Self::Kernel(Box::new(KernelDriver::new(shared, worker)?)));
        match shared.config.backend {
            Backend::Threads => Ok(threads()),
            Backend::Kernel => kernel(),
            Backend::Auto => Ok(kernel().unwrap_or_else(|_| threads())),
        }
    }

    /// Leaves the kernel's part to the parent, in the child of a fork. Nothing may use or drop this afterwards.
    #[cfg(target_os = "linux")]
    pub(crate) fn leave_to_parent(&self) {
        match self {
            Self::Kernel(kernel) => kernel.leave_to_parent(),
            Self::Threads(_) => {}
        }
    }

    /// Accepts a request.
    ///
    /// # Safety
    /// `operation` must stay in place, and its buffer valid, until its thread is woken.
    pub(crate) unsafe fn push(&mut self, operation: &Operation) {
        // SAFETY: the caller's contract.
        unsafe {
            match self {
                Self::Kernel(kernel) => kernel.push(operation),
                Self::Threads(threads) => threads.push(operation),
            }
        }
    }

    /// Asks for the early end of a request in flight. `true` if it had not begun: then it is no longer
    /// in flight, and the caller must wake its thread. Otherwise the thread is woken at its end.
    pub(crate) fn cancel(&mut self, operation: &Operation) -> bool {
        match self {
            Self::Kernel(kernel) => kernel.cancel(operation),
            Self::Threads(threads) => threads.cancel(operation),
        }
    }

    /// Number of requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        match self {
            Self::Kernel(kernel) => kernel.in_flight(),
            Self::Threads(threads) => threads.in_flight,
        }
    }

    /// Reports the finished requests, and submits waiting ones in time. A worker without `ticks` stays watched: nothing
    /// else would make it look for the next finished request.
    pub(crate) fn attend(&mut self, ticks: bool, wake: impl FnMut(*const Control)) {
        match self {
            Self::Kernel(kernel) => kernel.attend(ticks, wake),
            Self::Threads(threads) => threads.attend(wake),
        }
    }

    /// Passes the event that is set when a request is done, while [`Driver::is_watched`] asks for it, if there is one.
    pub(crate) fn watch(&mut self, watch: impl FnOnce(&Event) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Kernel(kernel) => kernel.watch(watch),
            Self::Threads(_) => Ok(()),
        }
    }

    /// Submits the waiting requests.
    pub(crate) fn submit(&mut self) {
        match self {
            Self::Kernel(kernel) => kernel.submit_waiting(),
            Self::Threads(_) => {}
        }
    }

    /// True if the worker need not look for finished requests: at the next one it ticks, or its bell rings.
    pub(crate) fn is_watched(&mut self) -> bool {
        match self {
            Self::Kernel(kernel) => kernel.is_watched(),
            Self::Threads(threads) => threads.is_watched(),
        }
    }

    /// Waits until a request is done, the bell rings, or the timeout expires.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>, bell: &Event, exposed: bool) {
        match self {
            Self::Kernel(kernel) => kernel.wait(timeout, bell, exposed),
            Self::Threads(_) => bell.wait(timeout),
        }
    }
}
