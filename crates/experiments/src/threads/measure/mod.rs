//! The measurements of the experiments, where there are user threads.

mod async_io;
mod create;
mod exclusive;
mod inversion;
mod io;
#[cfg(target_os = "linux")]
mod lock;
mod monitor;
mod slice;
mod switch;
mod two_locks;

use instrument::experiment::MeasureError;
use uthread::RuntimeBuilder;
use uthread_workload::WorkloadError;

/// The action in the error if a kernel thread cannot be started.
const START: &str = "start a kernel thread";

/// The error of a point whose workload could not be run.
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

#[cfg(windows)]
impl super::kind::UserThreads for super::lock::Lock {
    fn take(
        &self,
        _: &instrument::point::Point,
        _: &mut instrument::sampler::Sampler<'_>,
    ) -> Result<(), MeasureError> {
        Err(MeasureError::Unsupported(
            "user threads are not preempted on Windows, so no thread loses its turn inside a lock"
                .into(),
        ))
    }
}
