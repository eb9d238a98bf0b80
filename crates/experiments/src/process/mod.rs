//! The group `process`.

pub(crate) mod advice;
pub(crate) mod call_styles;
mod calls;
pub(crate) mod claims;
mod fork_size;
mod ipc;
mod placement;
mod poll;
mod scale;
mod switch;
mod wakeup;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &calls::Calls,
    &call_styles::CallStyles,
    &fork_size::ForkSize,
    &switch::Switch,
    &ipc::Ipc,
    &wakeup::Wakeup,
    &poll::Poll,
    &scale::Scale,
];
