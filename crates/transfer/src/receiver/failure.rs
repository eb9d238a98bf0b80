//! Reasons why a file is not kept.

use std::fmt;
use std::io;

/// The reason why a file is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    reason: String,
    needs_room: bool,
}

impl Failure {
    /// True if the device is full, or the user's share of it. The file may fit once others are gone.
    pub(super) fn needs_room(&self) -> bool {
        self.needs_room
    }

    /// Names the side on which the system refused.
    fn of_system(error: &dyn fmt::Display, kind: Option<io::ErrorKind>) -> Self {
        let needs_room = matches!(
            kind,
            Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        );
        Self {
            reason: format!("the receiver cannot store it: {error}"),
            needs_room,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self {
            reason,
            needs_room: false,
        }
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

impl From<&Failure> for Failure {
    fn from(failure: &Failure) -> Self {
        failure.clone()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::of_system(&error, Some(error.kind()))
    }
}

impl From<platform::Error> for Failure {
    fn from(error: platform::Error) -> Self {
        Self::of_system(&error, error.io_error().map(io::Error::kind))
    }
}
