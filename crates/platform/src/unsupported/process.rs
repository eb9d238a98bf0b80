use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::process::{Finished, WorkerError, WorkerOptions};
use crate::program::Ran;

pub(crate) fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

pub(crate) fn run(
    _command: &mut Command,
    _interrupted: &AtomicBool,
) -> std::io::Result<Option<Ran>> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[derive(Debug)]
pub(crate) enum Twin {}

impl Twin {
    pub(crate) fn fork() -> crate::Result<Self> {
        super::refuse("a copy of this process")
    }
}

#[derive(Debug)]
pub(crate) enum Worker {}

impl Worker {
    pub(crate) fn spawn(
        _command: Command,
        _options: &WorkerOptions<'_>,
    ) -> Result<Self, WorkerError> {
        let what = "a worker process";
        Err(Error::NotSupported { what }.into())
    }

    pub(crate) fn id(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn send(&mut self, _: &[u8], _: u64, _: &AtomicBool) -> Result<(), WorkerError> {
        match *self {}
    }

    pub(crate) fn read_line_until(
        &mut self,
        _: u64,
        _: &AtomicBool,
    ) -> Result<Option<String>, WorkerError> {
        match *self {}
    }

    pub(crate) fn wait(&mut self, _: u64, _: &AtomicBool) -> Result<Finished, WorkerError> {
        match *self {}
    }

    pub(crate) fn kill(&mut self) -> Result<Finished, WorkerError> {
        match *self {}
    }

    pub(crate) fn stderr_tail(&self) -> String {
        match *self {}
    }
}
