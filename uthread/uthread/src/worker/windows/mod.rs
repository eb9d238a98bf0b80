//! A worker's parts from Windows.

use std::io;

mod address;
mod event;
mod retries;

pub(crate) use address::{BYTES, address};
pub(crate) use event::Event;
pub(crate) use retries::Retries;

/// Windows has no forks.
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub(crate) fn prepare_for_forks() -> io::Result<()> {
    Ok(())
}
