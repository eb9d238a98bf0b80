//! Runtimes of user threads, and what their errors mean for a point.

use instrument::experiment::MeasureError;
use uthread::RuntimeBuilder;
use uthread_workload::WorkloadError;

/// The action in the error if a kernel thread cannot be started.
pub(super) const START: &str = "start a kernel thread";

/// The error of a point whose workload could not be run.
pub(super) fn refused(error: WorkloadError) -> MeasureError {
    match error {
        WorkloadError::Build(error) => MeasureError::Unsupported(error.to_string()),
        WorkloadError::Start(error) => MeasureError::system("start threads")(error),
    }
}

/// Runs `main` in a cooperative runtime; the outer error is that there is none.
pub(super) fn run<T>(builder: RuntimeBuilder, main: impl FnOnce() -> T) -> Result<T, MeasureError> {
    let runtime = builder.build().map_err(|error| refused(error.into()))?;
    let start = MeasureError::system("start a runtime");
    runtime.try_run(main).map_err(start)
}
