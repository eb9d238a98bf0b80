//! What the threads did and when: recorded in rings of fixed size, and shown.

mod chrome;
mod recorder;
mod timeline;

pub(crate) use recorder::Recorder;
pub use recorder::{Event, Kind, Trace};
