//! A worker's parts from Linux.

mod address;
mod event;
mod tick;

pub(crate) use address::{BYTES, address};
pub(crate) use event::Event;
