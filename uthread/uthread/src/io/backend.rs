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
    /// [`Kernel`](Self::Kernel), or [`Threads`](Self::Threads) if the system forbids it.
    #[default]
    Auto,
    /// Requests that the kernel answers later. On Linux that is `io_uring(7)`: without it, transfers are
    /// errors. On Windows a handle must have been opened for it (`FILE_FLAG_OVERLAPPED`); other handles,
    /// and [`fsync`](super::fsync) always, are served as by [`Threads`](Self::Threads).
    Kernel,
    /// Kernel threads that block in place of the caller.
    Threads,
}
