//! A measurement for which Windows lacks something.

use crate::prelude::*;
use crate::threads::lock::Lock;
use crate::threads::user_threads::UserThreads;

impl UserThreads for Lock {
    fn take(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported(
            "user threads are not preempted on Windows, so no thread loses its turn inside a lock"
                .into(),
        ))
    }
}
