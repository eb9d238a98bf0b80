//! Thread events with timestamps, recorded in fixed-size ring buffers, and their display.

mod chrome;
mod recorder;
mod timeline;

pub(crate) use recorder::Recorder;
pub use recorder::{Event, Kind, Trace};
