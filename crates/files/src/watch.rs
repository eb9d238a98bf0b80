//! Looking on while a file is worked through, and stopping it.

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far the work is, for whoever looks on from another thread, and whether it shall stop.
#[derive(Debug, Default)]
pub struct Watch<'a> {
    stop: Option<&'a AtomicBool>,
    done_bytes: AtomicU64,
}

impl<'a> Watch<'a> {
    /// Work that ends with [`Error::Stopped`] soon after `stop` is set.
    pub fn stopped_by(stop: &'a AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..Self::default()
        }
    }

    /// Bytes that are done.
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
    }

    /// True if somebody can stop the work.
    pub(crate) fn can_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// Notes that so many more bytes are done.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the work shall stop.
    #[inline]
    pub(crate) fn pass(&self, bytes: u64) -> Result<()> {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
