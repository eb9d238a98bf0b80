//! The timer and the signal that Windows does not have: nothing there runs a function in the middle of another
//! kernel thread's computation.

use std::io;

use crate::build_error::BuildError;
use crate::worker::{Event, Running};

/// Refuses, so that no runtime asks for the rest.
pub(crate) fn prepare(_: Option<usize>) -> Result<usize, BuildError> {
    Err(BuildError::NoPreemption)
}

/// Nothing is of this type.
#[derive(Debug)]
pub(crate) enum TickSignal {}

impl TickSignal {
    pub(crate) fn receive() -> io::Result<Self> {
        Err(absent())
    }
}

/// Nothing is of this type.
#[derive(Debug)]
pub(crate) enum Ticker {}

impl Ticker {
    /// # Safety
    /// None.
    pub(crate) unsafe fn new(_: *const Running, _: u64, _: bool) -> io::Result<Self> {
        Err(absent())
    }

    pub(crate) fn arm(&self) {
        match *self {}
    }

    pub(crate) fn arm_first(&self, _: u64) {
        match *self {}
    }

    pub(crate) fn tick_now(&self) {
        match *self {}
    }

    pub(crate) fn disarm(&self) {
        match *self {}
    }

    pub(crate) fn remove(&self) {
        match *self {}
    }
}

/// Nothing is of this type.
#[derive(Debug)]
pub(crate) enum Watch {}

impl Watch {
    pub(crate) fn new(_: &Event, ticker: &Ticker) -> io::Result<Self> {
        match *ticker {}
    }
}

fn absent() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, BuildError::NoPreemption)
}

/// Exceptions of C++, which no thread takes along here: only one that a tick interrupts would have to.
#[derive(Debug)]
pub struct Exceptions;

impl Exceptions {
    /// Does nothing.
    pub fn put_aside() -> Self {
        Self
    }
}

/// The error number of C, which no tick disturbs here.
#[derive(Debug)]
pub struct Errno;

impl Errno {
    /// Does nothing.
    pub fn keep() -> Self {
        Self
    }

    /// Does nothing.
    pub fn clear() {}
}
