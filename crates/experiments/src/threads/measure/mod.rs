//! How the experiments are measured, where there are user threads.

mod async_io;
mod create;
mod inversion;
mod io;
mod lock;
mod monitor;
mod switch;

pub(super) use async_io::async_io;
pub(super) use create::create;
pub(super) use inversion::inversion;
pub(super) use io::io;
pub(super) use lock::lock;
pub(super) use monitor::monitor;
pub(super) use switch::switch;

use instrument::experiment::MeasureError;
use platform::placement::{parent_cpus, pin_to};
use uthread::RuntimeBuilder;
use uthread::workload::WorkloadError;

/// What was tried, where a kernel thread cannot be had.
const START: &str = "start a kernel thread";

/// Lets this process use all processors that the program may, and tells how many they are.
fn all_processors() -> Result<usize, MeasureError> {
    let cpus = parent_cpus()?;
    pin_to(&cpus)?;
    Ok(cpus.len())
}

/// What a workload that could not be run means for its point.
fn refused(error: WorkloadError) -> MeasureError {
    match error {
        WorkloadError::Build(error) => MeasureError::Unsupported(error.to_string()),
        WorkloadError::Start(error) => MeasureError::system("start threads")(error),
    }
}

/// Runs `main` in a cooperative runtime; the outer error is that there is none.
fn run<T>(builder: RuntimeBuilder, main: impl FnOnce() -> T) -> Result<T, MeasureError> {
    let runtime = builder.build().map_err(|error| refused(error.into()))?;
    let start = MeasureError::system("start a runtime");
    runtime.try_run(main).map_err(start)
}

/// The refusal of a point that another version may know.
fn unknown(what: &str, name: &str) -> MeasureError {
    MeasureError::Unsupported(format!("there is no {what} '{name}'"))
}
