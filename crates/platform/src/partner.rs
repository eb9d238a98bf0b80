//! A second process that takes part in a measurement.

use crate::{Result, os};

/// A copy of this process, on a CPU of its own, that runs one function. It is killed when this
/// value is dropped, and when the thread that started it exits, so that it never outlives its
/// parent.
#[derive(Debug)]
pub struct Partner(
    #[allow(dead_code, reason = "it is held until it is dropped")] os::partner::Partner,
);

face! {
    os::partner;

    impl Partner {
        /// Copies this process; the copy runs `body` on `cpu` and exits. Returns when the copy exists
        /// and is pinned.
        ///
        /// The body should run until it is killed or has no more work. It shares this process's
        /// standard output.
        ///
        /// # Errors
        /// If no process can be created, it cannot be pinned, or this process has several threads: a
        /// copy has only the calling thread, and locks held by other threads would never be released.
        pub fn start(cpu: usize, body: impl FnOnce()) -> Result<Self>
            = refuse("a partner process");
    }
}
