//! The stack of the calling thread.

face! {
    os::stack;

    /// Stack space left below the calling thread's current frame, in bytes; `None` if the system does
    /// not report it.
    pub fn left_bytes() -> Option<u64> = None;
}
