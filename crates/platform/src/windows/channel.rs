//! Windows has neither Unix sockets as files nor a counter to wait for.

use std::fs::File;

use crate::Result;
use crate::error::refuse;

pub fn unix_socket_pair() -> Result<(File, File)> {
    refuse("a pair of sockets")
}

pub fn event_counter() -> Result<File> {
    refuse("a counter to wait for")
}
