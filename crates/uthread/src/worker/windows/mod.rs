//! A worker's parts from Windows.

mod address;
mod event;

pub(crate) use address::{BYTES, address};
pub(crate) use event::Event;
