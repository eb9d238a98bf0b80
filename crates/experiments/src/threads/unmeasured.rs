//! Where there are no user threads, stored results can be read all the same.

use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;

fn refuse(_: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
    Err(MeasureError::Unsupported(
        "user-level threads are there on Linux on x86-64 and aarch64 only".into(),
    ))
}

pub(super) use refuse as async_io;
pub(super) use refuse as create;
pub(super) use refuse as inversion;
pub(super) use refuse as io;
pub(super) use refuse as lock;
pub(super) use refuse as monitor;
pub(super) use refuse as switch;
