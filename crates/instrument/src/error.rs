//! Reasons why a point could not be measured.

use crate::point::WrongPoint;

/// Reason why a point could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The system does not offer what the point needs.
    #[error("{0}")]
    Unsupported(String),
    /// Other activity in the system spoilt the attempt, for example by evicting pages that had to
    /// stay in the page cache. A retry in another process may succeed.
    #[error("{0}")]
    Disturbed(String),
    /// A system call failed.
    #[error("{action}: {source}")]
    System {
        /// The action that failed, as in `read the scratch file`.
        action: String,
        /// The error from the system.
        source: std::io::Error,
    },
    /// A query to the operating system failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// The point does not belong to this version of the experiment.
    #[error(transparent)]
    WrongPoint(#[from] WrongPoint),
}

impl MeasureError {
    /// True if the point needs what this system or this process does not have. False if something failed
    /// that should have worked.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Unsupported(_) => true,
            Self::System { source, .. } => platform::is_unavailable(source),
            Self::Platform(error) => error.is_unavailable(),
            _ => false,
        }
    }

    /// For `map_err`: adds the failed action to a system error. The success path costs nothing, so
    /// timed code may use it.
    pub fn system<E: Into<std::io::Error>>(action: &str) -> impl FnOnce(E) -> Self {
        move |source| Self::System {
            action: action.to_owned(),
            source: source.into(),
        }
    }
}
