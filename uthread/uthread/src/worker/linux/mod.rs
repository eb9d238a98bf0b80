//! A worker's parts from Linux.

mod address;
mod event;
mod fork;
mod retries;
mod tick;

pub(crate) use address::{BYTES, address};
pub(crate) use event::Event;
pub(crate) use fork::prepare_for_forks;
pub(crate) use retries::Retries;
