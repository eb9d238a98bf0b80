//! The experiments that run user threads, and systems that have none.

use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;

/// An experiment that needs user threads for its measurement. Each implements it beside its
/// measurement, in `measure/`, so that stored results can be read on every system.
pub(super) trait UserThreads {
    /// Measures one point, as `Experiment::measure` does.
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError>;
}

#[cfg(not(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    all(windows, target_arch = "x86_64")
)))]
impl<E> UserThreads for E {
    fn take(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported(
            "user-level threads are available only on Linux on x86-64 and aarch64, and on Windows on x86-64".into(),
        ))
    }
}
