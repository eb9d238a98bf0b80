//! Channels between threads and processes that the standard library lacks, as files to read from
//! and write to.

pub use crate::os::channel::{event_counter, unix_socket_pair};
