//! Preemption by the signal of a timer, and the handlers of Linux.

mod errno;
mod exceptions;
mod fork;
mod overflow;
mod prepare;
mod single_threaded;
mod text;
mod tick;
mod timer;
mod watch;

pub use errno::Errno;
pub use exceptions::Exceptions;
pub(crate) use fork::leave_to_parent;
pub(crate) use overflow::OverflowWatch;
pub(crate) use prepare::prepare;
pub(crate) use tick::TickSignal;
pub(crate) use timer::Ticker;
pub(crate) use watch::Watch;
