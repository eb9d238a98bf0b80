//! Threads that are not in the child of a fork.

/// The thread is in the parent of this process only: a child of a fork has no thread but the one that called fork.
///
/// ```
/// assert_eq!(uthread::Gone.to_string(), "the thread stayed in the parent of a fork");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread stayed in the parent of a fork")]
pub struct Gone;
