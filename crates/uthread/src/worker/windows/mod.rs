//! A worker's parts from Windows.

mod address;
mod event;
mod retries;

pub(crate) use address::{BYTES, address};
pub(crate) use event::Event;
pub(crate) use retries::Retries;
