//! The group `threads`.

pub(crate) mod advice;
mod async_io;
pub(crate) mod claims;
mod create;
mod inversion;
mod io;
mod kind;
mod lock;
#[cfg(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    all(windows, target_arch = "x86_64")
))]
mod measure;
mod monitor;
mod slice;
mod switch;
mod two_locks;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &switch::Switch,
    &create::Create,
    &slice::Slice,
    &lock::Lock,
    &two_locks::TwoLocks,
    &inversion::Inversion,
    &monitor::Monitor,
    &io::Io,
    &async_io::AsyncIo,
];
