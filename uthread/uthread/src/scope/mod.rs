//! Scopes: threads that do not outlive a function, and may borrow from it.

mod children;
mod enter;
mod handle;

pub use enter::{Scope, TimedOut, scope, scope_timeout};
pub use handle::ScopedJoinHandle;
