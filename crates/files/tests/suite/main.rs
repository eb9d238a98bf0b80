//! Reading, writing and copying of files by each method.

mod agreement;
mod faults;
mod holes;

use choice::Choice;
use oscope_files::Error;
use oscope_files::copy::CopyMethod;

/// Every way of copying; `None` is the best.
fn ways() -> impl Iterator<Item = Option<CopyMethod>> {
    std::iter::once(None).chain(CopyMethod::ALL.iter().copied().map(Some))
}

/// The result of a method; `None` if this system has no such method.
fn if_there<T>(result: Result<T, Error>) -> Option<T> {
    if let Err(error) = &result {
        assert!(is_missing(error), "{error}");
    }
    result.ok()
}

/// True if the error only says that this system does not have the method, which is printed.
fn is_missing(error: &Error) -> bool {
    let is_missing = error.refusal().is_some_and(|reason| {
        reason.is_not_supported() || matches!(reason, platform::Error::NotPermitted { .. })
    });
    if is_missing {
        println!("skipped: {error}");
    }
    is_missing
}
