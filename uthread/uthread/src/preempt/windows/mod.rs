//! Windows preempts no user threads; it reports their overflows.

mod absent;
mod overflow;

pub use absent::{Errno, Exceptions};
pub(crate) use absent::{TickSignal, Ticker, Watch, prepare};
pub(crate) use overflow::OverflowWatch;
