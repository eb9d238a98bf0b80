//! The runner: carries out a plan, point by point in random rounds, until each is known well enough.

mod event;
mod executor;
mod pilot;
mod rounds;
mod worker;

pub use event::{Ending, Event, Observer, ObserverError, Progress};
pub use executor::{BatchError, Executor, Request};
pub use rounds::{Outcome, Runner};
pub use worker::{Swap, WorkerExecutor, serve};
