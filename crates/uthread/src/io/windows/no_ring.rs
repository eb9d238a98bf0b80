//! The ring that Windows does not have.

use core::time::Duration;
use std::io;

use crate::io::in_flight::Operation;
use crate::thread::Control;
use crate::worker::Event;

/// Nothing is of this type.
pub(crate) enum RingDriver {}

impl RingDriver {
    pub(crate) fn new() -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "io_uring is a part of Linux: choose Backend::Auto or Backend::Threads",
        ))
    }

    pub(crate) unsafe fn push(&mut self, _: &Operation) {
        match *self {}
    }

    pub(crate) fn cancel(&mut self, _: &Operation) {
        match *self {}
    }

    pub(crate) fn in_flight(&self) -> usize {
        match *self {}
    }

    pub(crate) fn attend(&mut self, _: impl FnMut(*const Control)) {
        match *self {}
    }

    pub(crate) fn wait(&mut self, _: Option<Duration>, _: Option<&Event>) {
        match *self {}
    }
}
