//! Progress of an operation on a file, and a flag to stop it.

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress of an operation, which another thread can read, and its stop flag.
#[derive(Debug, Default)]
pub struct Watch<'a> {
    stop: Option<&'a AtomicBool>,
    done_bytes: AtomicU64,
}

impl<'a> Watch<'a> {
    /// An operation that ends with [`Error::Stopped`] soon after `stop` is set.
    pub fn stopped_by(stop: &'a AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..Self::default()
        }
    }

    /// Bytes processed so far.
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
    }

    /// The stop flag; one that is never set if the operation has none.
    pub(crate) fn stop(&self) -> &AtomicBool {
        static NEVER: AtomicBool = AtomicBool::new(false);
        self.stop.unwrap_or(&NEVER)
    }

    /// Adds `bytes` to the progress.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the stop flag is set.
    #[inline]
    pub(crate) fn pass(&self, bytes: u64) -> Result<()> {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
