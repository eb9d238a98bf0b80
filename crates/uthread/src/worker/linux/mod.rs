//! A worker's parts from Linux.

mod address;
mod event;
mod retries;
mod tick;

pub(crate) use address::{BYTES, address};
pub(crate) use event::Event;
pub(crate) use retries::Retries;
