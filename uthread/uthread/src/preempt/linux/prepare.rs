//! Getting ready for ticks.

use super::single_threaded;
use super::text::text_range;
use super::tick::{TickSignal, minimum_signal_stack, set_text};
use super::timer::Ticker;
use crate::build_error::BuildError;

/// Tries all that ticks need, so that it cannot fail later. Returns the largest frame of a tick in bytes.
pub(crate) fn prepare(address: Option<usize>) -> Result<usize, BuildError> {
    // SAFETY: the call only looks up a name.
    let malloc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    let text = text_range(address);
    // A program that is linked statically has no names to look up.
    let text = text.filter(|text| !malloc.is_null() && !text.contains(&malloc.addr()));
    let Some(text) = text.filter(|_| !cfg!(target_feature = "crt-static")) else {
        return Err(BuildError::StaticLibrary);
    };
    set_text(text);
    single_threaded::end().map_err(BuildError::Timer)?;
    TickSignal::receive().map_err(BuildError::Timer)?;
    // SAFETY: a timer that is never armed reads nothing.
    unsafe { Ticker::new(core::ptr::null(), 0, false) }.map_err(BuildError::Timer)?;
    Ok(minimum_signal_stack())
}
