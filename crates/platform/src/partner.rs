//! A second process that takes part in a measurement.

pub use crate::os::partner::Partner;
