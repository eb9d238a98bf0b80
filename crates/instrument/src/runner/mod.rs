//! The runner: carries out a plan, point by point in random rounds, until each is known well enough.

mod event;
mod executor;
mod limited;
mod open;
mod pilot;
mod rounds;
mod run;
mod spare;
mod surroundings;
mod worker;

pub use event::{Ending, Event, Observer, ObserverError, Progress};
pub use executor::{BatchError, Executor, Request};
pub use limited::LimitedExecutor;
pub use run::{Outcome, Runner};
pub use surroundings::Surroundings;
pub use worker::{Swap, WorkerExecutor, serve};
