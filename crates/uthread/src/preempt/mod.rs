//! Preempting a running thread, and the conditions that forbid it.

mod alloc;
mod exceptions;
mod guard;
mod overflow;
mod text;
mod tick;
mod timer;

pub use alloc::GuardedAlloc;
pub use exceptions::Exceptions;
pub use guard::{NoPreempt, no_preempt};
pub(crate) use overflow::AlternateStack;
pub(crate) use text::text_range;
pub(crate) use tick::{TickSignal, minimum_signal_stack, set_text};
pub(crate) use timer::Ticker;
