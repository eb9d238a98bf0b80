//! Errors of system calls and queries.

use std::io;
use std::path::{Path, PathBuf};

/// The system refused a query or an operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This system, kernel or file system does not support an operation: the subject of a sentence.
    #[error("{0} is not supported here")]
    NotSupported(&'static str),
    /// The process does not have a right.
    #[error("{what} needs {needs}")]
    NotPermitted {
        /// The refused operation, as the subject of a sentence.
        what: &'static str,
        /// The missing right, in words.
        needs: &'static str,
    },
    /// The memory cannot be backed by huge pages.
    #[error("no huge pages: {reason}")]
    NoHugePages {
        /// The reason, and the setting that controls it.
        reason: String,
    },
    /// A path that only this user should control may be under another user's control.
    #[error("{} is not to be trusted: {what}", path.display())]
    Planted {
        /// The path.
        path: PathBuf,
        /// The reason, as a sentence.
        what: &'static str,
    },
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    Os {
        /// The failed action, as a verb.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A system call on a path failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Path {
        /// The failed action, as a verb.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// True if the system refused because the function, the right or the resources are missing.
pub fn is_unavailable(refusal: &io::Error) -> bool {
    matches!(
        refusal.kind(),
        io::ErrorKind::Unsupported
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::OutOfMemory
            | io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
    )
}

/// The system's error, for callers that use [`io::Error`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Os { source, .. } | Error::Path { source, .. } => source,
            other => Self::other(other),
        }
    }
}

impl Error {
    /// True if the function does not exist here, as opposed to having failed.
    pub fn is_not_supported(&self) -> bool {
        matches!(self, Self::NotSupported { .. })
    }

    /// True if this system does not have the function, or denies it to this process, as opposed to a
    /// failure.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Os { source, .. } | Self::Path { source, .. } => is_unavailable(source),
            _ => true,
        }
    }

    /// The system's error, if the system refused.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Os { source, .. } | Self::Path { source, .. } => Some(source),
            _ => None,
        }
    }

    /// The kind of the system's error, if the system refused.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        self.io_error().map(io::Error::kind)
    }

    pub(crate) fn os<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Os {
            action,
            source: source.into(),
        }
    }

    pub(crate) fn path<E: Into<io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Path {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

/// What another system has and this one does not. A function or method gives a fixed answer. A type cannot be made:
/// its constructor refuses, so there is no value to call a method of.
macro_rules! absent {
    ($(fn $name:ident(&self $(, $argument:ty)*) -> $result:ty = $answer:expr;)+) => {
        $(pub fn $name(&self $(, _: $argument)*) -> $result {
            $answer
        })+
    };
    ($(fn $name:ident($($argument:ty),*) -> $result:ty = $answer:expr;)+) => {
        $(#[allow(clippy::unnecessary_wraps, reason = "other systems can fail")]
        pub fn $name($(_: $argument),*) -> $result {
            $answer
        })+
    };
    ($(
        $(#[$of_type:meta])*
        enum $name:ident = $refusal:expr => {
            $(#[$of_new:meta])*
            fn $new:ident($($argument:ty),*) -> $result:ty;
            $($(#[$of_method:meta])* fn $method:ident(&$($parameters:tt)*) -> $output:ty;)*
        }
    )+) => {
        $(
            $(#[$of_type])*
            #[derive(Debug)]
            pub enum $name {}

            impl $name {
                $(#[$of_new])*
                pub fn $new($(_: $argument),*) -> $result {
                    $refusal
                }

                $($crate::error::absent! {
                    @ $(#[$of_method])* $method($($parameters)*) -> $output
                })*
            }
        )+
    };
    (@ $(#[$of_method:meta])* $method:ident(mut self $(, $argument:ty)*) -> $output:ty) => {
        $(#[$of_method])*
        pub fn $method(&mut self $(, _: $argument)*) -> $output {
            match *self {}
        }
    };
    (@ $(#[$of_method:meta])* $method:ident(self $(, $argument:ty)*) -> $output:ty) => {
        $(#[$of_method])*
        pub fn $method(&self $(, _: $argument)*) -> $output {
            match *self {}
        }
    };
}

pub(crate) use absent;

/// For tests: what this system has and allows; else `None`, with the reason printed.
#[cfg(test)]
pub(crate) fn available<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Ok(found) => Some(found),
        Err(error @ (Error::NotSupported(_) | Error::NotPermitted { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The answer of a system without `what`.
pub(crate) fn refuse<T, E: From<Error>>(what: &'static str) -> std::result::Result<T, E> {
    Err(Error::NotSupported(what).into())
}
