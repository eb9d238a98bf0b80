//! The choice of a mechanism.

/// Mechanism for transfers that would block.
///
/// ```
/// use uthread::Runtime;
/// use uthread::io::Backend;
///
/// let runtime = Runtime::builder().io(Backend::Threads).build().unwrap();
/// assert_eq!(runtime.io(), Backend::Threads);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// `io_uring(7)`, or kernel threads if the system forbids it or is not Linux.
    #[default]
    Auto,
    /// `io_uring(7)`. Without it, transfers are errors.
    Ring,
    /// Kernel threads that block in place of the caller.
    Threads,
}
