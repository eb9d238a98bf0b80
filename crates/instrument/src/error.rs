//! Why a point could not be measured.

use crate::point::WrongPoint;

/// Why a point could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The system does not offer what the point needs.
    #[error("{0}")]
    Unsupported(String),
    /// Something else in the system spoilt it, as when the kernel takes back what was to stay in the
    /// page cache. Another process may have better luck.
    #[error("{0}")]
    Disturbed(String),
    /// A call to the system failed.
    #[error("{action}: {source}")]
    System {
        /// What was tried, as in `read the scratch file`.
        action: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A question put to the operating system failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// The point does not belong to this version of the experiment.
    #[error(transparent)]
    WrongPoint(#[from] WrongPoint),
    /// The samples could not be handed on, since nobody reads them any more.
    #[error("the samples could not be handed on: {0}")]
    Output(std::io::Error),
}

impl MeasureError {
    /// Whether this system has not what the point needs, or not for this process, as opposed to its
    /// having gone wrong.
    pub fn is_lacking(&self) -> bool {
        match self {
            Self::Unsupported(_) => true,
            Self::System { source, .. } => platform::is_lacking(source),
            Self::Platform(error) => error.is_lacking(),
            _ => false,
        }
    }

    /// For `map_err`: names what was tried when the system refused. Where it did not, it costs nothing:
    /// it stands in what is timed.
    pub fn system<E: Into<std::io::Error>>(action: &str) -> impl FnOnce(E) -> Self {
        move |source| Self::System {
            action: action.to_owned(),
            source: source.into(),
        }
    }
}
