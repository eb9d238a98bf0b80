//! Waits until one of many files is ready to be read.

pub use crate::os::readiness::{Epoll, PollList, allow_descriptors, most_descriptors};
