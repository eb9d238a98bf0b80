//! Measurements for which Windows lacks something.

use crate::prelude::*;
use crate::threads::async_io::AsyncIo;
use crate::threads::io::Io;
use crate::threads::lock::Lock;
use crate::threads::user_threads::UserThreads;

const TICKS: &str =
    "user threads are not preempted on Windows, so no thread loses its turn inside a lock";
const RING: &str =
    "the asynchronous transfers that are compared are those of io_uring, a part of Linux";

/// Implements the measurement that tells what is lacking.
macro_rules! lacking {
    ($($experiment:ty: $reason:expr;)*) => {
        $(impl UserThreads for $experiment {
            fn take(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
                Err(MeasureError::Unsupported($reason.into()))
            }
        })*
    };
}

lacking! {
    Lock: TICKS;
    Io: RING;
    AsyncIo: RING;
}
