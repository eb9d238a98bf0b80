//! Starting and ending a group of workers.

mod builder;
mod in_place;
mod run;

pub use builder::RuntimeBuilder;
pub use in_place::InPlace;
pub use run::{Runtime, Statistics, statistics};

/// Runs `main` and all threads that it starts in a cooperative runtime of one worker, as
/// [`Runtime::run`] does.
///
/// ```
/// assert_eq!(uthread::run(|| 42), 42);
/// ```
pub fn run<T>(main: impl FnOnce() -> T) -> T {
    Runtime::builder()
        .build()
        .expect("a cooperative runtime asks for nothing")
        .run(main)
}
