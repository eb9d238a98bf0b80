//! The wake-up of a thread that waits for several things.

use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::Choice;
#[cfg(target_os = "linux")]
use super::descriptors::Descriptors;
use crate::sync::{Notice, Semaphore};

pub(super) struct Signal {
    came: Arc<Semaphore>,
    /// They wake the thread, if there are any, also for channels.
    #[cfg(target_os = "linux")]
    descriptors: Option<Descriptors>,
}

impl Signal {
    #[cfg_attr(
        windows,
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            reason = "only Linux has descriptors"
        )
    )]
    pub(super) fn new(choices: &[Choice<'_>]) -> io::Result<Self> {
        Ok(Self {
            came: Arc::new(Semaphore::new(0)),
            #[cfg(target_os = "linux")]
            descriptors: Descriptors::of(choices)?,
        })
    }

    /// Wakes the thread, or keeps it from the next wait.
    pub(super) fn notice(&self) -> Notice {
        #[cfg(target_os = "linux")]
        if let Some(descriptors) = &self.descriptors {
            return descriptors.notice();
        }
        let came = Arc::clone(&self.came);
        Arc::new(move || came.add(1))
    }

    /// The numbers of the descriptors that are ready.
    pub(super) fn ready(&self) -> Vec<usize> {
        #[cfg(target_os = "linux")]
        if let Some(descriptors) = &self.descriptors {
            return descriptors.ready();
        }
        Vec::new()
    }

    /// Waits until a notice was called, a descriptor is ready, or the time is up.
    pub(super) fn wait(&mut self, operation: &str, limit: Option<Duration>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(descriptors) = &mut self.descriptors {
            return descriptors.wait(operation, limit);
        }
        self.came.acquire_within(operation, limit);
        Ok(())
    }
}
